// SPDX-License-Identifier: MIT
// How the page's tables and flame graphs are read: like `penna report` and `penna export folded` read the same part.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options/input_options.h"
#include "view/answers/questions.h"

namespace penna {

// The tables of `penna report` for which there are events; drawings are left out, because the page draws by itself.
std::vector<TableName> view_tables(const Summary& summary);
// What sentences depend on besides the recording: the program and how names are looked up (TrackOptions::answers_key);
// empty: on more.
std::string answers_key(const InputOptions& input);
// All must outlive the result. `source_dirs`: where source files may be read (view/answers/source_files.h).
// `before`: the recording that it is compared with; empty: none.
// `number`: gives the threads of a newly opened part their ids (Recording::number_threads), if needed.
Questions::Readers view_readers(const InputOptions& input, const std::string& path,
                                const std::vector<std::string>& source_dirs = {}, const std::string& before = "",
                                const std::function<void(Recording&)>& number = {});

}  // namespace penna
