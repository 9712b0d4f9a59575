// SPDX-License-Identifier: MIT
// See print.h.
#include "report/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/printable.h"
#include "report/fit.h"
#include "report/text.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr size_t kDetailIndent = 6;  // of frames below their row
constexpr size_t kOtherIndent = 4;   // of the titles above other_details

bool is_left(const TableColumn& column) { return column.kind == CellKind::kText; }

// Leading blanks of a name, which show its place in a tree.
size_t indent_of(std::string_view text) { return std::min(text.find_first_not_of(' '), text.size()); }

// A detail in `room` columns: the name, and where it is if that leaves the name half of them and kSmallestName.
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
  // A name deep in a tree keeps its text rather than its blanks.
  const size_t most_blanks = room - std::min(room, kSmallestName);
  const std::string blanks(std::min(indent_of(fitted.text), most_blanks), ' ');
  const std::string name = fitted.text.substr(indent_of(fitted.text));
  const size_t least = blanks.size() + std::min(display_width(name), std::max(room / 2, kSmallestName));
  const auto has_room = [&] { return fitted.where.empty() || least + 1 + display_width(fitted.where) <= room; };
  // Of the place, the module goes first, then all of it: half a line number is useless.
  if (!has_room()) fitted.where.resize(std::min(fitted.where.size(), fitted.where.rfind(" [")));
  if (!has_room()) fitted.where.clear();
  const size_t taken = blanks.size() + (fitted.where.empty() ? 0 : 1 + display_width(fitted.where));
  fitted.text = blanks + cut_middle(name, room - taken);
  return fitted;
}

bool in_row(const Table& table, const TableRow& row) { return table.details_in_row && !row.details.empty(); }

// The columns of a table that text shows, with their widths and the texts of all rows.
struct Layout {
  std::vector<const TableColumn*> columns;
  std::vector<size_t> widths;
  std::vector<std::vector<std::string>> texts;  // by row
  std::vector<std::string_view> left_out;       // titles of columns without room
  bool last_is_whole = true;                    // the table's last column is shown
};

Importance importance_of(const TableColumn& column, bool is_first) {
  return column.importance.value_or(column.cut || is_first ? Importance::kMain : Importance::kUsual);
}

// All columns that text could show, and the least width that is enough for each.
std::vector<FitColumn> measure(const Table& table, Layout& layout) {
  std::vector<FitColumn> fits;
  std::vector<size_t> at;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (column.machine_only) continue;
    const bool is_name = column.cut || column.is_prose;
    const size_t title = display_width(column.title);
    fits.push_back(
        {title, is_name ? std::max(title, kSmallestName) : SIZE_MAX, importance_of(column, at.empty()), is_name});
    at.push_back(i);
    layout.columns.push_back(&column);
  }
  for (const TableRow& row : table.rows) {
    std::vector<std::string>& texts = layout.texts.emplace_back();
    for (size_t i = 0; i < at.size(); ++i) {
      const bool detail = i + 1 == at.size() && in_row(table, row);
      texts.push_back(cell_text(row.cells[at[i]], layout.columns[i]->kind));
      const size_t width = detail ? fit(row.details[0], 0, {}).width() : display_width(texts.back());
      fits[i].width = std::max(fits[i].width, width);
      const size_t indent = std::min(indent_of(detail ? row.details[0].text : texts.back()), kSmallestName);
      if (fits[i].is_name && width > kSmallestName) fits[i].least = std::max(fits[i].least, kSmallestName + indent);
    }
  }
  return fits;
}

// Only drawings are untitled.
std::string_view word_for(std::string_view title) { return title.empty() ? "the drawing" : title; }

void keep(const Fit& fit, Layout& layout) {
  const auto only_shown = [&fit](auto& values) {
    size_t kept = 0;
    for (size_t i = 0; i < fit.shown.size(); ++i)
      if (fit.shown[i] && kept++ != i) values[kept - 1] = std::move(values[i]);
    values.resize(kept);
  };
  for (size_t i = 0; i < fit.shown.size(); ++i)
    if (!fit.shown[i]) layout.left_out.push_back(word_for(layout.columns[i]->title));
  layout.last_is_whole = fit.shown.empty() || fit.shown.back();
  layout.widths = fit.widths;
  only_shown(layout.columns);
  only_shown(layout.widths);
  for (std::vector<std::string>& texts : layout.texts) only_shown(texts);
}

Layout lay_out(const Table& table, const TextStyle& style) {
  Layout layout;
  const std::vector<FitColumn> fits = measure(table, layout);
  keep(fit_columns(fits, style.width, table.has_chosen_columns), layout);
  return layout;
}

// Columns side by side; text left-aligned, numbers right-aligned, no trailing spaces.
class LineWriter {
 public:
  LineWriter(const Layout& layout, const TextStyle& style) : layout_(layout), style_(style) {}

  void put(const std::string& text, Tint tint) { put(text, tinted(text, tint, style_)); }
  void put(const std::string& plain, const std::string& coloured) {
    const size_t width = display_width(plain);
    const size_t room = layout_.widths[at_] > width ? layout_.widths[at_] - width : 0;
    const bool left = is_left(*layout_.columns[at_]);
    if (at_ != 0) owed_ += kColumnGap;
    if (!left) owed_ += room;
    if (!plain.empty()) {
      line_.append(std::exchange(owed_, 0), ' ');
      line_ += coloured;
    }
    if (left) owed_ += room;
    ++at_;
  }
  size_t room() const { return layout_.widths[at_]; }
  bool may_cut() const { return is_left(*layout_.columns[at_]) && style_.width != 0; }
  // Where the next column begins in the line.
  size_t column() const {
    size_t column = 0;
    for (size_t i = 0; i < at_; ++i) column += layout_.widths[i] + kColumnGap;
    return column;
  }
  std::string take() { return std::move(line_) + "\n"; }

 private:
  const Layout& layout_;
  const TextStyle& style_;
  std::string line_;
  size_t at_ = 0;
  size_t owed_ = 0;  // spaces, written when something follows
};

std::string title_line(const Layout& layout, const TextStyle& style) {
  LineWriter line(layout, style);
  for (const TableColumn* column : layout.columns) line.put(std::string(column->title), Tint::kBold);
  return line.take();
}

std::string cut_to(const std::string& text, const TextStyle& style, size_t indent) {
  return style.width == 0 ? text : cut_middle(text, std::max(style.width, indent + kSmallestName) - indent);
}

std::string detail_lines(const std::vector<TableDetail>& details, size_t from, size_t most, size_t indent,
                         const TextStyle& style) {
  std::string lines;
  const size_t room = std::max(style.width, indent + kSmallestName) - indent;
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

bool has_prose(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(), [](auto& column) { return column.is_prose; });
}

// Below a row of sentences the details are sentences, too.
std::string prose_lines(const std::vector<TableDetail>& details, const TextStyle& style) {
  std::string lines;
  for (const TableDetail& detail : details) {
    const std::string text = printable(detail.where.empty() ? detail.text : detail.text + " " + detail.where);
    const size_t width = style.width == 0 ? SIZE_MAX : std::max(style.width, 2 * kDetailIndent) - kDetailIndent;
    for (const std::string& part : wrapped(text, width)) lines += std::string(kDetailIndent, ' ') + part + "\n";
  }
  return lines;
}

std::string row_lines(const Table& table, size_t index, const Layout& layout, const TextStyle& style) {
  const TableRow& row = table.rows[index];
  const bool detail_first = in_row(table, row) && layout.last_is_whole;
  std::string below;  // the rest of the last column's sentences
  const std::vector<std::string>& texts = layout.texts[index];
  LineWriter line(layout, style);
  const Tint tint = row.is_quiet ? Tint::kDim : Tint::kNone;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i + 1 == texts.size() && detail_first) {
      const FittedDetail fitted = fit(row.details[0], line.room(), style);
      line.put(fitted.text + std::string(fitted.width() - display_width(fitted.text), ' '), fitted.tint(style));
    } else if (layout.columns[i]->is_prose && i + 1 == texts.size() && style.width != 0) {
      const std::vector<std::string> parts = wrapped(texts[i], line.room());
      for (size_t part = 1; part < parts.size(); ++part) below += std::string(line.column(), ' ') + parts[part] + "\n";
      line.put(parts[0], tint);
    } else {
      line.put(line.may_cut() ? cut_middle(texts[i], line.room()) : texts[i], tint);
    }
  }
  std::string lines = line.take() + below;
  if (has_prose(table)) return lines + prose_lines(row.details, style);

  lines += detail_lines(row.details, detail_first ? 1 : 0, table.most_details, kDetailIndent, style);
  if (row.other_title.empty()) return lines;
  lines += std::string(kOtherIndent, ' ') +
           tinted(cut_to(printable(row.other_title), style, kOtherIndent), Tint::kDim, style) + "\n";
  return lines + detail_lines(row.other_details, 0, table.most_details, kDetailIndent, style);
}

// Blanks belong to the text if it fits.
std::vector<std::string> fitted_lines(const std::string& text, const TextStyle& style) {
  if (style.width == 0 || display_width(text) <= style.width) return {text};
  return wrapped(text, style.width);
}

bool print_title(const Table& table, const TextStyle& style, const TextSink& sink) {
  const std::string title = printable(table.title), order(table.order);
  const std::string between = title.empty() || order.empty() ? "" : ", ";
  const std::string plain = title + between + order;
  if (plain.empty()) return true;
  if (style.width == 0 || display_width(plain) <= style.width)
    return sink(tinted(title, Tint::kBold, style) + between + tinted(order, Tint::kDim, style) + "\n");
  for (const std::string& line : wrapped(plain, style.width))
    if (!sink(tinted(line, Tint::kBold, style) + "\n")) return false;
  return true;
}

bool print_left_out_columns(const Table& table, const Layout& layout, const TextStyle& style, const TextSink& sink) {
  if (layout.left_out.empty()) return true;
  for (const std::string& line : fitted_lines(no_room_text(layout.left_out, table.how_to_choose), style))
    if (!sink(tinted(line, Tint::kDim, style) + "\n")) return false;
  return true;
}

bool print_sentences(const std::vector<std::string>& sentences, Tint tint, const TextStyle& style,
                     const TextSink& sink) {
  for (const std::string& sentence : sentences)
    for (const std::string& line : fitted_lines(printable(sentence), style))
      if (!sink(tinted(line, tint, style) + "\n")) return false;
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

std::string detail_text(const TableDetail& detail, size_t room) {
  const FittedDetail fitted = fit(detail, room, {false, room});
  return fitted.where.empty() ? fitted.text : fitted.text + " " + fitted.where;
}

std::string no_room_text(const std::vector<std::string_view>& titles, std::string_view how_to_choose) {
  return fmt::format("no room for {}: --wide shows all, {}", fmt::join(titles, ", "), how_to_choose);
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
  if (!print_title(table, style, sink)) return false;
  if (table.draw) return table.draw(style, sink);
  const Layout layout = lay_out(table, style);
  const bool titled =
      std::any_of(layout.columns.begin(), layout.columns.end(), [](auto* column) { return !column->title.empty(); });
  if (titled && !table.rows.empty() && !sink(title_line(layout, style))) return false;
  for (size_t i = 0; i < table.rows.size(); ++i)
    if (!sink(row_lines(table, i, layout, style))) return false;
  return print_left_out_columns(table, layout, style, sink) &&
         print_left_out(table.rows_left_out, "more", style, sink) &&
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
