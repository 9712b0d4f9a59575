// SPDX-License-Identifier: MIT
// See print.h.
#include "report/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/printable.h"
#include "report/text.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr size_t kGap = 2;            // spaces between columns
constexpr size_t kSmallestText = 16;  // a text column is never cut below this
constexpr size_t kDetailIndent = 6;   // of frames below their row
constexpr size_t kOtherIndent = 4;    // of the words over other ones

bool is_left(const TableColumn& column) { return column.kind == CellKind::kText; }

// A detail cut to `room` columns: the name first; where it is gets what is left, at most half when both are long.
struct FittedDetail {
  std::string text, where;
  size_t width() const { return display_width(text) + (where.empty() ? 0 : 1 + display_width(where)); }
  std::string tint(const TextStyle& style) const {
    return where.empty() ? text : text + " " + tinted(where, Tint::kDim, style);
  }
};
FittedDetail fit(const TableDetail& detail, size_t room, const TextStyle& style) {
  FittedDetail fitted{printable(detail.text), printable(detail.where)};
  if (style.width == 0) return fitted;
  const size_t where_room = fitted.where.empty() ? 0 : std::min(display_width(fitted.where) + 1, room / 2);
  fitted.text = cut_middle(fitted.text, std::max(room - where_room, std::min(room, kSmallestText)));
  // Of where it is, the module goes first, then all of it: half a line number says nothing.
  const size_t rest = room - display_width(fitted.text);
  if (display_width(fitted.where) + 1 > rest)
    fitted.where.resize(std::min(fitted.where.size(), fitted.where.rfind(" [")));
  if (display_width(fitted.where) + 1 > rest) fitted.where.clear();
  return fitted;
}

// The columns of a table that text shows, with their widths and the texts of all rows.
struct Layout {
  std::vector<const TableColumn*> columns;
  std::vector<size_t> widths;
  std::vector<std::vector<std::string>> texts;  // by row
};

// Takes width from the columns that may be cut, the widest first, until the row fits.
void shrink(Layout& layout, size_t terminal) {
  std::vector<size_t>& widths = layout.widths;
  size_t total = kGap * (widths.size() - 1);
  for (size_t width : widths) total += width;
  while (total > terminal) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i)
      if (layout.columns[i]->cut && widths[i] > kSmallestText &&
          (widest == widths.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest == widths.size()) return;
    const size_t less = std::min(total - terminal, widths[widest] - kSmallestText);
    widths[widest] -= less;
    total -= less;
  }
}

bool in_row(const Table& table, const TableRow& row) { return table.details_in_row && !row.details.empty(); }

Layout lay_out(const Table& table, const TextStyle& style) {
  Layout layout;
  std::vector<size_t> shown;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].machine_only) continue;
    shown.push_back(i);
    layout.columns.push_back(&table.columns[i]);
    layout.widths.push_back(display_width(table.columns[i].title));
  }
  for (const TableRow& row : table.rows) {
    std::vector<std::string>& texts = layout.texts.emplace_back();
    for (size_t i = 0; i < shown.size(); ++i) {
      const bool detail = i + 1 == shown.size() && in_row(table, row);
      texts.push_back(cell_text(row.cells[shown[i]], layout.columns[i]->kind));
      const size_t width = detail ? fit(row.details[0], 0, {}).width() : display_width(texts.back());
      layout.widths[i] = std::max(layout.widths[i], width);
    }
  }
  if (style.width != 0 && !layout.widths.empty()) shrink(layout, style.width);
  return layout;
}

// Columns side by side; text to the left, numbers to the right, no spaces at the end.
class LineWriter {
 public:
  LineWriter(const Layout& layout, const TextStyle& style) : layout_(layout), style_(style) {}

  void put(const std::string& text, Tint tint) { put(text, tinted(text, tint, style_)); }
  void put(const std::string& plain, const std::string& coloured) {
    const size_t width = display_width(plain);
    const size_t room = layout_.widths[at_] > width ? layout_.widths[at_] - width : 0;
    const bool left = is_left(*layout_.columns[at_]);
    if (at_ != 0) owed_ += kGap;
    if (!left) owed_ += room;
    if (!plain.empty()) {
      line_.append(std::exchange(owed_, 0), ' ');
      line_ += coloured;
    }
    if (left) owed_ += room;
    ++at_;
  }
  size_t room() const { return layout_.widths[at_]; }
  bool may_cut() const { return layout_.columns[at_]->cut && style_.width != 0; }
  std::string take() { return std::move(line_) + "\n"; }

 private:
  const Layout& layout_;
  const TextStyle& style_;
  std::string line_;
  size_t at_ = 0;
  size_t owed_ = 0;  // spaces, paid when something follows
};

std::string title_line(const Layout& layout, const TextStyle& style) {
  LineWriter line(layout, style);
  for (const TableColumn* column : layout.columns) line.put(std::string(column->title), Tint::kBold);
  return line.take();
}

std::string detail_lines(const std::vector<TableDetail>& details, size_t from, size_t most, size_t indent,
                         const TextStyle& style) {
  std::string lines;
  const size_t room = std::max(style.width, indent + kSmallestText) - indent;
  // "1 more" would take the line of the one that it hides.
  if (details.size() == most + 1) ++most;
  size_t shown = from;
  for (; shown < std::min(details.size(), most); ++shown)
    lines += std::string(indent, ' ') + fit(details[shown], room, style).tint(style) + "\n";
  if (shown < details.size())
    lines +=
        std::string(indent, ' ') + tinted(fmt::format("... {} more", details.size() - shown), Tint::kDim, style) + "\n";
  return lines;
}

std::string row_lines(const Table& table, size_t index, const Layout& layout, const TextStyle& style) {
  const TableRow& row = table.rows[index];
  const bool detail_first = in_row(table, row);
  const std::vector<std::string>& texts = layout.texts[index];
  LineWriter line(layout, style);
  const Tint tint = row.is_quiet ? Tint::kDim : Tint::kNone;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i + 1 == texts.size() && detail_first) {
      const FittedDetail fitted = fit(row.details[0], line.room(), style);
      line.put(fitted.text + std::string(fitted.width() - display_width(fitted.text), ' '), fitted.tint(style));
    } else {
      line.put(line.may_cut() ? cut_middle(texts[i], line.room()) : texts[i], tint);
    }
  }
  std::string lines = line.take();

  lines += detail_lines(row.details, detail_first ? 1 : 0, table.most_details, kDetailIndent, style);
  if (row.other_title.empty()) return lines;
  lines += std::string(kOtherIndent, ' ') + tinted(printable(row.other_title), Tint::kDim, style) + "\n";
  return lines + detail_lines(row.other_details, 0, table.most_details, kDetailIndent, style);
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
  if (const auto* real = std::get_if<double>(&cell))
    return kind == CellKind::kPercentChange ? percent_change_text(*real) : percent_text(*real);
  const int64_t value = std::get<int64_t>(cell);
  switch (kind) {
    case CellKind::kBytes: return bytes_text(value);
    case CellKind::kDuration: return duration_text(value);
    case CellKind::kChange: return change_text(value);
    case CellKind::kBytesChange: return (value > 0 ? "+" : "") + bytes_text(value);
    case CellKind::kCountChange: return (value > 0 ? "+" : "") + count_text(value);
    case CellKind::kAddress: return address_text(static_cast<uint64_t>(value));
    case CellKind::kNumber: return std::to_string(value);
    case CellKind::kPercent: return percent_text(static_cast<double>(value));
    default: return count_text(value);
  }
}

std::string tinted(std::string_view text, Tint tint, const TextStyle& style) {
  static constexpr const char* kStart[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[36m", "\x1b[32m"};
  if (!style.color || tint == Tint::kNone || text.empty()) return std::string(text);
  return std::string(kStart[static_cast<size_t>(tint)]) + std::string(text) + "\x1b[0m";
}

bool print_left_out(uint64_t rows, std::string_view what, const TextStyle& style, const TextSink& sink) {
  if (rows == 0) return true;
  const std::string line = fmt::format("{} {} (-n 0 shows all)", count_text(static_cast<int64_t>(rows)), what);
  return sink(tinted(line, Tint::kDim, style) + "\n");
}

bool print_table(const Table& table, const TextStyle& style, const TextSink& sink) {
  std::string title = tinted(printable(table.title), Tint::kBold, style);
  if (!table.order.empty()) title += (title.empty() ? "" : ", ") + tinted(table.order, Tint::kDim, style);
  if (!title.empty() && !sink(title + "\n")) return false;
  if (table.draw) return table.draw(style, sink);
  const Layout layout = lay_out(table, style);
  const bool titled =
      std::any_of(layout.columns.begin(), layout.columns.end(), [](auto* column) { return !column->title.empty(); });
  if (titled && !table.rows.empty() && !sink(title_line(layout, style))) return false;
  for (size_t i = 0; i < table.rows.size(); ++i)
    if (!sink(row_lines(table, i, layout, style))) return false;
  return print_left_out(table.rows_left_out, "more", style, sink) &&
         print_left_out(table.rows_empty, table.empty_are, style, sink);
}

bool print_report(const Report& report, const TextStyle& style, const TextSink& sink) {
  bool first = true;
  const auto gap = [&] { return std::exchange(first, false) || sink("\n"); };
  if (!report.head.empty() && !(gap() && print_sentences(report.head, Tint::kNone, style, sink))) return false;
  for (const Table& table : report.tables) {
    if (table.title.empty() && table.rows.empty() && table.rows_empty == 0) continue;  // in JSON it is an empty list
    if (!(gap() && print_table(table, style, sink))) return false;
  }
  if (!report.tail.empty() && !(gap() && print_sentences(report.tail, Tint::kNone, style, sink))) return false;
  if (!report.warnings.empty() && !(gap() && print_sentences(report.warnings, Tint::kWarn, style, sink))) return false;
  return true;
}

}  // namespace penna
