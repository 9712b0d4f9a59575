// SPDX-License-Identifier: MIT
// What is missing for rows about places in code to have source lines, and what to do: a stripped file, no -g.
//
// Why by the rows that are shown: libraries that nobody looks at need no debug files.
// Invariant: rows that have lines add nothing.
#pragma once

#include "model/names/names.h"
#include "report/print.h"

namespace penna {

// Sentences for the end of the report, once its rows are chosen: of the two files that most rows without a line are of.
void advise_on_names(Report& report, Names& names);

}  // namespace penna
