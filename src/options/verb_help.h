// SPDX-License-Identifier: MIT
// Each verb's help besides its options: which of them most users need, and examples.
#pragma once

#include <string_view>

#include "options/help_page.h"

namespace penna {

// For example of "record"; empty for an unknown verb.
VerbHelp help_of(std::string_view verb);

}  // namespace penna
