// SPDX-License-Identifier: MIT
// Where functions return, and which places uprobes take: of programs made by the real compiler and assembler.
#include "breakpoint/uprobe_places.h"

#include <gtest/gtest.h>

#include <string>

#include "breakpoint/uprobe_returns.h"
#include "symbols/programs.h"

namespace penna {
namespace {

constexpr char kAssembled[] = R"(
.text
.macro begin name
.globl \name
.type \name, @function
\name:
.endm
.macro end name
.size \name, . - \name
.endm
begin two_returns
  test %rdi, %rdi
  je 1f
  ret
1: rep ret
end two_returns
begin pops
  ret $16
end pops
begin goes_on
  nop
  jmp two_returns
end goes_on
begin through_pointer
  jmp *%rax
end through_pointer
begin to_other_module
  jmp *slot(%rip)
end to_other_module
begin with_cold_part
  test %rdi, %rdi
  je nameless
back: ret
end with_cold_part
begin chooses
  lea table(%rip), %rdx
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
  jmp *%rax
2: ret
3: nop
  ret
end chooses
begin vector_like_je
  vpcmpeqb %xmm0, %xmm1, %xmm2
  ret
end vector_like_je
begin vector_like_jp
  vpbroadcastb %esi, %ymm17
  ret
end vector_like_jp
begin vector_like_return
  vcmpps $1, %xmm0, %xmm1, %xmm2
  ret
end vector_like_return
begin other_vector
  vxorps %xmm0, %xmm0, %xmm0
  ret
end other_vector
begin never_returns
  ud2
end never_returns
  int3
nameless:
  nop
  jmp back
.section .rodata
table: .long 2b - table, 3b - table
.data
slot: .quad 0
)";

class UprobeReturnsTest : public ::testing::Test {
 protected:
  UprobeReturnsTest()
      : path_(test::build_text("gcc -shared -nostdlib -x assembler", "returns.s", kAssembled)),
        file_(ElfFile::open(path_)) {}
  uint64_t at(const char* name) const { return test::address_of(path_, name); }
  FoundReturns of(const char* name) const { return UprobeReturns(*file_).of(at(name)); }

  const std::string path_;
  Result<ElfFile> file_;
};

TEST_F(UprobeReturnsTest, AreFoundInBothForms) {
  const FoundReturns found = of("two_returns");
  EXPECT_EQ(found.refusal, nullptr);
  EXPECT_EQ(found.returns, (std::set<uint64_t>{at("two_returns") + 5, at("two_returns") + 6}));
}

TEST_F(UprobeReturnsTest, ThatPopArgumentsAsWell) { EXPECT_EQ(of("pops").returns, std::set<uint64_t>{at("pops")}); }

TEST_F(UprobeReturnsTest, OfTailCalls) {
  EXPECT_EQ(of("goes_on").returns, of("two_returns").returns);
  EXPECT_EQ(of("goes_on").refusal, nullptr);
}

TEST_F(UprobeReturnsTest, OfPartsWithoutASymbol) {
  const FoundReturns found = of("with_cold_part");
  EXPECT_EQ(found.refusal, nullptr);
  EXPECT_EQ(found.returns.size(), 1u);
}

TEST_F(UprobeReturnsTest, OfSwitches) {
  EXPECT_EQ(of("chooses").refusal, nullptr);
  EXPECT_EQ(of("chooses").returns.size(), 2u);
}

TEST_F(UprobeReturnsTest, UnknownWaysOutAreRefused) {
  ASSERT_NE(of("through_pointer").refusal, nullptr);
  ASSERT_NE(of("to_other_module").refusal, nullptr);
  EXPECT_STREQ(of("to_other_module").refusal, "may leave by a jump to another module");
}

TEST_F(UprobeReturnsTest, FunctionsMayHaveNone) {
  EXPECT_EQ(of("never_returns").refusal, nullptr);
  EXPECT_TRUE(of("never_returns").returns.empty());
}

FilePlan plan_of(uint64_t address, const Meaning& meaning) {
  FilePlan plan;
  plan.places.push_back({address, meaning, "it"});
  return plan;
}

TEST_F(UprobeReturnsTest, PlacesAreFileOffsetsOfEntriesAndReturns) {
  Meaning call;
  call.is_call = true;
  const UprobePlaces places = find_uprobe_places(*file_, plan_of(at("two_returns"), call), false);
  EXPECT_EQ(places.entries.size(), 1u);
  EXPECT_EQ(places.returns.size(), 2u);
  ASSERT_EQ(places.in_file.size(), 3u);
  const auto bytes = test::read_bytes(path_);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(bytes.at(places.in_file[i].offset), file_->bytes_at(places.addresses[i], 1)[0]);
  EXPECT_EQ(places.in_file[0].copies, UprobeCopies::kWord);
  EXPECT_EQ(places.in_file[1].copies, UprobeCopies::kWord);
}

TEST_F(UprobeReturnsTest, WhatTheKernelWouldMistakeIsRefused) {
  Meaning call;
  call.is_call = true;
  for (const char* name : {"vector_like_je", "vector_like_jp", "vector_like_return", "other_vector"}) {
    const UprobePlaces places = find_uprobe_places(*file_, plan_of(at(name), call), false);
    EXPECT_EQ(places.entries.empty(), name != std::string("other_vector")) << name;
    EXPECT_EQ(places.refused.size(), places.entries.empty() ? 1u : 0u) << name;
  }
}

// One place, not two: both programs would write a record.
TEST_F(UprobeReturnsTest, AFunctionThatOnlyReturnsHasOneUprobe) {
  Meaning call;
  call.is_call = true;
  const UprobePlaces places = find_uprobe_places(*file_, plan_of(at("pops"), call), false);
  EXPECT_EQ(places.in_file.size(), 1u);
  EXPECT_EQ(places.returns, std::vector<uint64_t>{at("pops")});
}

TEST_F(UprobeReturnsTest, WhatEachKindOfEventNeeds) {
  const auto copies = [&](const Meaning& meaning, bool with_free_stacks = false) {
    return find_uprobe_places(*file_, plan_of(at("two_returns"), meaning), with_free_stacks).in_file.at(0).copies;
  };
  Meaning meaning;
  meaning.allocator = AllocatorCall::kMalloc;
  EXPECT_EQ(copies(meaning), UprobeCopies::kStack);
  meaning.allocator = AllocatorCall::kFree;
  EXPECT_EQ(copies(meaning), UprobeCopies::kWord);
  EXPECT_EQ(copies(meaning, true), UprobeCopies::kStack);
  meaning = {};
  meaning.lock = LockCall::kTake;
  EXPECT_EQ(copies(meaning), UprobeCopies::kStackAndArgument);
  meaning.lock = LockCall::kGive;
  EXPECT_EQ(copies(meaning), UprobeCopies::kArgument);
}

// Not where an exception may pass: through calls of the program's own, and waits that can be cancelled.
TEST_F(UprobeReturnsTest, UnknownWaysOutOfLibcsFunctionsGetReturnProbes) {
  const auto places = [&](const Meaning& meaning) {
    return find_uprobe_places(*file_, plan_of(at("through_pointer"), meaning), false);
  };
  Meaning meaning;
  meaning.lock = LockCall::kTake;
  ASSERT_EQ(places(meaning).in_file.size(), 2u);
  EXPECT_EQ(places(meaning).in_file[1].copies, UprobeCopies::kReturned);
  EXPECT_EQ(places(meaning).in_file[1].offset, places(meaning).in_file[0].offset);
  meaning.is_call = true;
  EXPECT_EQ(places(meaning).refused.count("it"), 1u);
  meaning = {};
  meaning.lock = LockCall::kWaitOn;
  EXPECT_EQ(places(meaning).refused.count("it"), 1u);
}

TEST_F(UprobeReturnsTest, WhatIsReadTooLateIsRefused) {
  Meaning meaning;
  meaning.allocator = AllocatorCall::kPosixMemalign;
  const UprobePlaces places = find_uprobe_places(*file_, plan_of(at("two_returns"), meaning), false);
  EXPECT_TRUE(places.in_file.empty());
  EXPECT_EQ(places.refused.count("it"), 1u);
  auto point = std::make_shared<TracedPoint>();
  point->values.push_back({PENNA_ARG_STRING, "text", {}, {}});
  meaning = {};
  meaning.point = point;
  EXPECT_EQ(find_uprobe_places(*file_, plan_of(at("two_returns"), meaning), false).refused.count("it"), 1u);
}

}  // namespace
}  // namespace penna
