// SPDX-License-Identifier: MIT
// What kind of reader a descriptor has: a terminal, of what width, in colour.
#pragma once

#include <cstddef>
#include <string>

#include "cli/options/table_options.h"

namespace penna {

bool is_terminal(int fd);

// Drawings are of ASCII where somebody asks for it, where no person looks on, and where the locale has no other
// characters.
bool wants_ascii(bool asked, int fd);

// COLUMNS of the environment, where it is a sane number, else columns of the terminal; 0: neither tells, and nothing
// is to be cut.
size_t terminal_width(int fd);
// The same for prose: 80 where nothing tells.
size_t text_width(int fd);

// kAuto: a terminal that is not TERM=dumb, and NO_COLOR (no-color.org) is unset or empty.
bool wants_color(ColorMode mode, int fd);

}  // namespace penna
