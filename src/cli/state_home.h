// SPDX-License-Identifier: MIT
// Where state that outlives a run is kept (XDG Base Directory Specification): a console's history, recordings to push.
//
// Invariant: only the user can access the directory.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

// $XDG_STATE_HOME/penna, or its subdirectory `name`; created if missing.
Result<std::string> state_home(const std::string& name = "");

}  // namespace penna
