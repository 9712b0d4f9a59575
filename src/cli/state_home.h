// SPDX-License-Identifier: MIT
// Where what outlives a run and is no setting is kept (XDG Base Directory Specification): the history of a console,
// what is still to be pushed.
//
// Invariant: the directory is the user's alone.
#pragma once

#include <string>

namespace penna {

// $XDG_STATE_HOME/penna, or a directory `name` in it, made when it is not there; "", where neither XDG_STATE_HOME nor
// HOME names a place.
std::string state_home(const std::string& name = "");

}  // namespace penna
