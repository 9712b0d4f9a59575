// SPDX-License-Identifier: MIT
// Counts as a reader of English writes them. Invariant: the same number has the same text in tables and sentences.
#pragma once

#include <cstdint>
#include <string>

namespace penna {

std::string count_text(int64_t value);  // "12,345,678"

// "1 thread", "2 threads": the noun takes an s. plural_text(3, "entry", "entries") for others.
std::string plural_text(int64_t value, const char* noun);
std::string plural_text(int64_t value, const char* one, const char* many);

}  // namespace penna
