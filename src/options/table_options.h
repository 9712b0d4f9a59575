// SPDX-License-Identifier: MIT
// The options that all tables share: format, color, rows and their order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "options/arguments.h"

namespace penna {

enum class Format { kTable, kCsv, kJson };
enum class ColorMode { kAuto, kAlways, kNever };

struct TableOptions {
  Format format = Format::kTable;
  ColorMode color = ColorMode::kAuto;
  std::optional<size_t> top;        // 0: all; none: 25 in text, all in CSV and JSON
  std::string sort;                 // "COLUMN", "COLUMN:asc"
  std::vector<std::string> fields;  // columns to show, in this order; none: all
  bool wide = false;                // lines are not cut
  bool no_pager = false;
};
inline constexpr size_t kDefaultTop = 25;

// Adds --format, --json, --color, --wide, --no-pager, and with `rows` -n, --sort and --fields.
void add_table_options(OptionParser& parser, TableOptions& options, bool rows);
void add_format_option(OptionParser& parser, Format& format, const std::string& help);
void add_color_option(OptionParser& parser, ColorMode& color);
size_t rows_to_show(const TableOptions& options);

}  // namespace penna
