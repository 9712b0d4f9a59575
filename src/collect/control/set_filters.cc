// SPDX-License-Identifier: MIT
// See set_filters.h.
#include "collect/control/set_filters.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/pattern.h"
#include "collect/settings.h"

namespace penna {
namespace {

struct KindWord {
  const char *word, *option, *event_kind;
  uint32_t event_class;
};
constexpr KindWord kWords[] = {{"where", "--where", "points", PENNA_POINTS},
                               {"function", "-F", "calls", PENNA_CALLS},
                               {"no-function", "-N", "calls", PENNA_CALLS}};
const KindWord& words_of(FilterKind kind) { return kWords[static_cast<size_t>(kind)]; }

}  // namespace

Result<FilterKind> filter_kind_of(std::string_view word) {
  for (size_t i = 0; i < std::size(kWords); ++i)
    if (word == kWords[i].word) return static_cast<FilterKind>(i);
  return Error{"this recorder knows no such filter; is it another version?"};
}
const char* word_of(FilterKind kind) { return words_of(kind).word; }
const char* option_of(FilterKind kind) { return words_of(kind).option; }

Result<> SetFilters::check(const Filter& filter, bool on, uint32_t recorded) const {
  const KindWord& words = words_of(filter.kind);
  const bool is_set = std::find(filters_.begin(), filters_.end(), filter) != filters_.end();
  const std::string name = fmt::format("{} '{}'", words.option, filter.text);
  if (!on) return is_set ? ok() : Error{fmt::format("{} is not set", name)};
  if (filter.text.empty() || filter.text.size() > kMostText)
    return Error{fmt::format("a filter has 1 to {} characters", kMostText)};
  if (std::any_of(filter.text.begin(), filter.text.end(), [](unsigned char one) { return one < ' '; }))
    return Error{"a filter is one line, without tabs"};
  if ((recorded >> words.event_class & 1) == 0)
    return Error{
        fmt::format("this recording does not take {0}: start it with {0} among its kinds (-k {0})", words.event_kind)};
  if (filter.kind != FilterKind::kWhere) {
    if (!chooser_) return Error{"a program that records itself keeps the calls of all its functions"};
    PENNA_TRY(check_pattern(filter.text));
  } else {
    PENNA_TRY(Where::parse(filter.text));
  }
  if (is_set) return Error{fmt::format("{} is set already", name)};
  if (filters_.size() >= kMostFilters)
    return Error{fmt::format("{} filters are set, and no more can be: remove one first", kMostFilters)};
  return ok();
}

std::vector<std::string> SetFilters::texts(FilterKind kind) const {
  std::vector<std::string> found;
  for (const Filter& one : filters_)
    if (one.kind == kind) found.push_back(one.text);
  return found;
}

Collector::FilterChange SetFilters::describe(const Filter& changed, bool on) {
  auto conditions = std::make_shared<std::vector<Where>>();
  for (const std::string& text : texts(FilterKind::kWhere))
    if (auto where = Where::parse(text)) conditions->push_back(std::move(*where));
  const bool is_condition = changed.kind == FilterKind::kWhere;
  if (!is_condition) {
    const std::vector<std::string> only = texts(FilterKind::kOnly), never = texts(FilterKind::kNever);
    functions_ = only.empty() && never.empty() ? ChosenFunctions() : chooser_(only, never);
  }
  Collector::FilterChange change;
  change.what = fmt::format("{} '{}' was {}", option_of(changed.kind), changed.text, on ? "set" : "removed");
  change.functions = functions_;
  if (on) {
    change.effect = ": what does not meet it from then on is not recorded";
    change.missed = 1u << words_of(changed.kind).event_class;
    if (is_condition) change.counted = &conditions->back();
  }
  change.conditions = std::move(conditions);
  return change;
}

Result<uint32_t> SetFilters::change(bool on, FilterKind kind, const std::string& text, uint32_t recorded) {
  const Filter filter{kind, text};
  PENNA_TRY(check(filter, on, recorded));
  if (on)
    filters_.push_back(filter);
  else
    std::erase(filters_, filter);
  const auto count = collector_->change_filters(describe(filter, on));
  return count ? static_cast<uint32_t>(std::min<size_t>(*count, kUnknown - 1)) : kUnknown;
}

std::string SetFilters::list() const {
  std::string line;
  for (const Filter& one : filters_) line += fmt::format("\t{} {}", word_of(one.kind), one.text);
  return line;
}

}  // namespace penna
