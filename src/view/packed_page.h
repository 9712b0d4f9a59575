// SPDX-License-Identifier: MIT
// The page as one file that needs no server: with the answers for the whole run inside (docs/view-protocol.md).
//
// Why: it can be mailed, and opened years later. Invariant: the file makes no requests, is reduced to the required
// size, and says what it lacks.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "view/questions.h"

namespace penna {

// `most`: bytes of the file. The error is a sentence: it cannot be made that small.
Result<std::string> pack_page(Questions& questions, const Summary& summary, size_t most);

}  // namespace penna
