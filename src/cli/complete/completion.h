// SPDX-License-Identifier: MIT
// Completion at the cursor of a penna command line: its verbs, options and values, recordings, functions.
//
// Why here and not in the shells' scripts: it is generated from the option tables (option_table.h), so it cannot differ
// from what the verbs accept, and one implementation serves all shells.
#pragma once

#include <string>
#include <vector>

#include "options/arguments.h"

namespace penna {

struct Candidate {
  std::string word;  // the whole word, not the rest of it
  std::string about;
};

struct Completion {
  std::vector<Candidate> candidates;
  // What the shell adds itself: "files", "directories", "recordings", "commands"; "command N": the words from index N
  // belong to another command, which the shell completes. Empty: nothing.
  std::string by_shell;
};

// `words`: those after "penna", including those after the cursor. `cursor`: the index of the word to complete.
Completion complete_line(const Arguments& words, size_t cursor);

}  // namespace penna
