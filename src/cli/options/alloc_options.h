// SPDX-License-Identifier: MIT
// The options that say which allocations count, of which family of blocks, and which leaks are no news: the same for
// report, diff, check and export.
//
// Invariant: what check_alloc_filter() accepts can be made limits of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/arguments.h"
#include "model/blocks/allocation_choice.h"
#include "model/names/suppressions.h"

namespace penna {

struct AllocFilterOptions {
  std::string family;               // "maps", "pool:texts"; empty: the heap
  std::string size, lifetime;       // "64..4k", "1ms.."; empty: all
  std::vector<std::string> stacks;  // patterns of functions
  std::string pid;                  // of which processes, as --pid says it; empty: all
  bool any() const { return !family.empty() || !size.empty() || !lifetime.empty() || !stacks.empty() || !pid.empty(); }
};
// `has_pid`: also --pid; export has one of its own.
void add_alloc_filter_options(OptionParser& parser, AllocFilterOptions& options, bool has_pid = false);
Result<> check_alloc_filter(const AllocFilterOptions& options);
// Null when all allocations of the heap count. Fails when the recording has no such family.
Result<std::unique_ptr<AllocationChoice>> make_choice(const AllocFilterOptions& options, const Recording& recording,
                                                      Names& names);
// That patterns met no function, a sentence each.
std::vector<std::string> unmet_stacks(const AllocationChoice* choice);
// The same, and that --pid means several programs.
std::vector<std::string> choice_notes(const AllocFilterOptions& options, const Recording& recording,
                                      const AllocationChoice* choice);

struct SuppressionOptions {
  std::string file;   // empty: only what the libraries keep
  bool none = false;  // all leaks are shown
};
void add_suppression_options(OptionParser& parser, SuppressionOptions& options);
Result<Suppressions> read_suppressions(const SuppressionOptions& options);

// "64", "64..", "..4k", "64..4k" by `parse`; both ends belong to it.
struct Bounds {
  std::optional<uint64_t> low, high;
};
std::optional<Bounds> parse_bounds(std::string_view text, std::optional<int64_t> (*parse)(std::string_view));

}  // namespace penna
