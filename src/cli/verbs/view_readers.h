// SPDX-License-Identifier: MIT
// How the page's tables and flame graphs are read: like `penna report` and `penna export folded` read the same part.
#pragma once

#include <string>
#include <vector>

#include "cli/options/input_options.h"
#include "view/questions.h"

namespace penna {

// The tables of `penna report` for which there are events; drawings are left out, because the page draws by itself.
std::vector<TableName> view_tables(const Summary& summary);
// All must outlive the result. `before`: the recording to compare with; empty: none.
Questions::Readers view_readers(const InputOptions& input, const Recording& recording, const std::string& before = "");

}  // namespace penna
