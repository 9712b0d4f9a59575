// SPDX-License-Identifier: MIT
// Suppressions: stacks whose leaks are no news. In the syntax of LeakSanitizer: lines "leak:PATTERN", "#" begins a
// comment. https://clang.llvm.org/docs/AddressSanitizer.html#issue-suppression,
// https://github.com/google/sanitizers/wiki/AddressSanitizerLeakSanitizer#suppressions
//
// A pattern is met by any function, source file or module of a stack that contains it; "*" stands for anything, "^" in
// front and "$" behind tie it to the beginning and the end.
// What the C and C++ libraries, the dynamic linker and allocators in libc's place allocate once and never free is known
// without a list. There, only their own frames count, from the allocation to the first of other code: a constructor
// that leaks in a library that they load is news.
// Invariant: a list that was read is complete: a line that is not understood is an error, not left out.
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

  // Adds the lines of a file's text. The error names the line.
  Result<> add(std::string_view text);

  bool match(const NameFrame& frame, const CodeMap& map) const;
  size_t size() const { return patterns_.size(); }

 private:
  std::vector<std::string> patterns_;
};

class LeakSuppressor {
 public:
  // `built_in`: with what the libraries keep. All must outlive it.
  LeakSuppressor(const Recording& recording, Names& names, const Suppressions& list, bool built_in);

  bool suppresses(uint32_t process, uint32_t stack);

 private:
  bool is_kept_by_libraries(uint32_t process, uint32_t stack) const;

  Names& names_;
  bool built_in_;
  StackMatcher listed_;
};

// Whether `text` contains what a pattern of such a list means.
bool suppression_matches(std::string_view pattern, std::string_view text);

}  // namespace penna
