// SPDX-License-Identifier: MIT
// See find_recorder.h. Programs started by penna record have its socket in their environment. A recorder inside a
// program is found by an object it shares with its processes: the doorbell.
#include "reach/control/find_recorder.h"

#include <fmt/core.h>
#include <linux/net.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/command_line.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "base/mapped_memory.h"
#include "base/proc_stat.h"
#include "base/socket_address.h"
#include "collect/control/control_server.h"
#include "collect/socket_directory.h"
#include "collect/sockets/near_listener.h"
#include "penna/channel.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

// The recorder's socket in the environment that the process's program was started with; empty: none.
std::string socket_of(int pid) {
  const auto text = read_file(in_proc(pid, "environ"), 4 << 20);
  if (!text) return "";
  constexpr std::string_view name = PENNA_SOCKET_VARIABLE "=";
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\0', at), text->size());
    std::string_view entry(*text);
    entry = entry.substr(at, end - at);
    // The agent changes the first letter once it has met the recorder, so that /proc shows which processes have not yet
    // (collect/arrivals.h).
    const bool begins_so = entry.starts_with(name[0]) || entry.starts_with(PENNA_SOCKET_MET);
    if (begins_so && entry.substr(1).starts_with(name.substr(1)))
      return path_of_name(text->substr(at + name.size(), end - at - name.size()));
    at = end + 1;
  }
  return "";
}

// Whether one of its threads is a recorder (recorder/own_recorder.cc).
bool records_itself(int pid) {
  const std::vector<pid_t> threads = threads_of(pid);
  return std::any_of(threads.begin(), threads.end(),
                     [](pid_t thread) { return comm_of(static_cast<uint32_t>(thread)) == "penna-server"; });
}

struct ListeningSocket {
  std::string path;  // of a recorder's control socket
  std::string inode;
};

// All sockets named like a recorder's at which somebody listens, of any user. Those of connections have the same path.
std::vector<ListeningSocket> control_sockets() {
  std::vector<ListeningSocket> found;
  const auto text = read_file("/proc/net/unix", 64 << 20);
  std::istringstream lines(text ? *text : std::string());
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(" /");  // the last column, and the only one with a slash
    if (at == std::string::npos || !is_control_path(std::string_view(line).substr(at + 1))) continue;
    std::istringstream columns(line);
    std::string address, references, protocol, type, state, inode;
    unsigned long flags = 0;
    columns >> address >> references >> protocol >> std::hex >> flags >> type >> state >> inode;
    if ((flags & __SO_ACCEPTCON) != 0) found.push_back({line.substr(at + 1), std::move(inode)});
  }
  return found;
}

bool has_open(pid_t pid, const std::string& inode) {
  const std::string directory = in_proc(pid, "fd"), wanted = fmt::format("socket:[{}]", inode);
  const std::vector<pid_t> open = numbers_in(directory);
  return std::any_of(open.begin(), open.end(), [&](int fd) {
    std::error_code gone;
    return std::filesystem::read_symlink(fmt::format("{}/{}", directory, fd), gone) == wanted;
  });
}

// The process that has it open; of a recorder and its helpers, which inherited it, the recorder. 0: none that we may
// look into, which is none that we may trust.
pid_t owner_of(const std::string& path) {
  const std::vector<ListeningSocket> sockets = control_sockets();
  const auto socket = std::find_if(sockets.begin(), sockets.end(), [&](const auto& one) { return one.path == path; });
  if (socket == sockets.end()) return 0;
  for (const pid_t pid : numbers_in("/proc")) {
    if (!has_open(pid, socket->inode)) continue;
    const pid_t parent = parent_of(pid);
    return has_open(parent, socket->inode) ? parent : pid;
  }
  return 0;
}

struct Connection {
  Fd socket;
  int error;  // of connect(2); 0: it is connected
};

// `flags`: SOCK_NONBLOCK, not to wait where as many clients wait as may (EAGAIN), or 0.
Connection connect_to(const std::string& path, int flags) {
  const auto address = SocketAddress::of_path(path);
  if (!address) return {Fd(), ENAMETOOLONG};
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  const timeval patience{10, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const bool is_connected = socket && address.connect(socket.get()) == 0;
  return {std::move(socket), is_connected ? 0 : errno};
}

// The program that listens there; 0: none, or it belongs to a user whom we must not trust. Where as many clients wait
// as may, as at a recorder that is stopped, connect() would wait, too: there it is the socket's owner.
pid_t listener_at(const std::string& path) {
  const Connection made = connect_to(path, SOCK_NONBLOCK);
  if (made.error == EAGAIN) return owner_of(path);
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = made.error == 0 && ::getsockopt(made.socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known && (peer.uid == ::geteuid() || ::geteuid() == 0) ? peer.pid : 0;
}

// The recorder of a process, if it is the process's parent: a process that adopts a program is not its recorder.
std::string control_of_parent(int child, int parent) {
  const std::string recorder = socket_of(child);
  if (recorder.empty()) return "";
  std::string control = control_path(recorder);
  return listener_at(control) == parent ? control : "";
}

struct Listener {
  std::string path;  // of its control socket
  int pid;
};

// The first recorder that we may trust and whose pid satisfies `is_it`.
template <typename IsIt>
std::optional<Listener> find_listener(IsIt is_it) {
  for (ListeningSocket& socket : control_sockets())
    if (const pid_t pid = listener_at(socket.path); pid != 0 && is_it(pid))
      return Listener{std::move(socket.path), pid};
  return {};
}

// The recorder inside a program that shares the doorbell of `pid`: in that program itself, or in an ancestor that
// forked it; or penna record, which attached to `pid` or is it.
std::optional<Recorder> recorder_by_doorbell(int pid) {
  const auto doorbell = find_mapped(static_cast<uint32_t>(pid), "penna-doorbell");
  if (!doorbell) return {};
  const auto shares_it = [&](int listener) {
    return has_mapped(static_cast<uint32_t>(listener), "penna-doorbell", doorbell->inode);
  };
  const auto found = find_listener(shares_it);
  if (!found) return {};
  return Recorder{found->path, found->pid == pid && !records_itself(pid) ? 0 : pid};
}

// For a process recorded by breakpoints: its tracer is the recorder's child, and shares nothing with the process.
std::optional<Recorder> recorder_by_tracer(int pid) {
  const pid_t tracer = tracer_of(pid, pid);
  if (tracer == 0) return {};
  const pid_t recorder = parent_of(tracer);
  const auto found = find_listener([recorder](int listener) { return listener == recorder; });
  if (!found) return {};
  return Recorder{found->path, pid};
}

// Whether it holds a pidfd of that process.
bool watches(pid_t watcher, int pid) {
  const std::string directory = in_proc(watcher, "fdinfo"), line = fmt::format("\nPid:\t{}\n", pid);
  const std::vector<pid_t> open = numbers_in(directory);
  return std::any_of(open.begin(), open.end(), [&](int fd) {
    const auto text = read_file(fmt::format("{}/{}", directory, fd), 4096);
    return text && text->find(line) != std::string::npos;
  });
}

// For a process recorded by uprobes: nothing in the process shows that, but a child of the recorder awaits its end.
std::optional<Recorder> recorder_by_watch(int pid) {
  const auto found = find_listener([pid](int listener) {
    const std::vector<pid_t> children = children_of(listener);
    return std::any_of(children.begin(), children.end(), [pid](pid_t child) {
      return comm_of(static_cast<uint32_t>(child)) == kUprobeReader && watches(child, pid);
    });
  });
  if (!found) return {};
  return Recorder{found->path, pid};
}

}  // namespace

Result<Recorder> find_recorder(int pid) {
  if (::access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0)
    return Error{fmt::format("there is no process {}", pid)};
  if (const std::string socket = socket_of(pid); !socket.empty()) return Recorder{control_path(socket), pid};
  for (int child : children_of(pid))
    if (const std::string control = control_of_parent(child, pid); !control.empty()) return Recorder{control, 0};
  if (const auto recorder = recorder_by_doorbell(pid)) return *recorder;
  if (const auto recorder = recorder_by_tracer(pid)) return *recorder;
  if (const auto recorder = recorder_by_watch(pid)) return *recorder;
  if (records_itself(pid))
    return Error{fmt::format(
        "process {} records itself, but its recorder cannot be reached: run penna ctl as the same user, and where the "
        "program sees the same network and the same files",
        pid)};
  return Error{fmt::format("process {} is neither recorded nor a recorder; start it with: penna record -- CMD", pid)};
}

bool is_recorder_at(const std::string& control) {
  const int error = connect_to(control, SOCK_NONBLOCK).error;
  return error == 0 || error == EAGAIN;
}

Result<Fd> connect_to_recorder(const std::string& control) {
  Connection made = connect_to(control, 0);
  if (made.error == ENAMETOOLONG) return Error{fmt::format("{} is too long for a socket", control)};
  if (made.error == EAGAIN)
    return Error{
        fmt::format("the recorder does not answer at {}: is it stopped? resume it with: kill -CONT PID", control)};
  if (made.error != 0)
    return Error{fmt::format("the recorder does not answer at {}: {}; has it ended?", control, errno_text(made.error))};
  return std::move(made.socket);
}

}  // namespace penna
