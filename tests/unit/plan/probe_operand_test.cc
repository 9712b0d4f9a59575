// SPDX-License-Identifier: MIT
// Operands of probes: the output of assemblers becomes numbers, anything else is refused.
#include "plan/probe_operand.h"

#include <gtest/gtest.h>

#include <string>

namespace penna {
namespace {

OperandOffer parse(const std::string& text) { return parse_probe_operand(parse_sdt_args(text).at(0)); }

TEST(ProbeOperand, Registers) {
  const struct {
    const char* text;
    int number;
    bool is_high;
  } cases[] = {{"8@%rax", 0, false},    {"-4@%edi", 7, false}, {"2@%cx", 1, false},   {"1@%bl", 3, false},
               {"1@%sil", 6, false},    {"1@%dh", 2, true},    {"8@%rsp", 4, false},  {"8@%r8", 8, false},
               {"-4@%r15d", 15, false}, {"1@%r9b", 9, false},  {"2@%r10w", 10, false}};
  for (const auto& one : cases) {
    const OperandOffer offer = parse(one.text);
    ASSERT_TRUE(offer.operand) << one.text << ": " << offer.refusal;
    EXPECT_EQ(offer.operand->kind, ProbeOperand::kRegister) << one.text;
    EXPECT_EQ(offer.operand->base, one.number) << one.text;
    EXPECT_EQ(offer.operand->is_high, one.is_high) << one.text;
    EXPECT_EQ(offer.operand->is_signed, one.text[0] == '-') << one.text;
  }
}

TEST(ProbeOperand, Memory) {
  const OperandOffer plain = parse("-4@-8(%rbp)");
  ASSERT_TRUE(plain.operand);
  EXPECT_EQ(plain.operand->kind, ProbeOperand::kMemory);
  EXPECT_EQ(plain.operand->base, 5);
  EXPECT_EQ(plain.operand->index, ProbeOperand::kNone);
  EXPECT_EQ(plain.operand->number, -8);
  EXPECT_EQ(plain.operand->bytes, 4);

  const OperandOffer indexed = parse("8@16(%r12,%rcx,8)");
  ASSERT_TRUE(indexed.operand);
  EXPECT_EQ(indexed.operand->base, 12);
  EXPECT_EQ(indexed.operand->index, 1);
  EXPECT_EQ(indexed.operand->scale, 8);
  EXPECT_EQ(indexed.operand->number, 16);

  const OperandOffer bare = parse("1@(%rsp)");
  ASSERT_TRUE(bare.operand);
  EXPECT_EQ(bare.operand->base, 4);
  EXPECT_EQ(bare.operand->number, 0);
}

TEST(ProbeOperand, Constants) {
  const OperandOffer offer = parse("-4@$-7");
  ASSERT_TRUE(offer.operand);
  EXPECT_EQ(offer.operand->kind, ProbeOperand::kConstant);
  EXPECT_EQ(offer.operand->number, -7);
}

TEST(ProbeOperand, Refused) {
  for (const char* text : {"8f@%xmm0", "8@%xmm1", "8@number(%rip)", "8@$number", "8@%gs:40", "3@%eax", "%rax", "8@",
                           "8@(,%rax,8)", "4@4(%eax)", "8@4294967296(%rax)", "8@(%rax,%rsp,2)", "8@(%rax,%rcx,3)",
                           "8@(%rax", "8@%r16", "8@%", "16@%rax", "8@$", "8@12x(%rax)"})
    EXPECT_FALSE(parse(text).operand) << text;
}

TEST(ProbeOperand, AnyBytesAreTakenOrRefused) {
  const std::string alphabet = "@%$()-,0189rabsdixp ";
  uint32_t dice = 7;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (size_t i = 0; i < 12; ++i) text += alphabet[((dice = dice * 1664525 + 1013904223) >> 16) % alphabet.size()];
    for (const SdtArg& argument : parse_sdt_args(text)) {
      const OperandOffer offer = parse_probe_operand(argument);
      ASSERT_NE(offer.operand.has_value(), offer.refusal != nullptr) << text;
    }
  }
}

}  // namespace
}  // namespace penna
