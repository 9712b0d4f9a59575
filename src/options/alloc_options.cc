// SPDX-License-Identifier: MIT
// See alloc_options.h.
#include "options/alloc_options.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/nearest_name.h"
#include "options/standard_input.h"

namespace penna {
namespace {

constexpr size_t kMostListBytes = 1 << 20;

// A time too long for 64 bits of ticks becomes the longest one: casting an out-of-range double is undefined.
uint64_t ticks(uint64_t ns, const Recording& recording) {
  const double value = static_cast<double>(ns) / recording.time().ns_per_tick();
  return value < 1.8e19 ? static_cast<uint64_t>(value) : UINT64_MAX;
}

}  // namespace

void add_alloc_filter_options(OptionParser& parser, AllocFilterOptions& options, bool has_pid) {
  parser.section("Which allocations");
  parser.text("--family", options.family, "FAMILY",
              "the kind of block: heap (default), maps (mmap and similar), maps:file, maps:anonymous, pool:NAME");
  parser.value("--size", options.size, "MIN..MAX", "only allocations of this size in bytes: 64, 64.., ..4k, 1k..1M",
               parse_sizes);
  parser.value("--lifetime", options.lifetime, "MIN..MAX",
               "only blocks with this lifetime: 1ms.., ..10us; blocks never freed live for ever", parse_lifetimes);
  parser.values("--stack", options.stacks, "PATTERN",
                "only allocations with a matching function in their stack, as for -F; may be repeated",
                parse_pattern<FunctionPattern>);
  if (has_pid) add_process_option(parser, "-p,--pid", options.pid, "only allocations of processes with this id");
}

Result<std::unique_ptr<AllocationChoice>> make_choice(const AllocFilterOptions& options, const Recording& recording,
                                                      Names& names) {
  if (!options.any()) return std::unique_ptr<AllocationChoice>();
  AllocationLimits limits;
  if (!options.family.empty()) limits.family = PENNA_TRY(BlockFamily::find(recording, options.family));
  if (const auto& size = options.size) {
    limits.min_size = size->low.value_or(limits.min_size);
    limits.max_size = size->high.value_or(limits.max_size);
  }
  if (const auto& life = options.lifetime) {
    if (life->low) limits.min_ticks = ticks(*life->low, recording);
    if (life->high) limits.max_ticks = ticks(*life->high, recording);
  }
  if (options.pid) limits.processes = PENNA_TRY(meant_processes(recording, *options.pid));
  limits.stacks = options.stacks;
  return std::make_unique<AllocationChoice>(recording, names, std::move(limits));
}

std::vector<std::string> unmet_stacks(const AllocationChoice* choice) {
  std::vector<std::string> sentences;
  if (choice == nullptr) return sentences;
  for (const NearestName& pattern : choice->unmet())
    sentences.push_back(fmt::format(
        "--stack '{}' matched no function that allocates{}: 'penna report alloc --by function -n 0' lists them",
        pattern.pattern(), pattern.hint()));
  return sentences;
}

std::vector<std::string> choice_notes(const AllocFilterOptions& options, const Recording& recording,
                                      const AllocationChoice* choice) {
  std::vector<std::string> sentences = unmet_stacks(choice);
  if (std::string several = several_text(recording, options.pid); !several.empty()) sentences.push_back(several + ".");
  return sentences;
}

void add_suppression_options(OptionParser& parser, SuppressionOptions& options) {
  parser.section("Which allocations");
  parser.text(
      "--suppressions", options.file, "FILE",
      "known leaks to hide, in LeakSanitizer syntax: lines leak:PATTERN, matching a function, source file or module");
  parser.flag("--no-suppressions", options.none,
              "show known leaks too, such as memory the C and C++ libraries never free");
  parser.either({"--suppressions", "--no-suppressions"});
}

// Without a file there is still a list: known allocations that the C and C++ libraries keep.
Result<Suppressions> read_suppressions(const SuppressionOptions& options) {
  Suppressions list;
  if (options.file.empty() || options.none) return list;
  // One byte more than the limit, to distinguish a list of maximum size from a longer one.
  const Result<std::string> text = read_file(PENNA_TRY(readable_path(options.file)), kMostListBytes + 1);
  if (!text) return text.error();
  if (text->size() > kMostListBytes)
    return Error{fmt::format("{} is larger than a list of suppressions", options.file)};
  if (const Result<> added = list.add(*text); !added)
    return Error{fmt::format("{}: {}", options.file, added.error().text)};
  return list;
}

}  // namespace penna
