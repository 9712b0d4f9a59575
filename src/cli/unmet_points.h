// SPDX-License-Identifier: MIT
// Which patterns of record -e and -T, and conditions of --where, met no point of a recording, with what they were most likely meant to be.
#pragma once

#include <string>
#include <vector>

#include "recording/reader.h"

namespace penna {

// A sentence each; empty also when the recording cannot be read. `path`: of a recording that is finished; `behind`: of an option's
// pattern, as in -T 'shop:*@stack'.
std::vector<std::string> unmet_points(const char* option, const std::vector<std::string>& patterns, const char* behind,
                                      const std::string& path);

// Conditions on arguments that no point of it has.
std::vector<std::string> unmet_conditions(const Recording& recording, const std::vector<Where>& conditions);
std::vector<std::string> unmet_conditions(const std::string& path, const std::vector<std::string>& conditions);

}  // namespace penna
