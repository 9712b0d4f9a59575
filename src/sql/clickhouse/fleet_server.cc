// SPDX-License-Identifier: MIT
// See fleet_server.h.
#include "sql/clickhouse/fleet_server.h"

namespace penna {

std::string unescaped_cell(std::string_view cell) {
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

std::vector<std::vector<std::string>> tab_separated(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::vector<std::string>& row = rows.emplace_back();
    for (;;) {
      const size_t tab = std::min(line.find('\t'), line.size());
      const std::string_view cell = line.substr(0, tab);
      row.push_back(cell == "\\N" ? "\\N" : unescaped_cell(cell));
      if (tab == line.size()) break;
      line.remove_prefix(tab + 1);
    }
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
