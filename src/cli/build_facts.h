// SPDX-License-Identifier: MIT
// What this penna was built of, for whom it is said in a report of a bug: penna --version -v.
#pragma once

#include <string>

namespace penna {

std::string build_facts();

}  // namespace penna
