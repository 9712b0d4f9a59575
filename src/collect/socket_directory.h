// SPDX-License-Identifier: MIT
// SocketDirectory: a directory that only this user can enter, for one recorder's sockets.
//
// Why it also cleans up: a recorder that was killed leaves its directory behind. The parent directory is shared by all
// users, and anything in it may have our name.
// Invariant: it removes only sockets of this user on which no process listens, and the directory of mode 0700 that
// contained them; links are never followed, and a name that is swapped meanwhile costs at most an empty directory of
// this user.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

// Whether a socket of this name is one on which penna ctl reaches a recorder.
bool is_control_path(std::string_view path);

class SocketDirectory {
 public:
  SocketDirectory() = default;
  ~SocketDirectory();
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;

  // In $XDG_RUNTIME_DIR, if that belongs to this user, or /tmp. Returns the path for the socket.
  Result<std::string> create();

 private:
  bool make_in(const std::string& parent);

  Fd parent_, directory_;
  std::string path_;
};

}  // namespace penna
