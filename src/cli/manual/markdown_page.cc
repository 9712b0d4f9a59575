// SPDX-License-Identifier: MIT
// See markdown_page.h. One pass over the lines; a block is written when its last line is known.
#include "cli/manual/markdown_page.h"

#include <cctype>
#include <sstream>
#include <vector>

#include "cli/manual/mdoc.h"

namespace penna {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The cells of "| a | b |". A bar within `code` does not separate cells.
std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> found;
  std::string cell;
  bool code = false;
  for (size_t at = 1; at < row.size(); ++at) {
    if (row[at] == '`') code = !code;
    if (row[at] == '|' && !code && row[at - 1] != '\\') {
      found.push_back(trimmed(cell));
      cell.clear();
    } else if (row[at] != '\\' || at + 1 == row.size() || row[at + 1] != '|') {
      cell += row[at];
    }
  }
  return found;
}

// The length of a list item's marker; 0: the line does not begin one.
size_t mark_of_item(const std::string& line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return 2;
  size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits]))) ++digits;
  return digits != 0 && line.compare(digits, 2, ". ") == 0 ? digits + 2 : 0;
}

class Converter {
 public:
  explicit Converter(MdocPage& page) : page_(page) {}

  void line(const std::string& text) {
    if (text.starts_with("```")) return fence();
    if (fenced_) {
      block_ += text + "\n";
      return;
    }
    if (text.starts_with("|")) return row(text);
    if (in_table_) close();
    if (text.empty()) return flush();
    if (text.starts_with("#")) return heading(text);
    const size_t mark = mark_of_item(text);
    if (mark != 0) return item(text, mark);
    if (in_list_ && block_.empty() && text[0] != ' ') close();
    block_ += (block_.empty() ? "" : "\n") + trimmed(text);
  }

  void close() {
    flush();
    if (in_list_ || in_table_) page_.end();
    in_list_ = in_table_ = false;
  }

 private:
  void fence() {
    if (!fenced_) close();
    if (fenced_) page_.literal(block_);
    block_.clear();
    fenced_ = !fenced_;
  }

  void heading(const std::string& text) {
    close();
    const size_t level = text.find_first_not_of('#');
    if (level <= 2)
      page_.heading(trimmed(text.substr(level)));
    else
      page_.subheading(trimmed(text.substr(level)));
  }

  void item(const std::string& text, size_t mark) {
    flush();
    if (!in_list_) page_.begin(text[0] == '-' || text[0] == '*' ? MdocPage::List::kBullets : MdocPage::List::kNumbers);
    in_list_ = true;
    block_ = text.substr(mark);
  }

  // A table's header, and the dashes below it, are left out: a list has no columns.
  void row(const std::string& text) {
    if (!in_table_) {
      close();
      page_.begin(MdocPage::List::kTagged);
      in_table_ = true;
      rows_ = 0;
    }
    if (rows_++ < 2) return;
    const std::vector<std::string> row = cells(text);
    std::string rest;
    for (size_t i = 1; i < row.size(); ++i)
      if (!row[i].empty()) rest += (rest.empty() ? "" : "; ") + row[i];
    page_.item(mdoc_word(row.empty() || row[0].empty() ? "-" : row[0]), rest);
  }

  void flush() {
    if (block_.empty()) return;
    if (in_list_)
      page_.item("", block_);
    else
      page_.paragraph(block_);
    block_.clear();
  }

  MdocPage& page_;
  std::string block_;
  bool fenced_ = false, in_list_ = false, in_table_ = false;
  size_t rows_ = 0;
};

}  // namespace

std::string markdown_page(const std::string& name, int section, const std::string& markdown) {
  std::istringstream lines(markdown);
  std::string line, title;
  std::getline(lines, title);
  MdocPage page(name, section, trimmed(title.substr(title.find_first_not_of('#'))));
  page.heading("DESCRIPTION");
  Converter converter(page);
  while (std::getline(lines, line)) converter.line(line);
  converter.close();
  page.heading("SEE ALSO");
  page.macro(".Xr penna 1");
  return page.text();
}

}  // namespace penna
