// SPDX-License-Identifier: MIT
// penna export: the events of a recording as a file or directory for other tools.
#pragma once

#include "cli/input.h"
#include "cli/options/alloc_options.h"
#include "cli/options/arguments.h"
#include "export/folded_export.h"
#include "model/events/summary.h"

namespace penna {

struct ExportOptions {
  InputOptions input;
  std::string format;              // one of export_formats()
  FoldedOptions folded;            // its choice is made of `allocations`
  bool has_weight = false;         // else folded.weight is that of default_weight()
  AllocFilterOptions allocations;  // of folded, with a weight of allocations
  std::string pid;                 // of formats of one process, as --pid says it
  std::string output;              // empty or "-": standard output; of ctf and uftrace a directory
};

// --weight, of a format or table.
void add_weight_option(OptionParser& parser, std::optional<FoldedWeight>& weight, const char* where);

// Time of calls, or where there are none, bytes allocated.
FoldedWeight default_weight(const Summary& summary);
// Fails for a weight that is not known of a recording of a sample.
Result<> check_weight_of_sample(const Recording& recording, FoldedWeight weight);

std::vector<std::string> export_formats();
Result<Parsed<ExportOptions>> parse_export(const Arguments& arguments);
int cmd_export(const ExportOptions& options);

}  // namespace penna
