// SPDX-License-Identifier: MIT
// The reader of a descriptor: whether it is a terminal, its width, and colors.
#pragma once

#include <cstddef>
#include <string>

#include "options/table_options.h"

namespace penna {

bool is_terminal(int fd);

// Drawings are in ASCII on request, if not on a terminal, and if the locale has no other characters.
bool wants_ascii(bool asked, int fd);

// COLUMNS from the environment, if plausible, else the terminal's columns; 0: unknown, and nothing is to be cut.
size_t terminal_width(int fd);
// The same for prose: 80 if unknown.
size_t text_width(int fd);

// kAuto: a terminal that is not TERM=dumb, and NO_COLOR (no-color.org) is unset or empty.
bool wants_color(ColorMode mode, int fd);

}  // namespace penna
