// SPDX-License-Identifier: MIT
// What a directory holds. Invariant: an entry or a directory that vanishes meanwhile is left out, as is usual in /proc,
// and never an exception.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace penna {

// The names in it but "." and "..", in no order. An error names the reason alone ("Permission denied").
Result<std::vector<std::string>> names_in(const std::string& directory);

// Those that end so, without that ending, sorted; empty where it cannot be read.
std::vector<std::string> names_with_ending(const std::string& directory, std::string_view ending);

// Those that are numbers: processes in /proc, threads in /proc/PID/task. Empty where it cannot be read.
std::vector<pid_t> numbers_in(const std::string& directory);

}  // namespace penna
