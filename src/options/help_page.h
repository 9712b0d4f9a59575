// SPDX-License-Identifier: MIT
// A verb's --help: usage, examples, and its options in sections, wrapped to a width.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "options/option_table.h"

namespace penna {

struct Example {
  const char* command;
  const char* does;
};

// For a verb, besides its options.
struct VerbHelp {
  // Options that most users need, such as "-o" or "--pid": these come first, and the others only on request. Empty: all
  // are always shown.
  std::span<const char* const> common{};
  std::span<const Example> examples{};
};

void add_paragraph(std::string& page, const std::string& text, size_t width, size_t indent = 0);
// Adds "  TERM  text", the text wrapped to `width` columns and starting at `column`.
void add_term(std::string& page, const std::string& term, const std::string& text, size_t width, size_t column = 30);

std::string help_page(const OptionTable& table, const VerbHelp& help, bool all, size_t width);

}  // namespace penna
