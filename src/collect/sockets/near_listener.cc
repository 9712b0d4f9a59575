// SPDX-License-Identifier: MIT
// See near_listener.h. References: unix(7), SO_PEERCRED; network_namespaces(7); setns(2).
#include "collect/sockets/near_listener.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file.h"
#include "base/in_proc.h"
#include "base/proc_status.h"
#include "base/socket_address.h"
#include "collect/sockets/socket_message.h"

namespace penna {
namespace {

std::string abstract_name(const std::string& socket_path, pid_t pid) { return fmt::format("{}+{}", socket_path, pid); }

// Whether both paths lead to the same file; false also if one cannot be examined.
bool is_same(const std::string& one, const std::string& other) {
  struct stat first = {}, second = {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool shares_namespace(pid_t pid, const char* kind) {
  return is_same(fmt::format("/proc/self/ns/{}", kind), in_proc(pid, fmt::format("ns/{}", kind)));
}

// Its effective user, as we name it; -1: unknown.
long user_of(pid_t pid) {
  long real = -1, effective = -1;
  return std::sscanf(read_status_value(in_proc(pid, ""), "Uid").c_str(), "%ld %ld", &real, &effective) == 2 ? effective
                                                                                                            : -1;
}

bool is_needed(const std::string& socket_path, pid_t pid) {
  const bool shares_users = shares_namespace(pid, "user");
  if (shares_users && shares_namespace(pid, "net")) return false;
  return user_of(pid) != static_cast<long>(::geteuid()) || !is_same(socket_path, in_proc(pid, "root") + socket_path);
}

// In the child, a copy of one thread of ours: system calls only. Ends with 0 if `pair` has got the socket.
[[noreturn]] void listen_there(int pair, int network, int users, long user, const SocketAddress& address) {
  // Root of the machine joins the network directly; others may once they are root of the container.
  const bool is_root = ::geteuid() == 0;
  const auto joins = [&] { return ::setns(network, CLONE_NEWNET) == 0; };
  if (!joins() && (::setns(users, CLONE_NEWUSER) != 0 || !joins())) ::_exit(1);
  if (is_root) (void)::syscall(SYS_setresuid, -1, user, -1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (address.bind(listener) != 0 || ::listen(listener, SOMAXCONN) != 0) ::_exit(1);
  ::_exit(send_with_descriptors(pair, "", 1, {listener}) ? 0 : 1);
}

}  // namespace

Fd listen_near(const std::string& socket_path, pid_t pid) {
  const auto address = SocketAddress::of_name(abstract_name(socket_path, pid));
  if (!address || !is_needed(socket_path, pid)) return {};
  const Fd network(::open(in_proc(pid, "ns/net").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd users(::open(in_proc(pid, "ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  const long user = user_of(pid);
  int ends[2];
  if (!network || !users || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const Fd ours(ends[0]);
  Fd its(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) listen_there(its.get(), network.get(), users.get(), user, address);
  if (child < 0) return {};
  its.reset();
  Fd listener = receive_descriptor(ours);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return listener;
}

std::string name_near(const std::string& socket_path, pid_t pid) {
  const std::string name = abstract_name(socket_path, pid);
  const auto sockets = read_file(in_proc(pid, "net/unix"));
  return sockets && sockets->find(fmt::format(" @{}\n", name)) != std::string::npos ? name : socket_path;
}

std::string path_of_name(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string::npos && name[end] == '+' ? name.substr(0, end) : name;
}

}  // namespace penna
