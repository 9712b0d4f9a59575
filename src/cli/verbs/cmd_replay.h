// SPDX-License-Identifier: MIT
// penna replay: the events in order, thread by thread or all together.
#pragma once

#include <optional>

#include "cli/report/replay_fields.h"
#include "model/names/names.h"
#include "options/arguments.h"
#include "options/input_options.h"
#include "options/process_option.h"
#include "options/table_options.h"

namespace penna {

struct ReplayOptions {
  InputOptions input;
  TableOptions table;                              // format and color
  std::optional<std::vector<ReplayField>> fields;  // none: the format's default
  std::optional<ProcessChoice> pid;                // none: all processes
  uint64_t lines = 0;                              // 0: all
  bool merge = false;                              // all threads in one listing, by time
  bool stacks = false;
  bool tree = false;  // only the calls, by name; equal adjacent calls are counted
  bool all = false;   // with tree: every call has a line
};
Result<Parsed<ReplayOptions>> parse_replay(const Arguments& arguments);
int cmd_replay(const ReplayOptions& options);
// The same for an open recording, with names from elsewhere. `options.input` is ignored.
int replay(const Recording& recording, SymbolSource& symbols, const ReplayOptions& options, NameStyle style = {});

}  // namespace penna
