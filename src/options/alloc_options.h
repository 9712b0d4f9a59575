// SPDX-License-Identifier: MIT
// The options that select allocations, a family of blocks, and leaks to ignore: the same for report, diff, check and
// export.
//
// Invariant: accepted options can always be turned into limits; only the family depends on the recording.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/blocks/allocation_choice.h"
#include "model/names/function_pattern.h"
#include "model/names/suppressions.h"
#include "options/arguments.h"
#include "options/process_option.h"
#include "options/values.h"

namespace penna {

// An option that was not given limits nothing. Both ends of a range are included.
struct AllocFilterOptions {
  std::string family;              // "maps", "pool:texts"; empty: the heap
  std::optional<Bounds> size;      // bytes
  std::optional<Bounds> lifetime;  // ns
  std::vector<FunctionPattern> stacks;
  std::optional<ProcessChoice> pid;
  bool any() const { return !family.empty() || size || lifetime || !stacks.empty() || pid; }
};
// `has_pid`: also --pid; export has its own.
void add_alloc_filter_options(OptionParser& parser, AllocFilterOptions& options, bool has_pid = false);
// Binds the options to a recording: converts times into its ticks, names into its families and processes. Null if all
// allocations of the heap count. Fails if the recording has no such family or process.
Result<std::unique_ptr<AllocationChoice>> make_choice(const AllocFilterOptions& options, const Recording& recording,
                                                      Names& names);
// A sentence for each pattern of --stack that matched no function. Call after the allocations have been read.
std::vector<std::string> unmet_stacks(const AllocationChoice* choice);
// The same, and if --pid matches several programs.
std::vector<std::string> choice_notes(const AllocFilterOptions& options, const Recording& recording,
                                      const AllocationChoice* choice);

struct SuppressionOptions {
  std::string file;   // empty: only what the libraries keep
  bool none = false;  // show all leaks
};
void add_suppression_options(OptionParser& parser, SuppressionOptions& options);
Result<Suppressions> read_suppressions(const SuppressionOptions& options);

}  // namespace penna
