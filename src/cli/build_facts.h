// SPDX-License-Identifier: MIT
// The versions that this penna was built with, for bug reports: penna --version -v.
#pragma once

#include <string>

namespace penna {

std::string build_facts();

}  // namespace penna
