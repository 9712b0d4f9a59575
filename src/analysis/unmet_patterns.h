// SPDX-License-Identifier: MIT
// Patterns and conditions that matched nothing in a recording: most likely mistyped, so each is reported with the
// nearest name.
// Invariant: one sentence each, in the order of the options.
#pragma once

#include <string>
#include <vector>

#include "filter/where.h"
#include "recording/reader.h"

namespace penna {

// One sentence each; also empty if the recording cannot be read. `path`: of a finished recording; `behind`: what
// follows an option's pattern, as in -T 'shop:*@stack'.
std::vector<std::string> unmet_points(const char* option, const std::vector<std::string>& patterns, const char* behind,
                                      const std::string& path);

// A sentence saying that a filter matched no function. `option`: as returned by CallRules::unmet.
std::string unmet_text(const std::string& option);

// A sentence for each condition whose arguments no point of the recording has.
std::vector<std::string> unmet_conditions(const Recording& recording, const std::vector<Where>& conditions);
std::vector<std::string> unmet_conditions(const std::string& path, const std::vector<Where>& conditions);

}  // namespace penna
