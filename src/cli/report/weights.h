// SPDX-License-Identifier: MIT
// --weight, the weight of stacks: for penna export folded and penna report flame.
#pragma once

#include <optional>

#include "export/calls/folded_export.h"
#include "model/events/summary.h"
#include "options/arguments.h"

namespace penna {

// `where`: the format or table that accepts it.
void add_weight_option(OptionParser& parser, std::optional<FoldedWeight>& weight, const char* where);

// Time of calls, or bytes allocated if there are none.
FoldedWeight default_weight(const Summary& summary);
// Fails for a weight whose stacks have no thread as outermost frame, if that is wanted.
Result<> check_threads(const FoldedOptions& options);
// Fails for a weight that is unknown for a sampled recording.
Result<> check_weight_of_sample(const Recording& recording, FoldedWeight weight);

}  // namespace penna
