// SPDX-License-Identifier: MIT
// The page of `penna view`: web/dist/index.html as it was built, which is part of the program.
#pragma once

#include <string>

namespace penna {

std::string page();

}  // namespace penna
