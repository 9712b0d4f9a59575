// SPDX-License-Identifier: MIT
// The progress of a long pass as one line on stderr, for interactive use.
//
// Invariant: nothing is printed in the first second; the line is gone at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/progress.h"

namespace penna {

// Null if it is not wanted, or stderr is not a terminal.
std::unique_ptr<ProgressObserver> progress_line(bool wanted);

// "reading: 45 %, 5.2 M events/s, 3 s left".
std::string progress_text(const std::string& what, uint64_t done, uint64_t total, const std::string& unit,
                          double seconds);

}  // namespace penna
