// SPDX-License-Identifier: MIT
// Which patterns of record -e met no point of a recording, with what they were most likely meant to be.
#pragma once

#include <string>
#include <vector>

namespace penna {

// A sentence each; empty also when the recording cannot be read. `path`: of a recording that is finished.
std::vector<std::string> unmet_points(const std::vector<std::string>& patterns, const std::string& path);

}  // namespace penna
