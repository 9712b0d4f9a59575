// SPDX-License-Identifier: MIT
// The functions of a program's own lock, as record --lock-functions takes them.
// Invariant: names mean the functions that -F would mean by them.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/lock_functions.h"

namespace penna {

// "my_lock=my_unlock"; and ",try=my_trylock" when that gives true, or ",try0=my_trylock" when it gives 0, if it got the
// lock.
Result<OwnLock> parse_own_lock(const std::string& text);

}  // namespace penna
