// SPDX-License-Identifier: MIT
// The verbs' manual pages, generated from their option tables, and penna(1) from the table of verbs.
#pragma once

#include <string>

#include "cli/verbs.h"

namespace penna {

std::string penna_page();
std::string verb_page(const Verb& verb);  // penna-VERB(1)

}  // namespace penna
