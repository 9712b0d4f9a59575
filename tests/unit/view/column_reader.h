// SPDX-License-Identifier: MIT
// Reads ColumnAnswer's output like the page, using only its header.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace penna {

class ColumnReader {
 public:
  explicit ColumnReader(const std::string& answer) : answer_(answer) {
    EXPECT_EQ(answer.substr(0, 4), "PNV1");
    uint32_t bytes = 0;
    std::memcpy(&bytes, answer.data() + 4, sizeof bytes);
    header_ = answer.substr(8, bytes);
  }
  const std::string& header() const { return header_; }
  template <typename T>
  std::vector<T> column(const std::string& name) const {
    const size_t at = header_.find("{\"name\":\"" + name + "\"");
    EXPECT_NE(at, std::string::npos) << name;
    const auto number = [&](const std::string& key) {
      return std::stoull(header_.substr(header_.find("\"" + key + "\":", at) + key.size() + 3));
    };
    const size_t offset = number("offset");
    EXPECT_EQ(offset % 8, 0u);
    std::vector<T> values(number("count"));
    EXPECT_LE(offset + values.size() * sizeof(T), answer_.size());
    std::memcpy(values.data(), answer_.data() + offset, values.size() * sizeof(T));
    return values;
  }

 private:
  std::string answer_, header_;
};

}  // namespace penna
