// SPDX-License-Identifier: MIT
// Suppressions: stacks whose leaks need no report. In LeakSanitizer's syntax: lines "leak:PATTERN", "#" begins a
// comment. https://clang.llvm.org/docs/AddressSanitizer.html#issue-suppression,
// https://github.com/google/sanitizers/wiki/AddressSanitizerLeakSanitizer#suppressions
//
// A pattern matches a stack if any function, source file or module in it contains the pattern; "*" stands for anything,
// a leading "^" and a trailing "$" anchor it to the beginning and the end.
// What the C and C++ libraries, the dynamic linker and replacement allocators allocate once and never free is known
// without a list. For these only their own frames count, from the allocation to the first frame of other code: a leak
// in the constructor of a library that they load is still reported.
// Invariant: a list that was read is complete: a line that is not understood is an error, not skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/names/stack_matcher.h"

namespace penna {

class Suppressions {
 public:
  static constexpr size_t kMost = 10'000;  // patterns

  // Adds the lines of a file's text. The error says which line is wrong.
  Result<> add(std::string_view text);

  bool match(const NameFrame& frame, const CodeMap& map) const;
  size_t size() const { return patterns_.size(); }

 private:
  std::vector<std::string> patterns_;
};

class LeakSuppressor {
 public:
  // `built_in`: including what the libraries keep. All must outlive it.
  LeakSuppressor(const Recording& recording, Names& names, const Suppressions& list, bool built_in);

  bool suppresses(uint32_t process, uint32_t stack);

 private:
  bool is_kept_by_libraries(uint32_t process, uint32_t stack) const;

  Names& names_;
  bool built_in_;
  StackMatcher listed_;
};

// Whether `text` contains a match of a list's pattern.
bool suppression_matches(std::string_view pattern, std::string_view text);

}  // namespace penna
