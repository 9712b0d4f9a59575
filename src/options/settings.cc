// SPDX-License-Identifier: MIT
// See settings.h.
#include "options/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_name.h"

namespace penna {
namespace {

bool stand_for_one_another(const OptionRow& a, const OptionRow& b) {
  return a.names == b.names || (a.group != nullptr && a.group == b.group);
}

Error no_such_option(const OptionTable& table, const Setting& setting) {
  std::vector<std::string> names;
  for (const OptionRow& row : table.options)
    if (!row.has_name("--help")) names.push_back(row.key());
  const std::string name =
      setting.option.substr(std::min(setting.option.find_first_not_of('-'), setting.option.size()));
  const std::string near = nearest_of(name, names);
  return Error{fmt::format("{}: {} has no option {}{}", setting.origin, table.command, name, hint_of(near))};
}

Result<> check(const OptionRow& row, const Setting& setting) {
  if (row.value.empty() != setting.values.empty())
    return Error{fmt::format("{}: {} {}", setting.origin, row.key(),
                             row.value.empty() ? "is true or false" : "needs a value: " + row.value)};
  if (row.known.empty() || row.at_commas) return ok();
  for (const std::string& value : setting.values)
    if (std::find(row.known.begin(), row.known.end(), value) == row.known.end())
      return Error{fmt::format("{}: {}", setting.origin, there_is_no("--" + row.key(), value, row.known))};
  return ok();
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
  const std::vector<TypedOption> typed = typed_options(table, arguments);
  std::vector<std::string> words;
  for (const Setting& setting : settings) {
    const OptionRow& row = *table.find(setting.option);
    if (std::any_of(typed.begin(), typed.end(), [&](const TypedOption& other) {
          return other.row != nullptr && stand_for_one_another(*other.row, row);
        }))
      continue;
    if (setting.values.empty() && setting.on) words.push_back("--" + row.key());
    for (const std::string& value : setting.values) words.push_back(fmt::format("--{}={}", row.key(), value));
  }
  return words;
}

}  // namespace penna
