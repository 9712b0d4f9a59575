// SPDX-License-Identifier: MIT
// penna pack: writes recordings anew, as small as they can be.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "options/arguments.h"

namespace penna {

struct PackOptions {
  std::vector<std::string> inputs;  // empty: the newest one here
  std::string output;               // empty: each in its place
  bool force = false;
};

Result<Parsed<PackOptions>> parse_pack(const Arguments& arguments);
int cmd_pack(const PackOptions& options);

}  // namespace penna
