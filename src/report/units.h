// SPDX-License-Identifier: MIT
// Numbers as people read them: 1.2 MB, 3.4 ms, 12,345.
//
// Why: one place decides on units, so that every table and sentence agrees. Decimal prefixes (1 kB = 1000 bytes).
// Invariant: pure functions, plain ASCII, no locale; three significant digits but never more precision than the input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/count_text.h"

namespace penna {

std::string bytes_text(int64_t bytes);     // "512 B", "1.20 MB"
std::string duration_text(int64_t ns);     // "87 ns", "3.40 ms", "12.3 s", "4 min 10 s", "27 h 46 min"
std::string percent_text(double percent);  // "12.3 %", "0.04 %", "< 0.01 %"
std::string address_text(uint64_t value);  // "0x7f00deadbeef"
// With sign, including "+": "+3.40 ms", "-12.3 %"; "0 ns" and "0 %" have none.
std::string change_text(int64_t ns);
std::string percent_change_text(double percent);
// Seconds with nanoseconds, for chronological listings: "12.000345678".
std::string timestamp_text(int64_t ns);

// User input: "10us", "1.5 ms", "2s" in nanoseconds, a unit is required; "1.5". Nothing for anything else, negative
// values or those beyond int64.
std::optional<int64_t> parse_duration(std::string_view text);
// "4096", "64 B", "10kB", "1.5MB" in thousands, "4KiB", "4k", "1M", "1m" in 1024s.
std::optional<int64_t> parse_bytes(std::string_view text);
std::optional<double> parse_number(std::string_view text);

}  // namespace penna
