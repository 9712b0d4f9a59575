// SPDX-License-Identifier: MIT
// A socket on which a process in a container reaches the recorder: one with a root directory and a network of its own,
// or whose users are not ours.
//
// Why: neither the path of the recorder's socket nor its abstract name means anything there, and the agent trusts only
// a peer that is root or its own user, which the recorder's user may not even have a name for.
// How: a child joins the container's network, becomes the process's user, and listens; we accept.
// Invariant: the socket's name is abstract, so nothing stays in the container.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"

namespace penna {

// Listening, if the process needs it. None: it reaches `socket_path` itself, or the kernel does not let us.
Fd listen_near(const std::string& socket_path, pid_t pid);

// By which name the process reaches the recorder: of the socket made by listen_near(), else `socket_path`.
std::string name_near(const std::string& socket_path, pid_t pid);
// The `socket_path` of such a name.
std::string path_of_name(const std::string& name);

}  // namespace penna
