// SPDX-License-Identifier: MIT
// See say.h.
#include "base/say.h"

#include <unistd.h>

#include <string>

#include "base/printable.h"

namespace penna {

void say(std::string_view text) { say_of("penna", text); }

void say_of(std::string_view who, std::string_view text) {
  const std::string line = std::string(who) + ": " + printable(text) + "\n";
  // One write: Penna's lines and the program's do not mix. If it cannot be written there is no reader.
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace penna
