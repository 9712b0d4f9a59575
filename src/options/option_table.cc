// SPDX-License-Identifier: MIT
// See option_table.h. option_table() itself is in arguments.cc, next to the parser that it queries.
#include "options/option_table.h"

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

std::vector<TypedOption> typed_options(const OptionTable& table, const std::vector<std::string>& arguments) {
  std::vector<TypedOption> found;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') {
      if (table.runs_command) break;
      continue;
    }
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    // One-letter flags may be combined: "-qf".
    for (size_t letter = 1; letter < (is_long ? 2 : word.size()); ++letter) {
      TypedOption option{is_long ? word.substr(0, equals) : std::string{'-', word[letter]}};
      option.row = table.find(option.name);
      option.has_value = equals != std::string::npos;
      if (option.row == nullptr && !is_long && letter == 1) option.name = word;  // "-thread"
      const bool takes_value = option.row != nullptr && !option.row->value.empty();
      if (takes_value) option.has_value |= !is_long && letter + 1 < word.size();
      if (takes_value && !option.has_value && !option.row->alone) option.lacks_value = ++at >= arguments.size();
      found.push_back(option);
      if (takes_value || option.row == nullptr) break;
    }
  }
  return found;
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
