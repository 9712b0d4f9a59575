// SPDX-License-Identifier: MIT
// Parameters: the part of a question after the ?, validated.
//
// Usage:  Parameters in(parameters); const int64_t t0 = in.number("t0", 0, 0, kMost); if (in.error()) …
// Invariant: every value returned is within its bounds; the first error is reported.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/printable.h"
#include "base/whole_number.h"
#include "view/server/http_server.h"

namespace penna {

class Parameters {
 public:
  explicit Parameters(const HttpParameters& given) : given_(given) {}  // must outlive it

  bool has(const std::string& name) const { return given_.count(name) != 0; }
  // An integer from `least` to `most`; `otherwise` if it is missing.
  int64_t number(const std::string& name, int64_t otherwise, int64_t least, int64_t most) {
    const auto found = given_.find(name);
    if (found == given_.end()) return otherwise;
    const std::string& text = found->second;
    if (const auto value = whole_number<int64_t>(text); value && *value >= least && *value <= most) return *value;
    refuse(fmt::format("{} is a whole number from {} to {}", name, least, most));
    return otherwise;
  }
  std::string text(const std::string& name, size_t most) {
    const auto found = given_.find(name);
    if (found == given_.end()) return {};
    if (found->second.size() <= most) return found->second;
    refuse(fmt::format("{} has more than {} bytes", name, most));
    return {};
  }
  void refuse(const std::string& sentence) {
    if (!error_) error_ = sentence;
  }
  const std::optional<std::string>& error() const { return error_; }

 private:
  const HttpParameters& given_;
  std::optional<std::string> error_;
};

}  // namespace penna
