// SPDX-License-Identifier: MIT
// Counts, and how they are written in English.
//
// Why a limit: processes and files may report any number, and sums of such numbers overflow. Nothing that is counted
// one by one comes near it. Invariant: the same number has the same text in tables and sentences; one at the limit says
// that it may be more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace penna {

constexpr uint64_t kMostCounted = uint64_t{1} << 53;
constexpr uint64_t bounded_count(uint64_t count) { return std::min(count, kMostCounted); }
constexpr uint64_t add_counts(uint64_t sum, uint64_t more) {
  return bounded_count(bounded_count(sum) + bounded_count(more));
}
// For a struct that consists only of counters.
template <typename T>
void bound_counts(T& counters) {
  static_assert(sizeof counters % sizeof(uint64_t) == 0);
  auto* first = reinterpret_cast<uint64_t*>(&counters);
  std::transform(first, first + sizeof counters / sizeof(uint64_t), first, bounded_count);
}

std::string count_text(int64_t value);  // "12,345,678"; "at least 9,007,199,254,740,992"

// "1 thread", "2 threads": the noun takes an s. plural_text(3, "entry", "entries") for others.
std::string plural_text(int64_t value, const char* noun);
std::string plural_text(int64_t value, const char* one, const char* many);

}  // namespace penna
