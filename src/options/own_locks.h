// SPDX-License-Identifier: MIT
// The functions of a program's own lock, in the syntax of record --lock-functions.
// Invariant: names match the same functions as with -F.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/lock_functions.h"

namespace penna {

// "my_lock=my_unlock"; plus ",try=my_trylock" if that returns true, or ",try0=my_trylock" if it returns 0, on success.
Result<OwnLock> parse_own_lock(const std::string& text);

}  // namespace penna
