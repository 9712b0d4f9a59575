// SPDX-License-Identifier: MIT
// See wrong_words.h.
#include "options/wrong_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/nearest_name.h"

namespace penna {
namespace {

// "penna report [REC] [TABLE]"
std::string usage_of(const OptionTable& table) {
  std::string text = table.command;
  for (const WordRow& word : table.words) text += " " + word.usage;
  return text;
}

std::string needs_value(const TypedOption& option) {
  return fmt::format(
      "{} needs a value: {}", option.name,
      option.row->known.empty() ? option.row->value : fmt::format("{}", fmt::join(option.row->known, ", ")));
}

}  // namespace

// Nearly any other one-letter option is near: no guess for those.
Error no_such_option(const OptionTable& table, const std::string& name) {
  const std::string bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::vector<std::string> names;
  for (const OptionRow& row : table.options) names.push_back(row.key());
  const std::string near = bare.size() < 2 ? std::string() : nearest_of(bare, names);
  return Error{fmt::format("there is no option {}{}", name,
                           near.empty() ? std::string() : fmt::format("; did you mean --{}?", near))};
}

Error unexpected_word(const OptionTable& table, const std::string& word) {
  return Error{fmt::format("unexpected argument '{}': write {}", word, usage_of(table))};
}

Error missing_word(const OptionTable& table) {
  const auto missing = std::find_if(table.words.begin(), table.words.end(),
                                    [](const WordRow& word) { return !word.usage.starts_with('['); });
  return Error{fmt::format("{} is missing: write {}", missing == table.words.end() ? "a word" : missing->usage,
                           usage_of(table))};
}

Error contradiction(std::string_view a, std::string_view b) {
  return Error{fmt::format("{} and {} contradict each other: give one of them", a, b)};
}

Result<> check_options(const OptionTable& table, const std::vector<TypedOption>& typed) {
  for (const TypedOption& option : typed) {
    if (option.row == nullptr) return no_such_option(table, option.name);
    if (option.lacks_value) return Error{needs_value(option)};
    if (option.row->value.empty() && option.has_value)
      return Error{fmt::format("{} takes no value: leave out what is behind '='", option.name)};
    const auto is_same = [&](const TypedOption& other) { return other.row == option.row; };
    if (!option.row->value.empty() && !option.row->repeats && std::count_if(typed.begin(), typed.end(), is_same) > 1)
      return Error{fmt::format("{} is given more than once: give it once", option.name)};
  }
  return ok();
}

Error in_typed_words(Error error, const std::vector<TypedOption>& typed) {
  const size_t end = std::min(error.text.find_first_of(" :"), error.text.size());
  const std::string named = error.text.substr(0, end);
  const TypedOption* as_typed = nullptr;
  for (const TypedOption& option : typed) {
    if (option.row == nullptr || !option.row->has_name(named)) continue;
    if (option.name == named) return error;
    as_typed = &option;
  }
  if (as_typed != nullptr) error.text.replace(0, end, as_typed->name);
  return error;
}

}  // namespace penna
