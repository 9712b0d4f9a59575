// SPDX-License-Identifier: MIT
// PathPattern: which modules or source files a user means: "shop/pay.c", "libshop.so*": a glob over a whole path, or
// over its last components.
#pragma once

#include <string>
#include <utility>

namespace penna {

class PathPattern {
 public:
  explicit PathPattern(std::string text) : text_(std::move(text)) {}
  bool matches(const std::string& path) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace penna
