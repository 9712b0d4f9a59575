// SPDX-License-Identifier: MIT
// What the help of each verb shows besides its options: which of them most people need, and examples.
#pragma once

#include <string_view>

#include "cli/options/help_page.h"

namespace penna {

// Of "record"; of a verb that there is not, nothing.
VerbHelp help_of(std::string_view verb);

}  // namespace penna
