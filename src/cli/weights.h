// SPDX-License-Identifier: MIT
// --weight, of what stacks are weighed by: for penna export folded and penna report flame.
#pragma once

#include <optional>

#include "cli/options/arguments.h"
#include "export/folded_export.h"
#include "model/events/summary.h"

namespace penna {

// `where`: the format or table that takes it.
void add_weight_option(OptionParser& parser, std::optional<FoldedWeight>& weight, const char* where);

// Time of calls, or where there are none, bytes allocated.
FoldedWeight default_weight(const Summary& summary);
// Fails for a weight that is not known of a recording of a sample.
Result<> check_weight_of_sample(const Recording& recording, FoldedWeight weight);

}  // namespace penna
