// SPDX-License-Identifier: MIT
// See snapshot_conditions.h.
#include "options/snapshot_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "base/pattern.h"
#include "report/units.h"

namespace penna {
namespace {

using Kind = SnapshotCondition::Kind;

// What may follow a word: what stands in ( ), and after >.
struct Form {
  enum Need { kNone, kOptional, kRequired };
  std::string_view word;
  Kind kind;
  Need argument;
  enum Limit { kNothing, kTime, kSize } limit;
};
constexpr Form kForms[] = {
    {"wait", Kind::kWait, Form::kOptional, Form::kTime},  {"span", Kind::kSpan, Form::kRequired, Form::kTime},
    {"call", Kind::kCall, Form::kRequired, Form::kTime},  {"rss", Kind::kRss, Form::kNone, Form::kSize},
    {"live", Kind::kLive, Form::kNone, Form::kSize},      {"point", Kind::kPoint, Form::kRequired, Form::kNothing},
    {"crash", Kind::kCrash, Form::kNone, Form::kNothing}, {"end", Kind::kEnd, Form::kNone, Form::kNothing}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

Error wrong(std::string_view text) {
  return Error{fmt::format(
      "--on '{}' is no condition: write wait > 100ms, wait(LOCK) > 100ms, span(NAME) > 1s, call(FUNCTION) > 1s, rss > "
      "2GB, rss > +100MB (growth), live > 500MB, point(PROVIDER:NAME), point(PROVIDER:NAME, 'rows > 100'), crash or "
      "end; join them by ||",
      text)};
}

// How much of the text comes before the first character for which `ends` holds, outside of ( ) and "...".
template <typename Ends>
size_t length_until(std::string_view text, Ends&& ends) {
  int depth = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_quoted && depth == 0 && ends(text.substr(i))) return i;
    if (text[i] == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    depth += text[i] == '(' ? 1 : text[i] == ')' && depth > 0 ? -1 : 0;
  }
  return text.size();
}

// "NAME" or "NAME, CONDITION" of point(...).
Result<> parse_point(std::string_view argument, SnapshotCondition& condition) {
  const size_t comma = argument.find(',');
  condition.pattern = trimmed(argument.substr(0, comma));
  if (comma == std::string_view::npos) return ok();
  std::string_view where = trimmed(argument.substr(comma + 1));
  if (where.size() >= 2 && where.front() == '\'' && where.back() == '\'') where = where.substr(1, where.size() - 2);
  condition.where = PENNA_TRY(Where::parse(where));
  return ok();
}

Result<> parse_limit(const Form& form, std::string_view value, SnapshotCondition& condition) {
  if (form.limit == Form::kSize && value.starts_with('+')) {
    condition.is_growth = true;
    value.remove_prefix(1);
  }
  const std::optional<int64_t> limit = form.limit == Form::kTime ? parse_duration(value) : parse_bytes(value);
  if (!limit || *limit <= 0) return wrong(condition.text);
  condition.limit = static_cast<uint64_t>(*limit);
  return ok();
}

Result<SnapshotCondition> parse_one(std::string_view text) {
  SnapshotCondition condition;
  condition.text = trimmed(text);
  std::string_view rest = condition.text;
  const size_t letters = static_cast<size_t>(
      std::find_if(rest.begin(), rest.end(), [](unsigned char c) { return std::isalpha(c) == 0; }) - rest.begin());
  const auto form = std::find_if(std::begin(kForms), std::end(kForms),
                                 [&](const Form& one) { return one.word == rest.substr(0, letters); });
  if (form == std::end(kForms)) return wrong(condition.text);
  condition.kind = form->kind;
  rest = trimmed(rest.substr(letters));
  const bool has_argument = rest.starts_with('(');
  if (has_argument ? form->argument == Form::kNone : form->argument == Form::kRequired) return wrong(condition.text);
  if (has_argument) {
    const size_t inside = length_until(rest.substr(1), [](std::string_view from) { return from[0] == ')'; });
    const std::string_view argument = trimmed(rest.substr(1, inside));
    if (inside + 1 >= rest.size() || argument.empty()) return wrong(condition.text);
    if (form->kind == Kind::kPoint)
      PENNA_TRY(parse_point(argument, condition));
    else
      condition.pattern = argument;
    PENNA_TRY(check_pattern(condition.pattern));
    rest = trimmed(rest.substr(inside + 2));
  }
  if (form->limit == Form::kNothing ? !rest.empty() : !rest.starts_with('>')) return wrong(condition.text);
  if (form->limit != Form::kNothing) PENNA_TRY(parse_limit(*form, trimmed(rest.substr(1)), condition));
  return condition;
}

}  // namespace

Result<std::vector<SnapshotCondition>> parse_snapshot_conditions(const std::string& text) {
  std::vector<SnapshotCondition> conditions;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const size_t length = length_until(rest, [](std::string_view from) { return from.starts_with("||"); });
    more = length != rest.size();
    conditions.push_back(PENNA_TRY(parse_one(rest.substr(0, length))));
    if (more) rest.remove_prefix(length + 2);
  }
  return conditions;
}

penna_event_class class_of(const SnapshotCondition& condition) {
  switch (condition.kind) {
    case Kind::kWait: return PENNA_LOCKS;
    case Kind::kSpan:
    case Kind::kPoint: return PENNA_POINTS;
    case Kind::kCall: return PENNA_CALLS;
    case Kind::kLive: return PENNA_ALLOC;
    default: return PENNA_NO_CLASS;
  }
}

}  // namespace penna
