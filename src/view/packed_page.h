// SPDX-License-Identifier: MIT
// The page as one file that needs no server: with the answers of the whole run inside (docs/view-protocol.md).
//
// Why so: it is to be mailed, and opened years later. Invariant: the file asks nobody for anything, is as small as it
// must be, and says what it lacks.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "view/questions.h"

namespace penna {

// `most`: bytes of the file. Error, as a sentence: it cannot be made that small.
Result<std::string> pack_page(Questions& questions, const Summary& summary, size_t most);

}  // namespace penna
