// SPDX-License-Identifier: MIT
// Patterns and conditions that met nothing in a recording: most likely mistyped, so each is told with the nearest name.
// Invariant: a sentence for each, in the order of the options.
#pragma once

#include <string>
#include <vector>

#include "filter/where.h"
#include "recording/reader.h"

namespace penna {

// A sentence each; empty also when the recording cannot be read. `path`: of a recording that is finished; `behind`: of
// an option's pattern, as in -T 'shop:*@stack'.
std::vector<std::string> unmet_points(const char* option, const std::vector<std::string>& patterns, const char* behind,
                                      const std::string& path);

// That no function met a filter, as a sentence. `option`: as CallRules::unmet gives it.
std::string unmet_text(const std::string& option);

// A sentence for each condition whose arguments no point of the recording has.
std::vector<std::string> unmet_conditions(const Recording& recording, const std::vector<Where>& conditions);
std::vector<std::string> unmet_conditions(const std::string& path, const std::vector<Where>& conditions);

}  // namespace penna
