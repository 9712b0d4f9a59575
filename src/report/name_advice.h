// SPDX-License-Identifier: MIT
// What is missing for rows about places in code to have source lines, and what to do: a stripped file, no -g.
//
// Why by the rows that are shown: libraries that nobody looks at need no debug files.
// Invariant: rows that have lines add nothing.
#pragma once

#include <string>
#include <vector>

#include "model/names/names.h"
#include "report/print.h"

namespace penna {

// Sentences for the end of the report, once its rows are chosen: of the two files that most rows without a line are of.
void advise_on_names(Report& report, Names& names);

// Of any names that were asked for: a sentence for each file that is no longer the one that was recorded, where some
// are missing for that; of two files at most.
std::vector<std::string> lost_files(Names& names);
// Adds them to the end of a report that does not have them yet.
void tell_lost_files(Report& report, Names& names);

}  // namespace penna
