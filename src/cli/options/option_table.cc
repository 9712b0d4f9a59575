// SPDX-License-Identifier: MIT
// See option_table.h. option_table() itself is in arguments.cc, beside the parser that it asks.
#include "cli/options/option_table.h"

#include <algorithm>

namespace penna {

bool OptionRow::has_name(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string OptionRow::key() const {
  for (const std::string& name : names)
    if (name.starts_with("--")) return name.substr(2);
  return {};
}

const OptionRow* OptionTable::find(const std::string& name) const {
  for (const OptionRow& row : options)
    if (row.has_name(name)) return &row;
  return nullptr;
}

std::vector<OptionSection> in_sections(const std::vector<const OptionRow*>& rows) {
  std::vector<OptionSection> sections;
  for (const OptionRow* row : rows) {
    const auto same = [row](const OptionSection& one) { return one.title == row->section; };
    auto section = std::find_if(sections.begin(), sections.end(), same);
    if (section == sections.end()) section = sections.insert(section, {row->section, {}});
    section->rows.push_back(row);
  }
  return sections;
}

}  // namespace penna
