// SPDX-License-Identifier: MIT
// See trace_link.h.
#include "trace_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/file.h"
#include "base/output_file.h"

namespace penna {
namespace {

// Where TRACE leads, if it is a link of this user; else "". Through a descriptor, so that the link that is read is the
// one whose owner was checked: the owner of the directory may exchange the name in between.
std::string target_of_link() {
  const Fd link(::open(kTrace, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  char path[4096];
  if (!link || ::fstat(link.get(), &status) != 0 || !S_ISLNK(status.st_mode) || status.st_uid != ::geteuid()) return {};
  const ssize_t got = ::readlinkat(link.get(), "", path, sizeof path);
  return got > 0 ? std::string(path, static_cast<size_t>(got)) : std::string();
}

// EAGAIN: the queue of a listening socket is full, so there is a listener.
bool has_listener(const std::string& path) {
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

}  // namespace

// Another user's TRACE in a shared directory (/tmp) must not decide what we do.
Result<TraceState> look_at_trace() {
  struct stat status {};
  if (::lstat(kTrace, &status) != 0) return TraceState::kNothing;
  if (left_by_another(kTrace) || (S_ISLNK(status.st_mode) && status.st_uid != ::geteuid()))
    return Error{
        fmt::format("TRACE belongs to another user here (uid {}): start etrace in another directory", status.st_uid)};
  if (S_ISLNK(status.st_mode)) return TraceState::kLink;
  if (S_ISREG(status.st_mode)) return status.st_size == 0 ? TraceState::kEmpty : TraceState::kRecording;
  return Error{"TRACE is neither a file nor a link: remove it, or start etrace in another directory"};
}

// symlink(2) fails if the name exists: a link that was made after the check is not overwritten.
Result<> TraceLink::make(const std::string& socket_path) {
  if (has_listener(target_of_link()))
    return Error{"another etrace waits in this directory already: end it, or start this one elsewhere"};
  if (!target_of_link().empty()) ::unlink(kTrace);  // of an etrace that was killed
  if (::symlink(socket_path.c_str(), kTrace) != 0)
    return Error{fmt::format("cannot make the link TRACE here: {}", errno_text(errno))};
  socket_path_ = socket_path;
  return ok();
}

// Only if it still leads to our socket: another etrace may have taken the name since.
TraceLink::~TraceLink() {
  if (!socket_path_.empty() && target_of_link() == socket_path_) ::unlink(kTrace);
}

}  // namespace penna
