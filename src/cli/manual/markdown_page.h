// SPDX-License-Identifier: MIT
// A page of docs/ as a manual page.
#pragma once

#include <string>

namespace penna {

// Headings, paragraphs, lists, tables and code blocks; the title is the summary. A table row becomes a list item,
// tagged by its first cell.
std::string markdown_page(const std::string& name, int section, const std::string& markdown);

}  // namespace penna
