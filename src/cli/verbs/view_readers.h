// SPDX-License-Identifier: MIT
// How the page's tables and flame graphs are read: as `penna report` and `penna export folded` read the same part.
#pragma once

#include <vector>

#include "cli/options/input_options.h"
#include "view/questions.h"

namespace penna {

// The tables of `penna report` that there are events for; drawings are left out, as the page draws by itself.
std::vector<TableName> view_tables(const Summary& summary);
// Both must outlive the result.
Questions::Readers view_readers(const InputOptions& input, const Recording& recording);

}  // namespace penna
