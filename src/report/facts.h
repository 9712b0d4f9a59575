// SPDX-License-Identifier: MIT
// Facts: "field  value" lines, as a table without titles.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"

namespace penna {

class Facts {
 public:
  // Ignores an empty value. `field`: a literal.
  void add(const char* field, std::string value) {
    if (!value.empty()) facts_.push_back({field, std::move(value)});
  }
  Table take(const char* key);  // once

 private:
  struct Fact {
    const char* field;
    std::string value;
  };
  std::vector<Fact> facts_;
};

}  // namespace penna
