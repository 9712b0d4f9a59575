// SPDX-License-Identifier: MIT
// See print.h.
#include "report/print.h"

#include <algorithm>

#include "base/check.h"
#include "report/text.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr size_t kGap = 2;            // spaces between columns
constexpr size_t kSmallestText = 16;  // a text column is never cut below this
constexpr size_t kDetailIndent = 6;

bool is_left(const TableColumn& column) { return column.kind == CellKind::kText; }

// The texts of a table and the width of each column.
struct Layout {
  std::vector<std::vector<std::string>> texts;  // by row
  std::vector<size_t> widths;
};

// Takes width from the columns that may be cut, the widest first, until the row fits.
void shrink(const Table& table, size_t terminal, std::vector<size_t>& widths) {
  size_t total = kGap * (widths.size() - 1);
  for (size_t width : widths) total += width;
  while (total > terminal) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i)
      if (table.columns[i].cut && widths[i] > kSmallestText && (widest == widths.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest == widths.size()) return;
    const size_t less = std::min(total - terminal, widths[widest] - kSmallestText);
    widths[widest] -= less;
    total -= less;
  }
}

Layout lay_out(const Table& table, const TextStyle& style) {
  Layout layout;
  for (const TableColumn& column : table.columns) layout.widths.push_back(display_width(column.title));
  for (const TableRow& row : table.rows) {
    std::vector<std::string>& texts = layout.texts.emplace_back();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      texts.push_back(cell_text(row.cells[i], table.columns[i].kind));
      layout.widths[i] = std::max(layout.widths[i], display_width(texts.back()));
    }
  }
  if (style.width != 0) shrink(table, style.width, layout.widths);
  return layout;
}

// Columns side by side; text to the left, numbers to the right, no spaces at the end.
std::string line_of(const Table& table, const std::vector<std::string>& texts, const std::vector<size_t>& widths,
                    const TextStyle& style, bool title) {
  std::string line;
  size_t owed = 0;  // spaces, paid when something follows
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string text = table.columns[i].cut && style.width != 0 ? cut_middle(texts[i], widths[i]) : texts[i];
    const size_t width = display_width(text);
    const size_t room = widths[i] > width ? widths[i] - width : 0;
    if (i != 0) owed += kGap;
    if (!is_left(table.columns[i])) owed += room;
    if (!text.empty()) {
      line.append(owed, ' ');
      owed = 0;
      line += tinted(text, title ? Tint::kBold : Tint::kNone, style);
    }
    if (is_left(table.columns[i])) owed += room;
  }
  return line + "\n";
}

std::string detail_line(const TableDetail& detail, const TextStyle& style) {
  std::string text = printable(detail.text), where = printable(detail.where);
  if (style.width != 0) {
    const size_t room = std::max(style.width, kDetailIndent + kSmallestText) - kDetailIndent;
    // The name first: where it is gets what is left, and goes when that is too little to say anything.
    const size_t where_room = where.empty() ? 0 : std::min(display_width(where) + 1, room / 2);
    text = cut_middle(text, room - where_room);
    if (!where.empty()) where = cut_middle(where, room - display_width(text) - 1);
  }
  std::string line(kDetailIndent, ' ');
  line += text;
  if (!where.empty()) line += " " + tinted(where, Tint::kDim, style);
  return line + "\n";
}

bool print_sentences(const std::vector<std::string>& sentences, Tint tint, const TextStyle& style,
                     const TextSink& sink) {
  for (const std::string& sentence : sentences)
    if (!sink(tinted(printable(sentence), tint, style) + "\n")) return false;
  return true;
}

}  // namespace

std::string cell_text(const Cell& cell, CellKind kind) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
  if (const auto* real = std::get_if<double>(&cell)) return percent_text(*real);
  const int64_t value = std::get<int64_t>(cell);
  switch (kind) {
    case CellKind::kBytes: return bytes_text(value);
    case CellKind::kDuration: return duration_text(value);
    case CellKind::kAddress: return address_text(static_cast<uint64_t>(value));
    case CellKind::kPercent: return percent_text(static_cast<double>(value));
    default: return count_text(value);
  }
}

std::string tinted(std::string_view text, Tint tint, const TextStyle& style) {
  static constexpr const char* kStart[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[36m", "\x1b[32m"};
  if (!style.color || tint == Tint::kNone || text.empty()) return std::string(text);
  return std::string(kStart[static_cast<size_t>(tint)]) + std::string(text) + "\x1b[0m";
}

bool print_table(const Table& table, const TextStyle& style, const TextSink& sink) {
  if (!table.title.empty() && !sink(tinted(printable(table.title), Tint::kBold, style) + "\n")) return false;
  const Layout layout = lay_out(table, style);
  std::vector<std::string> titles;
  for (const TableColumn& column : table.columns) titles.push_back(column.title);
  if (!table.rows.empty() && !sink(line_of(table, titles, layout.widths, style, true))) return false;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    std::string lines = line_of(table, layout.texts[i], layout.widths, style, false);
    for (const TableDetail& detail : table.rows[i].details) lines += detail_line(detail, style);
    if (!sink(lines)) return false;
  }
  if (table.rows_left_out == 0) return true;
  const std::string more = count_text(static_cast<int64_t>(table.rows_left_out)) + " more (-n 0 shows all)\n";
  return sink(tinted(more, Tint::kDim, style));
}

bool print_report(const Report& report, const TextStyle& style, const TextSink& sink) {
  bool first = true;
  const auto gap = [&] { return std::exchange(first, false) || sink("\n"); };
  if (!report.head.empty() && !(gap() && print_sentences(report.head, Tint::kNone, style, sink))) return false;
  for (const Table& table : report.tables)
    if (!(gap() && print_table(table, style, sink))) return false;
  if (!report.tail.empty() && !(gap() && print_sentences(report.tail, Tint::kNone, style, sink))) return false;
  if (!report.warnings.empty() && !(gap() && print_sentences(report.warnings, Tint::kWarn, style, sink))) return false;
  return true;
}

}  // namespace penna
