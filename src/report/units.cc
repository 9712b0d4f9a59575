// SPDX-License-Identifier: MIT
// See units.h. Magnitudes are taken as unsigned, so that the lowest int64 is as good as any other value.
#include "report/units.h"

#include <fmt/format.h>

namespace penna {
namespace {

uint64_t magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
}

// Three significant digits of a value below 1000.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

struct Unit {
  double size;
  const char* name;
};

// The largest unit in which the rounded value is still 1 or more.
template <size_t kCount>
std::string scaled(uint64_t value, const Unit (&units)[kCount], const char* base) {
  const double number = static_cast<double>(value);
  for (const Unit& unit : units)
    if (number >= unit.size * 0.9995) return three_digits(number / unit.size) + " " + unit.name;
  return fmt::format("{} {}", value, base);
}

}  // namespace

std::string count_text(int64_t value) {
  const std::string digits = std::to_string(magnitude(value));
  std::string text = value < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

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

std::string percent_text(double percent) {
  if (!(percent > 0)) return "0 %";
  if (percent < 0.01) return "< 0.01 %";
  return fmt::format("{:.{}f} %", percent, percent < 1 ? 2 : 1);
}

std::string address_text(uint64_t value) { return fmt::format("{:#x}", value); }

std::string timestamp_text(int64_t ns) {
  const uint64_t value = magnitude(ns);
  return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", value / 1'000'000'000, value % 1'000'000'000);
}

std::string plural_text(int64_t value, const char* one, const char* many) {
  return count_text(value) + " " + (value == 1 ? one : many);
}

std::string plural_text(int64_t value, const char* noun) {
  return count_text(value) + " " + noun + (value == 1 ? "" : "s");
}

}  // namespace penna
