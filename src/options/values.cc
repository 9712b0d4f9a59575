// SPDX-License-Identifier: MIT
// See values.h.
#include "options/values.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "base/whole_number.h"
#include "report/units.h"

namespace penna {

Result<Duration> ParseDuration::operator()(const std::string& text) const {
  if (const auto ns = parse_duration(text)) return Duration{static_cast<uint64_t>(*ns), text};
  return Error{fmt::format("{} is a duration, as 10us or 1.5ms, not '{}'", option, text)};
}

Result<uint64_t> ParseShortTime::operator()(const std::string& text) const {
  constexpr int64_t kMost = int64_t{3600} * 1'000'000'000;
  const auto ns = parse_duration(text);
  if (ns && *ns > 0 && *ns <= kMost) return static_cast<uint64_t>(*ns);
  return Error{fmt::format("{} is a time with its unit up to an hour, as 10us or 1.5ms, not '{}'", option, text)};
}

Result<ByteSize> ParseByteSize::operator()(const std::string& text) const {
  if (const auto bytes = parse_bytes(text)) return ByteSize{static_cast<uint64_t>(*bytes), text};
  return Error{fmt::format("{} is a number of bytes, as 0, 64k or 1.5MB, not '{}'", option, text)};
}

Result<Duration> parse_min_time(const std::string& text) {
  if (const auto ns = parse_duration(text)) return Duration{static_cast<uint64_t>(*ns), text};
  return Error{fmt::format("--min-time is a time with its unit, as 10us or 1.5ms, not '{}'", text)};
}

// ".." and '-' both separate two ends; '+' begins a length.
Result<TimeRange> parse_range(const std::string& text) {
  const Error wrong{
      fmt::format("--range is a time from the start, as 1.2s-3s, 1.2s-, -3s or 1.2s+500ms, not '{}'", text)};
  const size_t dots = text.find("..");
  const size_t at = dots != std::string::npos ? dots : text.find_first_of("-+");
  const size_t sign = dots != std::string::npos ? 2 : 1;
  if (at == std::string::npos || text.size() == sign) return wrong;
  const std::string from = text.substr(0, at), to = text.substr(at + sign);
  TimeRange range;
  if (!from.empty() && from != "0") {
    const auto ns = parse_duration(from);
    if (!ns) return wrong;
    range.begin = *ns;
  }
  if (!to.empty()) {
    const auto ns = parse_duration(to);
    if (!ns) return wrong;
    // '+' counts from the beginning. A sum that overflows means: to the end.
    range.end = text[at] != '+'                           ? *ns
                : *ns > TimeRange::kForEver - range.begin ? TimeRange::kForEver
                                                          : range.begin + *ns;
  } else if (text[at] == '+') {
    return wrong;
  }
  if (range.begin >= range.end)
    return Error{fmt::format("--range '{}' is empty: its end lies before its beginning", text)};
  return range;
}

Result<Typed<TimeRange>> parse_typed_range(const std::string& text) {
  return Typed<TimeRange>{PENNA_TRY(parse_range(text)), text};
}

namespace {

// Days since 1970 of "2026-11-20".
std::optional<int64_t> parse_day(const std::string& text) {
  int year = 0, month = 0, day = 0, used = 0;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 || used != 10)
    return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

}  // namespace

Result<Typed<TimeRange>> parse_range_or_days(const std::string& text) {
  const std::string first = text.substr(0, 10);
  const std::optional<int64_t> begin = parse_day(first);
  if (!begin) return parse_typed_range(text);
  std::string last = text.size() == first.size() ? first : text.substr(text.starts_with(first + "..") ? 12 : 10);
  // What it does not say is as in the first day.
  if (last.size() == 2 || last.size() == 5) last.insert(0, first.substr(0, 10 - last.size()));
  const std::optional<int64_t> end = parse_day(last);
  if (!end || *end < *begin)
    return Error{fmt::format("--range is a day or days, as 2026-11-20 or 2026-11-20..21, not '{}'", text)};
  return Typed<TimeRange>{{*begin, *end + 1, true}, text};
}

// Without ".." one value is both ends. Reversed ends are no range.
std::optional<Bounds> parse_bounds(std::string_view text, std::optional<int64_t> (*parse)(std::string_view)) {
  const size_t dots = text.find("..");
  const std::string_view low = text.substr(0, dots);
  const std::string_view high = dots == text.npos ? text : text.substr(dots + 2);
  if (low.empty() && high.empty()) return std::nullopt;
  Bounds bounds;
  for (const auto& [words, bound] : {std::pair{low, &bounds.low}, {high, &bounds.high}}) {
    if (words.empty()) continue;
    const auto value = parse(words);
    if (!value) return std::nullopt;
    *bound = static_cast<uint64_t>(*value);
  }
  if (bounds.low && bounds.high && *bounds.low > *bounds.high) return std::nullopt;
  return bounds;
}

Result<Bounds> parse_sizes(const std::string& text) {
  if (const auto bounds = parse_bounds(text, parse_bytes)) return *bounds;
  return Error{
      fmt::format("--size is a number of bytes or a range of them, as 64, 64.., ..4k or 1k..1M, not '{}'", text)};
}

Result<Bounds> parse_lifetimes(const std::string& text) {
  // No block lives for exactly that long.
  if (const auto bounds = parse_bounds(text, parse_duration); bounds && text.find("..") != std::string::npos)
    return *bounds;
  return Error{
      fmt::format("--lifetime is a range of times with their units, as 1ms.., ..10us or 1us..1ms, not '{}'", text)};
}

Result<uint32_t> parse_percent(const std::string& text) {
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  const uint32_t percent = whole_number<uint32_t>(number).value_or(0);
  if (percent == 0 || percent > 1000)
    return Error{fmt::format("--max-overhead {}: give a percentage from 1% to 1000%", text)};
  return percent;
}

Result<uint64_t> parse_sample_bytes(const std::string& text) {
  constexpr int64_t kLeast = 1024, kMost = int64_t{1} << 40;
  const std::optional<int64_t> bytes = parse_bytes(text);
  if (!bytes || *bytes < kLeast || *bytes > kMost)
    return Error{fmt::format("--sample-bytes {}: give a number of bytes from 1k to 1024g, such as 512k", text)};
  return static_cast<uint64_t>(*bytes);
}

// A bare number is in MiB, as the option always accepted; with a unit it is a size.
Result<uint32_t> parse_pool_mib(const std::string& text) {
  constexpr int64_t kMi = 1 << 20, kLeast = 4, kMost = 4096;
  const bool bare = text.find_first_not_of("0123456789") == std::string::npos;
  const std::optional<int64_t> bytes = parse_bytes(bare ? text + "MiB" : text);
  if (!bytes || *bytes / kMi < kLeast || *bytes > kMost * kMi)
    return Error{fmt::format("--pool {}: give MiB from 4 to 4096, or a size such as 64M", text)};
  return static_cast<uint32_t>(*bytes / kMi);
}

Result<Typed<uint64_t>> parse_rate(const std::string& text) {
  std::string_view size = text;
  if (size.ends_with("/s")) size.remove_suffix(2);
  if (const std::optional<int64_t> bytes = parse_bytes(size))
    return Typed<uint64_t>{static_cast<uint64_t>(*bytes), text};
  return Error{fmt::format("--max-alloc-rate is a number of bytes in a second, as 512k or 10MB/s, not '{}'", text)};
}

// Split at the last '=': names of operators have one ("operator==").
Result<Typed<CallLimit>> parse_call_limit(const std::string& text) {
  const size_t sign = text.rfind('=');
  const auto allowed =
      sign == std::string::npos ? std::nullopt : whole_number<uint64_t>(std::string_view(text).substr(sign + 1));
  if (sign == 0 || !allowed)
    return Error{fmt::format("--max-allocs is a function and a number, as 'parse*=0', not '{}'", text)};
  PENNA_TRY(check_pattern(text.substr(0, sign)));
  return Typed<CallLimit>{{FunctionPattern(text.substr(0, sign)), *allowed}, text};
}

// Never fails: which interpretation makes sense is known only with what is compared; quiet_limit() refuses then.
Result<Typed<MinDelta>> parse_min_delta(const std::string& text) {
  MinDelta delta{parse_duration(text), parse_bytes(text), std::nullopt};
  if (text.ends_with('%')) delta.percent = parse_number(std::string_view(text).substr(0, text.size() - 1));
  if (delta.percent && *delta.percent > 100) delta.percent.reset();
  return Typed<MinDelta>{delta, text};
}

}  // namespace penna
