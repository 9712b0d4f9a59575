// SPDX-License-Identifier: MIT
// See selection.h.
#include "filter/selection.h"

#include <utility>

namespace penna {

// A selection is shared and immutable: a new one replaces it.
void select_calls(Recording& recording, CallRules rules) {
  Selection selection = recording.selection() != nullptr ? *recording.selection() : Selection{};
  selection.calls = std::make_shared<const CallRules>(std::move(rules));
  recording.select(std::make_shared<const Selection>(std::move(selection)));
}

}  // namespace penna
