// SPDX-License-Identifier: MIT
// See table_options.h.
#include "options/table_options.h"

namespace penna {

void add_color_option(OptionParser& parser, ColorMode& color) {
  parser.choice("--color", color,
                {{"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}},
                "when to use colours; auto: on a terminal");
}

void add_format_option(OptionParser& parser, Format& format, const std::string& help) {
  parser.choice("--format", format, {{"table", Format::kTable}, {"csv", Format::kCsv}, {"json", Format::kJson}}, help);
  parser.shorthand("--json", format, Format::kJson, "the same as --format json");
}

void add_table_options(OptionParser& parser, TableOptions& options, bool rows) {
  parser.section("Output");
  if (rows) {
    parser.number("-n,--top", options.top, "N", "rows of each table, 0 for all; default 25, in csv and json all");
    parser.text("-s,--sort", options.sort, "COLUMN",
                "sort by a column, or by several as 'calls,self'; COLUMN:asc or COLUMN:desc for a direction");
    parser.texts("-f,--fields", options.fields, "FIELD,...",
                 "the columns to show, in this order, by their names in csv and json; default all that have room, and "
                 "in csv and json all",
                 OptionParser::Split::kAtCommas);
  }
  parser.flag("--wide", options.wide, "all columns and whole names; lines may wrap");
  add_format_option(parser, options.format, "text for people, or raw numbers");
  add_color_option(parser, options.color);
  parser.flag("--no-pager", options.no_pager, "no $PAGER (default less -FRX) on a terminal");
}

// CSV and JSON are complete unless -n says otherwise: programs read them, and do not scroll.
size_t rows_to_show(const TableOptions& options) {
  return options.top.value_or(options.format == Format::kTable ? kDefaultTop : 0);
}

}  // namespace penna
