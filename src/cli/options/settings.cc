// SPDX-License-Identifier: MIT
// See settings.h.
#include "cli/options/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest_name.h"

namespace penna {
namespace {

bool stand_for_one_another(const OptionRow& a, const OptionRow& b) {
  return a.names == b.names || (a.group != nullptr && a.group == b.group);
}

Error no_such_option(const OptionTable& table, const Setting& setting) {
  NearestName nearest(setting.option.substr(std::min(setting.option.find_first_not_of('-'), setting.option.size())));
  for (const OptionRow& row : table.options) nearest.see(row.key());
  return Error{fmt::format("{}: {} has no option {}", setting.origin, table.command, nearest.text())};
}

Result<> check(const OptionRow& row, const Setting& setting) {
  if (row.value.empty() != setting.values.empty())
    return Error{fmt::format("{}: {} {}", setting.origin, row.key(),
                             row.value.empty() ? "is true or false" : "needs a value: " + row.value)};
  if (row.known.empty() || row.at_commas) return ok();
  for (const std::string& value : setting.values)
    if (std::find(row.known.begin(), row.known.end(), value) == row.known.end())
      return Error{
          fmt::format("{}: {} is one of {}, not '{}'", setting.origin, row.key(), fmt::join(row.known, ", "), value)};
  return ok();
}

// The options of a command line, whatever their values. What is behind the first word of a command is its own.
std::vector<const OptionRow*> given(const OptionTable& table, const std::vector<std::string>& arguments) {
  std::vector<const OptionRow*> found;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') {
      if (table.runs_command) break;
      continue;
    }
    const bool is_long = word[1] == '-';
    // Flags of one letter may stand together: "-qf".
    for (size_t letter = 1; letter < (is_long ? 2 : word.size()); ++letter) {
      const OptionRow* const row =
          table.find(is_long ? word.substr(0, word.find('=')) : std::string{'-', word[letter]});
      if (row == nullptr) break;
      found.push_back(row);
      if (row->value.empty()) continue;
      const bool has_value = is_long ? word.find('=') != std::string::npos : letter + 1 < word.size();
      if (!has_value && !row->alone) ++at;
      break;
    }
  }
  return found;
}

}  // namespace

Result<Settings> effective_settings(const OptionTable& table, const Settings& written) {
  Settings effective;
  for (const Setting& setting : written) {
    const OptionRow* const row = table.find(setting.option);
    if (row == nullptr && setting.for_all) continue;
    if (row == nullptr || row->has_name("--help")) return no_such_option(table, setting);
    PENNA_TRY(check(*row, setting));
    std::erase_if(effective, [&](const Setting& weaker) {
      return weaker.layer < setting.layer && stand_for_one_another(*table.find(weaker.option), *row);
    });
    effective.push_back(setting);
  }
  return effective;
}

std::vector<std::string> words_of(const OptionTable& table, const Settings& settings,
                                  const std::vector<std::string>& arguments) {
  const std::vector<const OptionRow*> typed = given(table, arguments);
  std::vector<std::string> words;
  for (const Setting& setting : settings) {
    const OptionRow& row = *table.find(setting.option);
    if (std::any_of(typed.begin(), typed.end(),
                    [&](const OptionRow* other) { return stand_for_one_another(*other, row); }))
      continue;
    if (setting.values.empty() && setting.on) words.push_back("--" + row.key());
    for (const std::string& value : setting.values) words.push_back(fmt::format("--{}={}", row.key(), value));
  }
  return words;
}

}  // namespace penna
