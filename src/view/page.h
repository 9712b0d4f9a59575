// SPDX-License-Identifier: MIT
// The page of `penna view`: web/dist/index.html as built, embedded into the program.
#pragma once

#include <string>

namespace penna {

std::string page();

}  // namespace penna
