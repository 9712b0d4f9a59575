// SPDX-License-Identifier: MIT
// See surgeon.h.
#include "reach/inject/surgeon.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>

#include "base/file.h"
#include "base/readable.h"

namespace penna {
namespace {

constexpr char kEnd = 0;
constexpr size_t kMostText = 4096;

pid_t g_recorder;  // in a surgeon: who started it

ssize_t receive_from(int socket, void* to, size_t bytes) {
  ssize_t got;
  do got = ::recv(socket, to, bytes, 0);
  while (got < 0 && errno == EINTR);
  return got;
}

// While it stops a process it must not wait for the collector to use up its time slice, which is 3 ms. A task that
// requests shorter slices is scheduled sooner (Linux 6.12; older kernels accept it and change nothing).
void ask_for_short_turns() {
  struct {  // struct sched_attr of sched_setattr(2), version 0
    uint32_t size = 48, policy = 0;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 100'000, deadline = 0, period = 0;  // ns
  } attributes;
  static_assert(sizeof attributes == 48);
  attributes.nice = ::getpriority(PRIO_PROCESS, 0);
  (void)::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// Closes inherited descriptors: no other process must wait for the surgeon to close its end.
[[noreturn]] void live(int socket, const Surgeon::Work& work) {
  // In a separate session: signals from a terminal to its foreground group must not reach it.
  ::setsid();
  ::prctl(PR_SET_NAME, "penna-surgeon");
  ask_for_short_turns();
  if (socket > 0) ::close_range(0, static_cast<unsigned>(socket) - 1, 0);
  ::close_range(static_cast<unsigned>(socket) + 1, UINT_MAX, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  const auto wait = [&] {
    if (work.while_idle) work.while_idle(socket);
    return true;
  };
  Surgeon::Order order;
  while (wait() && receive_from(socket, &order, sizeof order) == sizeof order && order.what != kEnd) {
    Surgeon::say(socket, work.carry_out(order));
    order.what = 1;
  }
  if (order.what != kEnd) work.orphaned();
  ::_exit(0);
}

}  // namespace

Result<Surgeon> Surgeon::start(Work work) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{fmt::format("cannot make a pair of sockets: {}", errno_text(errno))};
  Fd ours(ends[0]), its(ends[1]);
  const pid_t recorder = ::getpid(), pid = ::fork();
  if (pid < 0) return Error{fmt::format("cannot start a process: {}", errno_text(errno))};
  if (pid == 0) {
    g_recorder = recorder;
    live(its.get(), work);
  }
  return Surgeon(pid, std::move(ours));
}

bool Surgeon::is_orphan() { return g_recorder != 0 && ::getppid() != g_recorder; }

Result<std::string> Surgeon::request(const Order& order, const std::function<void(int also)>& serve) const {
  const Error gone{"Penna's helper process was killed; try again"};
  if (!send(order)) return gone;
  while (!is_readable(socket_.get(), serve ? 0 : -1))
    if (serve) serve(socket_.get());
  std::string text;
  return receive(&text) ? Result<std::string>(std::move(text)) : gone;
}

bool Surgeon::send(const Order& order) const {
  return ::send(socket_.get(), &order, sizeof order, MSG_NOSIGNAL) == sizeof order;
}

// SOCK_SEQPACKET keeps messages apart: one receive is one text. '=' in front of it tells an empty one from the end.
bool Surgeon::receive(std::string* text) const {
  text->resize(kMostText);
  const ssize_t got = receive_from(socket_.get(), text->data(), text->size());
  *text = got > 0 ? text->substr(1, static_cast<size_t>(got) - 1) : std::string();
  return got > 0;
}

void Surgeon::say(int socket, const std::string& text) {
  const std::string whole = ('=' + text).substr(0, kMostText);
  (void)::send(socket, whole.data(), whole.size(), MSG_NOSIGNAL);
}

void Surgeon::end() {
  if (pid_ < 0) return;
  const Order message;  // kEnd
  (void)::send(socket_.get(), &message, sizeof message, MSG_NOSIGNAL);
  socket_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace penna
