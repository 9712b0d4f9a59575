// SPDX-License-Identifier: MIT
// What code rows lack to have source lines, and what to do: a stripped file, no -g.
//
// Why by the rows shown: libraries that are not shown need no debug files.
// Invariant: rows that have lines add nothing.
#pragma once

#include <string>
#include <vector>

#include "model/names/names.h"
#include "report/print.h"

namespace penna {

// Sentences for the end of the report, once its rows are chosen: for the two files with the most rows without a line.
void advise_on_names(Report& report, Names& names);

// For all names that were looked up: a sentence for each file that is no longer the recorded one, if names are missing
// because of that; for at most two files.
std::vector<std::string> lost_files(Names& names);
// Appends them to a report that does not have them yet.
void add_lost_files(Report& report, Names& names);

}  // namespace penna
