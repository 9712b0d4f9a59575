// SPDX-License-Identifier: MIT
// SocketDirectory: a directory that only this user can enter, for the sockets of one recorder.
//
// Why swept, too: a recorder that was killed leaves its own behind. The parent is a directory of all users, in which
// anything may bear our name.
// Invariant: removed are only sockets of this user to which nobody listens, and the directory of mode 0700 that held
// them; no link is ever followed, and a name that is exchanged meanwhile costs nothing but an empty directory of this
// user.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

// Is a socket so called that penna ctl talks to a recorder through it?
bool is_control_path(std::string_view path);

class SocketDirectory {
 public:
  SocketDirectory() = default;
  ~SocketDirectory();
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;

  // In $XDG_RUNTIME_DIR, when that is this user's, or /tmp. Gives the path of the socket that may be made there.
  Result<std::string> create();

 private:
  bool make_in(const std::string& parent);

  Fd parent_, directory_;
  std::string path_;
};

}  // namespace penna
