// SPDX-License-Identifier: MIT
// Questions to a PatchPlanner, and its answers, decoded and checked according to penna/patch_plan.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "plan/patch_planner.h"

namespace penna::test {

inline constexpr uint64_t kBias = 0x555555000000, kSize = 0x100000, kHook = 0x7ffff7a00000;

inline penna_patch_question question_about(const std::string& path) {
  penna_patch_question question{};
  question.bias = kBias;
  question.start = kBias;
  question.end = kBias + kSize;
  question.near = kBias - 0x200000;
  question.near_bytes = 0x10000;
  question.enter = kHook;
  question.path_bytes = static_cast<uint32_t>(path.copy(question.path, sizeof question.path));
  if (auto file = ElfFile::open(path)) {
    question.build_id_bytes = static_cast<uint32_t>(file->build_id().size());
    std::copy(file->build_id().begin(), file->build_id().end(), question.build_id);
  }
  return question;
}

// A plan's parts, checked as the format says.
struct Plan {
  penna_patch_plan head{};
  std::vector<penna_near> nears;
  std::vector<penna_patch> patches;

  explicit Plan(const std::vector<uint8_t>& bytes, std::span<const penna_patch_question> questions) {
    size_t at = 0;
    const auto take = [&](void* to, size_t size) {
      ASSERT_LE(at + size, bytes.size());
      if (size != 0) std::memcpy(to, bytes.data() + at, size);
      at += size;
    };
    take(&head, sizeof head);
    EXPECT_EQ(head.magic, PENNA_PATCH_MAGIC);
    EXPECT_EQ(head.version, uint32_t{PENNA_ABI_VERSION});
    EXPECT_EQ(head.modules, questions.size());
    nears.resize(head.modules);
    take(nears.data(), nears.size() * sizeof nears[0]);
    patches.resize(head.patches);
    take(patches.data(), patches.size() * sizeof patches[0]);
    EXPECT_EQ(at + head.near_bytes + head.name_bytes, bytes.size());
    for (size_t i = 0; i < nears.size(); ++i) {
      EXPECT_LE(nears[i].bytes, questions[i].near_bytes);
      EXPECT_LE(uint64_t{nears[i].offset} + nears[i].bytes, head.near_bytes);
      EXPECT_LE(uint64_t{nears[i].first} + nears[i].patches, head.patches);
      for (uint32_t p = nears[i].first; p < nears[i].first + nears[i].patches; ++p) {
        EXPECT_GE(patches[p].address, questions[i].start);
        EXPECT_LT(patches[p].address, questions[i].end);
        EXPECT_LE(patches[p].bytes, 16);
        EXPECT_LE(patches[p].head, 8);
      }
    }
  }
};

inline Plan plan_of(PatchPlanner& planner, const std::vector<penna_patch_question>& questions) {
  return Plan(planner.answer(questions, ""), questions);
}

}  // namespace penna::test
