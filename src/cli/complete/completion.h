// SPDX-License-Identifier: MIT
// What may stand at the cursor of a command line of penna: its verbs, options and values, recordings, functions.
//
// Why here and not in the scripts of the shells: it is read from the option tables (option_table.h), so it cannot
// differ from what the verbs take, and there is one of it for all shells.
#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"

namespace penna {

struct Candidate {
  std::string word;  // the whole word, not the rest of it
  std::string about;
};

struct Completion {
  std::vector<Candidate> candidates;
  // What the shell adds itself: "files", "directories", "recordings", "commands"; "command N": the words from index N
  // are those of another command, which the shell completes. Empty: nothing.
  std::string by_shell;
};

// `words`: those behind "penna", the ones behind the cursor too. `cursor`: the index of the word that is completed.
Completion complete_line(const Arguments& words, size_t cursor);

}  // namespace penna
