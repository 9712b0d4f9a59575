// SPDX-License-Identifier: MIT
// penna view: one page in which a recording can be looked at, served on this machine for its user alone.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/options/arguments.h"
#include "cli/options/input_options.h"

namespace penna {

struct ViewOptions {
  InputOptions input;
  std::string before;            // the recording that it is compared with; empty: none
  bool no_open = false;          // the browser is not started
  std::optional<uint16_t> port;  // none: any that is free
};

Result<Parsed<ViewOptions>> parse_view(const Arguments& arguments);
int cmd_view(const ViewOptions& options);

}  // namespace penna
