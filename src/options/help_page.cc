// SPDX-License-Identifier: MIT
// See help_page.h.
#include "options/help_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/text.h"

namespace penna {
namespace {

constexpr size_t kIndent = 2, kColumnOfAbout = 14;

std::string term_of(const OptionRow& row) {
  std::string term;
  for (const std::string& name : row.names) term += (term.empty() ? "" : ",") + name;
  if (row.value.empty()) return term;
  return term + (row.alone ? "[=" + row.value + "]" : " " + row.value);
}

std::string usage(const OptionTable& table) {
  std::string text = "Usage: " + table.command + " [OPTIONS]";
  for (const WordRow& words : table.words) text += " " + words.usage;
  return text + (table.runs_command ? " [--] CMD [ARGUMENTS...]" : "");
}

// One line each if all fit, else two lines as below.
void add_examples(std::string& page, std::span<const Example> examples, size_t width) {
  if (examples.empty()) return;
  size_t longest = 0, most = 0;
  for (const Example& one : examples) {
    longest = std::max(longest, display_width(one.command));
    most = std::max(most, display_width(one.does));
  }
  page += "\nExamples:\n";
  const bool beside = kIndent + longest + 2 + most <= width;
  for (const Example& one : examples) {
    page += fmt::format("  {}", one.command);
    if (beside) page += std::string(longest + 2 - display_width(one.command), ' ') + one.does;
    page += "\n";
    if (!beside) add_paragraph(page, one.does, width, 6);
  }
}

bool is_in(std::span<const char* const> names, const OptionRow& row) {
  return std::any_of(names.begin(), names.end(), [&row](const char* name) { return row.has_name(name); });
}

void add_section(std::string& page, const std::string& title, const std::vector<const OptionRow*>& rows, size_t width) {
  page += "\n" + title + ":\n";
  for (const OptionRow* row : rows) add_term(page, term_of(*row), row->help, width);
}

}  // namespace

void add_paragraph(std::string& page, const std::string& text, size_t width, size_t indent) {
  for (const std::string& line : wrapped(text, width - indent)) page += std::string(indent, ' ') + line + "\n";
}

// A term that leaves no room gets its own lines.
void add_term(std::string& page, const std::string& term, const std::string& text, size_t width, size_t column) {
  column = std::min(column, width / 2);
  const std::vector<std::string> terms = wrapped(term, width - kIndent);
  for (const std::string& line : terms) page += (&line == &terms[0] ? "" : "\n") + std::string(kIndent, ' ') + line;
  size_t used = kIndent + display_width(terms.back());
  if (used + 2 > column) page += "\n", used = 0;
  for (const std::string& line : wrapped(text, width - column)) {
    page += std::string(column - used, ' ') + line + "\n";
    used = 0;
  }
}

std::string help_page(const OptionTable& table, const VerbHelp& help, bool all, size_t width) {
  std::string page;
  add_paragraph(page, usage(table), width);
  add_paragraph(page, table.about, width);
  for (const AboutRow& row : table.list) add_term(page, row.word, row.is, width, kColumnOfAbout);
  if (!table.words.empty()) page += "\n";
  for (const WordRow& row : table.words) add_term(page, row.typed, row.help, width);
  add_examples(page, help.examples, width);

  std::vector<const OptionRow*> common, rest;
  for (const OptionRow& row : table.options) (is_in(help.common, row) ? common : rest).push_back(&row);
  // In the verb's order: most wanted first.
  std::stable_sort(common.begin(), common.end(), [&help](const OptionRow* a, const OptionRow* b) {
    const auto place = [&help](const OptionRow* row) {
      return std::find_if(help.common.begin(), help.common.end(),
                          [row](const char* name) { return row->has_name(name); });
    };
    return place(a) < place(b);
  });
  if (!common.empty()) add_section(page, "Common options", common, width);
  if (common.empty() || all)
    for (const OptionSection& one : in_sections(rest))
      add_section(page, one.title.empty() ? "Options" : one.title, one.rows, width);
  else
    page += fmt::format("\n{} more options: {} --help --all\n", rest.size(), table.command);
  return page;
}

}  // namespace penna
