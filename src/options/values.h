// SPDX-License-Identifier: MIT
// The types that option values are parsed into, and the parser of each: durations, sizes, ranges, limits.
//
// Invariant: a value is parsed once, while OptionParser reads the command line. Its text is only kept for printing,
// never parsed again.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/pattern.h"
#include "base/result.h"
#include "model/verdict/call_limits.h"

namespace penna {

// A value and its text, which messages and recordings repeat.
template <typename Value>
struct Typed {
  Value value{};
  std::string text{};
};
using Duration = Typed<uint64_t>;  // ns
using ByteSize = Typed<uint64_t>;

// Parsers for OptionParser::value(). `option` is named in the error.
struct ParseDuration {
  const char* option;
  Result<Duration> operator()(const std::string& text) const;  // "10us", "1.5ms"
};
struct ParseShortTime {
  const char* option;
  Result<uint64_t> operator()(const std::string& text) const;  // ns, more than 0 and at most an hour
};
struct ParseByteSize {
  const char* option;
  Result<ByteSize> operator()(const std::string& text) const;  // "0", "64k", "1.5MB"
};

// "10us", for --min-time.
Result<Duration> parse_min_time(const std::string& text);

// Nanoseconds since the recording's start, [begin, end).
struct TimeRange {
  static constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();
  int64_t begin = 0;
  int64_t end = kForEver;
  bool is_of_days = false;  // they are days since 1970: of a server, not of a recording
};
// "1.2s-3s", "1.2s..3s", "1.2s-", "-3s", "1.2s+500ms".
Result<TimeRange> parse_range(const std::string& text);
Result<Typed<TimeRange>> parse_typed_range(const std::string& text);
// Also "2026-11-20", "2026-11-20..2026-11-21", "2026-11-20..21", both days included.
Result<Typed<TimeRange>> parse_range_or_days(const std::string& text);

// Both ends are included.
struct Bounds {
  std::optional<uint64_t> low, high;
};
// "64", "64..", "..4k", "64..4k", each number by `parse`.
std::optional<Bounds> parse_bounds(std::string_view text, std::optional<int64_t> (*parse)(std::string_view));
Result<Bounds> parse_sizes(const std::string& text);      // bytes, of --size
Result<Bounds> parse_lifetimes(const std::string& text);  // ns, of --lifetime

Result<uint32_t> parse_percent(const std::string& text);             // "10%", "10", of --max-overhead
Result<uint64_t> parse_sample_bytes(const std::string& text);        // "512k"
Result<uint32_t> parse_pool_mib(const std::string& text);            // "64" (MiB), "1G"; rounded down to whole MiB
Result<Typed<uint64_t>> parse_rate(const std::string& text);         // bytes per second: "10MB/s", "512k"
Result<Typed<CallLimit>> parse_call_limit(const std::string& text);  // "parse*=0", of --max-allocs

// diff's noise threshold: which interpretation applies depends on what is compared.
struct MinDelta {
  std::optional<int64_t> ns, bytes;
  std::optional<double> percent;
};
Result<Typed<MinDelta>> parse_min_delta(const std::string& text);

// A glob or a regular expression.
template <typename Pattern>
Result<Pattern> parse_any_pattern(const std::string& text) {
  PENNA_TRY(check_pattern(text));
  return Pattern(text);
}
template <typename Pattern>
Result<Pattern> parse_pattern(const std::string& text) {
  if (text.empty()) return Error{"a pattern is empty: write a name, where * stands for anything"};
  return parse_any_pattern<Pattern>(text);
}

}  // namespace penna
