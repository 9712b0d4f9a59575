// SPDX-License-Identifier: MIT
// penna push: sends recordings to the tables of a ClickHouse server.
#pragma once

#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/input_options.h"
#include "options/push_options.h"

namespace penna {

struct PushOptions {
  InputOptions input;                   // only its symbol options are used
  PushTarget target;                    // without a URL: unfinished pushes are continued
  std::vector<std::string> recordings;  // none, with a URL: the newest here
  bool quiet = false;                   // print only errors
};

Result<Parsed<PushOptions>> parse_push(const Arguments& arguments);
int cmd_push(const PushOptions& options);

}  // namespace penna
