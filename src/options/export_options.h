// SPDX-License-Identifier: MIT
// The options of penna export.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "export/calls/folded_export.h"
#include "options/alloc_options.h"
#include "options/input_options.h"
#include "options/process_option.h"

namespace penna {

struct ExportOptions {
  InputOptions input;
  std::string format;                    // one of export_formats()
  FoldedOptions folded;                  // its choice is made from `allocations`
  bool has_weight = false;               // else folded.weight is default_weight()
  bool aggregate = false;                // speedscope: by stack, instead of in time order
  AllocFilterOptions allocations;        // for stack formats, with a weight of allocations
  std::optional<ProcessChoice> pid;      // for formats of one process
  bool embed_source = false;             // html: the text of source files in these directories
  std::vector<std::string> source_dirs;  // empty: the current one
  std::string output;                    // empty or "-": standard output; for ctf and uftrace a directory
};

}  // namespace penna
