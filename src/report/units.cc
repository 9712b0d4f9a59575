// SPDX-License-Identifier: MIT
// See units.h. Magnitudes are unsigned, so that the lowest int64 needs no special case.
#include "report/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace penna {
namespace {

uint64_t magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
}

// Three significant digits of a value below 1000, rounded: the limits are where rounding adds a digit. By hand, because
// a replay prints one per line.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const int scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
  const int digits = static_cast<int>(std::lround(value * scale));
  std::string text = std::to_string(digits / scale);
  if (decimals == 0) return text;
  text += '.';
  if (decimals == 2) text += static_cast<char>('0' + digits / 10 % 10);
  return text + static_cast<char>('0' + digits % 10);
}

struct Unit {
  double size;
  const char* name;
};

// The largest unit in which the rounded value is at least 1: 999,950 B is "1.00 MB".
template <size_t kCount>
std::string scaled(uint64_t value, const Unit (&units)[kCount], const char* base) {
  const double number = static_cast<double>(value);
  for (const Unit& unit : units)
    if (number >= unit.size * 0.9995) return three_digits(number / unit.size) + " " + unit.name;
  return std::to_string(value) + " " + base;
}

// A number and one of the units, optionally separated by blanks. Nothing if the product exceeds int64.
template <size_t kCount>
std::optional<int64_t> parse_with(std::string_view text, const Unit (&units)[kCount]) {
  const size_t end = text.find_last_of("0123456789.") + 1;  // 0 if none
  const std::string_view unit = text.substr(std::min(text.find_first_not_of(' ', end), text.size()));
  const std::optional<double> value = parse_number(text.substr(0, end));
  for (const Unit& known : units)
    if (value && unit == known.name && *value * known.size < 9.2e18) return std::llround(*value * known.size);
  return std::nullopt;
}

}  // namespace

std::string bytes_text(int64_t bytes) {
  static constexpr Unit kUnits[] = {{1e18, "EB"}, {1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  return (bytes < 0 ? "-" : "") + scaled(magnitude(bytes), kUnits, "B");
}

std::string duration_text(int64_t ns) {
  static constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  const std::string sign = ns < 0 ? "-" : "";
  const uint64_t value = magnitude(ns);
  const uint64_t seconds = value / 1'000'000'000;
  if (seconds >= 3600) return sign + fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
  if (seconds >= 60) return sign + fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return sign + scaled(value, kUnits, "ns");
}

// !(x > 0), so that NaN is "0 %".
std::string percent_text(double percent) {
  if (!(percent > 0)) return "0 %";
  if (percent < 0.01) return "< 0.01 %";
  return fmt::format("{:.{}f} %", percent, percent < 1 ? 2 : 1);
}

std::string change_text(int64_t ns) { return (ns > 0 ? "+" : "") + duration_text(ns); }

std::string percent_change_text(double percent) {
  const std::string text = percent_text(std::fabs(percent));
  return percent == 0 || text[0] == '<' ? text : (percent < 0 ? "-" : "+") + text;
}

// Not strtod(3), whose decimal point depends on the locale; also rejects hexadecimal and exponents.
std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<int64_t> parse_duration(std::string_view text) {
  static constexpr Unit kUnits[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {6e10, "min"}, {3.6e12, "h"}};
  return parse_with(text, kUnits);
}

std::optional<int64_t> parse_bytes(std::string_view text) {
  constexpr double kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi, kTi = kGi * kKi;
  static constexpr Unit kUnits[] = {{1, ""},      {1, "B"},     {1e3, "kB"},  {1e6, "MB"},  {1e9, "GB"}, {1e12, "TB"},
                                    {kKi, "KiB"}, {kMi, "MiB"}, {kGi, "GiB"}, {kTi, "TiB"}, {kKi, "k"},  {kKi, "K"},
                                    {kMi, "M"},   {kGi, "G"},   {kTi, "T"},   {kMi, "m"},   {kGi, "g"},  {kTi, "t"}};
  return parse_with(text, kUnits);
}

std::string address_text(uint64_t value) { return fmt::format("{:#x}", value); }

// By hand: a replay prints one per line.
std::string timestamp_text(int64_t ns) {
  const uint64_t value = magnitude(ns);
  std::string text = (ns < 0 ? "-" : "") + std::to_string(value / 1'000'000'000) + ".000000000";
  uint64_t rest = value % 1'000'000'000;
  for (size_t at = text.size(); rest != 0; rest /= 10) text[--at] = static_cast<char>('0' + rest % 10);
  return text;
}

}  // namespace penna
