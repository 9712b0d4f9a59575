// SPDX-License-Identifier: MIT
// penna view: a page for exploring a recording, served on this machine, only for its user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/input_options.h"

namespace penna {

struct ViewOptions {
  InputOptions input;
  std::string before;                            // the recording to compare with; empty: none
  bool no_open = false;                          // do not start the browser
  std::optional<uint16_t> port;                  // none: any free port
  std::vector<std::string> source_dirs = {"."};  // the page shows source files in these
};

Result<Parsed<ViewOptions>> parse_view(const Arguments& arguments);
int cmd_view(const ViewOptions& options);

}  // namespace penna
