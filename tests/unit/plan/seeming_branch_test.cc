// SPDX-License-Identifier: MIT
// for_each_seeming_branch() looks at sixteen bytes at a time: here beside a search byte by byte.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "plan/arch.h"

namespace penna {
namespace {

using Branches = std::vector<std::pair<uint64_t, uint64_t>>;

Branches found_in(std::span<const uint8_t> code, uint64_t address) {
  Branches found;
  for_each_seeming_branch(code, address, [&](uint64_t from, uint64_t target) { found.emplace_back(from, target); });
  return found;
}

Branches expected_in(std::span<const uint8_t> code, uint64_t address) {
  Branches expected;
  for (size_t at = 0; at + 5 <= code.size(); ++at) {
    const bool jump = code[at] == 0xe8 || code[at] == 0xe9;
    if (!jump && !(at != 0 && code[at - 1] == 0x0f && code[at] >= 0x80 && code[at] <= 0x8f)) continue;
    int32_t distance = 0;
    std::memcpy(&distance, code.data() + at + 1, sizeof distance);
    expected.emplace_back(address + at - (jump ? 0 : 1), address + at + 5 + static_cast<uint64_t>(int64_t{distance}));
  }
  return expected;
}

TEST(SeemingBranch, IsFoundWhereverItBegins) {
  std::mt19937 random(1);
  const uint8_t likely[] = {0xe8, 0xe9, 0x0f, 0x80, 0x8f, 0x84, 0x90, 0x7f, 0xe7, 0xea};
  for (int round = 0; round < 20; ++round)
    for (size_t size = 0; size < 90; ++size) {
      std::vector<uint8_t> code(size);
      for (uint8_t& byte : code)
        byte = random() % 2 == 0 ? likely[random() % sizeof likely] : static_cast<uint8_t>(random());
      EXPECT_EQ(expected_in(code, 0x401000), found_in(code, 0x401000)) << size;
    }
}

// Nothing outside is read: the sanitized build would say so.
TEST(SeemingBranch, IsLookedForInTheCodeOnly) {
  for (size_t size = 0; size < 40; ++size) {
    const std::vector<uint8_t> code(size, 0xe8);
    EXPECT_EQ(size < 5 ? 0 : size - 4, found_in(code, 0).size());
  }
}

}  // namespace
}  // namespace penna
