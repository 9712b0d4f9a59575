// SPDX-License-Identifier: MIT
// See fleet_server.h.
#include "sql/clickhouse/fleet_server.h"

namespace penna {
namespace {

std::string unescaped(std::string_view cell) {
  std::string text;
  for (size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '\\' || i + 1 == cell.size()) {
      text += cell[i];
      continue;
    }
    switch (cell[++i]) {
      case 'b': text += '\b'; break;
      case 'f': text += '\f'; break;
      case 'n': text += '\n'; break;
      case 'r': text += '\r'; break;
      case 't': text += '\t'; break;
      case '0': text += '\0'; break;
      default: text += cell[i];
    }
  }
  return text;
}

}  // namespace

std::vector<std::optional<std::string>> tab_separated_cells(std::string_view line) {
  std::vector<std::optional<std::string>> cells;
  for (;;) {
    const size_t tab = std::min(line.find('\t'), line.size());
    const std::string_view cell = line.substr(0, tab);
    cell == "\\N" ? cells.emplace_back() : cells.emplace_back(unescaped(cell));
    if (tab == line.size()) return cells;
    line.remove_prefix(tab + 1);
  }
}

std::vector<std::vector<std::string>> tab_separated(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::vector<std::string>& row = rows.emplace_back();
    for (const auto& cell : tab_separated_cells(text.substr(0, end))) row.push_back(cell.value_or("\\N"));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

std::string fleet_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    if (c == '\0') {
      quoted += "\\0";
      continue;
    }
    quoted += c;
  }
  return quoted += '\'';
}

}  // namespace penna
