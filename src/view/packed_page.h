// SPDX-License-Identifier: MIT
// The page as one file that needs no server: with the answers for the whole run inside (docs/view-protocol.md).
//
// Why: it can be mailed, and opened years later. Invariant: the file makes no requests, is reduced to the required
// size, and says what it lacks.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "view/answers/questions.h"

namespace penna {

struct PackRequest {
  size_t most = 0;             // bytes of the file
  bool embeds_source = false;  // also the text of source files, those with most costs first
};
struct PackedPage {
  std::string text{};
  std::string sources{};  // with embeds_source, a sentence: how many files are in it, and why others are not
};
// The error is a sentence: it cannot be made that small.
Result<PackedPage> pack_page(Questions& questions, const Summary& summary, const PackRequest& request);

}  // namespace penna
