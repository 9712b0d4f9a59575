// SPDX-License-Identifier: MIT
// See weights.h.
#include "cli/report/weights.h"

#include <fmt/format.h>

#include "model/events/sampling.h"
#include "options/filter_rules.h"
#include "report/reports.h"

namespace penna {

void add_weight_option(OptionParser& parser, std::optional<FoldedWeight>& weight, const char* where) {
  parser.choice(
      "--weight", weight,
      {{"time", FoldedWeight::kTime},
       {"calls", FoldedWeight::kCalls},
       {"alloc-bytes", FoldedWeight::kAllocBytes},
       {"allocs", FoldedWeight::kAllocs},
       {"live", FoldedWeight::kLive},
       {"peak", FoldedWeight::kPeak},
       {"temp", FoldedWeight::kTemp},
       {"wait", FoldedWeight::kWait},
       {"wait-by-holder", FoldedWeight::kWaitByHolder},
       {"points", FoldedWeight::kPoints}},
      fmt::format(
          "{}: time of calls, their number; of allocations bytes, number, bytes live at the end or "
          "at the peak, number of "
          "temporary ones; time waited, by who waited or by who held the lock; passes of points; default time, or "
          "without calls alloc-bytes",
          where));
}

FoldedWeight default_weight(const Summary& summary) {
  const bool only_allocations = summary.events[PENNA_CALLS] == 0 && summary.events[PENNA_ALLOC] != 0;
  return only_allocations ? FoldedWeight::kAllocBytes : FoldedWeight::kTime;
}

Result<> check_threads(const FoldedOptions& options) {
  if (options.threads && options.weight == FoldedWeight::kWaitByHolder)
    return Error{"--threads is not for --weight wait-by-holder: it counts the stacks of all holders together"};
  return ok();
}

// A sample does not show which blocks are temporary: the allocations between an allocation and its free are not all
// recorded.
Result<> check_weight_of_sample(const Recording& recording, FoldedWeight weight) {
  if (weight == FoldedWeight::kTemp && SampleScale(recording).is_sampled()) return Error{kNoTemporaryOfSample};
  if (weight == FoldedWeight::kPoints && !asked_for_point_stacks(recording.session()))
    return Error{"stacks of points were not recorded: penna record --point-stacks records them"};
  return ok();
}

}  // namespace penna
