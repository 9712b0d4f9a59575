// SPDX-License-Identifier: MIT
// Arguments of SDT notes: parsed as written, and each operand that some client cannot read is identified.
#include "symbols/points/sdt_args.h"

#include <elf.h>
#include <gtest/gtest.h>

namespace penna::sdt_args_test {
namespace {

std::string taken_apart(std::string_view text) {
  std::string result;
  for (const SdtArg& arg : parse_sdt_args(text))
    result += (result.empty() ? "" : " | ") + sdt_type_name(arg) + " " + arg.operand;
  return result;
}

TEST(SdtArgs, SizeSignAndOperand) {
  EXPECT_EQ(taken_apart("-4@%edi 8@-8(%rbp) 1@$5 -2@%ax"), "s32 %edi | u64 -8(%rbp) | u8 $5 | s16 %ax");
  EXPECT_EQ(taken_apart("8f@%xmm0"), "f64 %xmm0");
  EXPECT_EQ(taken_apart("-8@gv+16(%rip)"), "s64 gv+16(%rip)");
}

TEST(SdtArgs, BracketsHoldSpaces) {
  EXPECT_EQ(taken_apart("4@[sp, 12] -4@[r7, #8] 8@x0"), "u32 [sp, 12] | s32 [r7, #8] | u64 x0");
  EXPECT_EQ(taken_apart("-4@(%rcx, %r8, 4) 4@%eax"), "s32 (%rcx, %r8, 4) | u32 %eax");
}

TEST(SdtArgs, WhatMakesNoSenseIsKept) {
  EXPECT_EQ(taken_apart(""), "");
  EXPECT_EQ(taken_apart("  "), "");
  EXPECT_EQ(taken_apart("%edi"), "? %edi");
  EXPECT_EQ(taken_apart("x@%edi @ -@1"), "? x@%edi | ? @ | ? -@1");
  EXPECT_EQ(taken_apart("99999999999999999999@%edi"), "? 99999999999999999999@%edi");
  EXPECT_EQ(taken_apart("4@[never closed 4@%edi"), "u32 [never closed 4@%edi");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "4@%edi ";
  EXPECT_EQ(parse_sdt_args(many).size(), 64u);
}

OperandTrap trap(std::string_view text, int machine = EM_X86_64) {
  return operand_trap(parse_sdt_args(text).at(0), machine);
}

TEST(OperandTrap, NoneInWhatCompilersWriteForRegistersAndTheStack) {
  for (const char* good : {"-4@%edi", "8@%r12", "4@%r12d", "2@%r9w", "1@%al", "1@%sil", "8@-8(%rbp)", "8@(%rsp)",
                           "4@16(%rax)", "-4@$-5", "8@$0", "8@%rsp"})
    EXPECT_EQ(trap(good), OperandTrap::kNone) << good;
  for (const char* good : {"8@x0", "-4@x30", "4@sp", "8@[sp]", "4@[sp, 12]", "4@[x29, -8]", "-4@5"})
    EXPECT_EQ(trap(good, EM_AARCH64), OperandTrap::kNone) << good;
  for (const char* good : {"4@r0", "-4@[r7, #8]", "4@#5", "4@[fp, #-4]", "4@lr"})
    EXPECT_EQ(trap(good, EM_ARM), OperandTrap::kNone) << good;
}

TEST(OperandTrap, EachByItsName) {
  EXPECT_EQ(trap("8f@%xmm0"), OperandTrap::kFloatMarker);
  EXPECT_EQ(trap("8f@%xmm0", EM_PPC64), OperandTrap::kFloatMarker);
  for (const char* symbol :
       {"-8@gv(%rip)", "-8@8+gv(%rip)", "-8@gv+8(%rip)", "-8@16(%rip)", "8@$gv", "8@gv", "8@.LC0(%rip)"})
    EXPECT_EQ(trap(symbol), OperandTrap::kSymbol) << symbol;
  EXPECT_EQ(trap("8@%xmm3"), OperandTrap::kVectorRegister);
  EXPECT_EQ(trap("1@%r8b"), OperandTrap::kByteRegister);
  EXPECT_EQ(trap("1@%ah"), OperandTrap::kHighByteRegister);
  for (const char* sum : {"4@(%rcx,%r8,4)", "4@-4(%rcx,%r8,8)", "4@(%rcx,%r8)", "4@(,%r8,4)"})
    EXPECT_EQ(trap(sum), OperandTrap::kIndex) << sum;
  for (const char* size : {"%edi", "16@%rdx", "3@%rdx", "0@%rdx"}) EXPECT_EQ(trap(size), OperandTrap::kSize) << size;
  for (const char* strange : {"8@4096", "8@%fs:0", "8@$0x10", "4@0x8(%rcx)", "4@-8+16(%rcx)", "8@%rip", "8@%r16",
                              "8@%r8x", "8@(%rax", "8@()", "8@", "8@$", "4@(%rcx,%r8,3)", "4@(%al)", "4@%st"})
    EXPECT_NE(trap(strange), OperandTrap::kNone) << strange;
  for (const char* strange : {"8@4096", "8@%fs:0", "8@$0x10", "4@0x8(%rcx)", "4@-8+16(%rcx)", "8@%rip"})
    EXPECT_EQ(trap(strange), OperandTrap::kSyntax) << strange;
}

TEST(OperandTrap, OfArmMachines) {
  EXPECT_EQ(trap("4@w0", EM_AARCH64), OperandTrap::kNarrowRegister);
  EXPECT_EQ(trap("8@d0", EM_AARCH64), OperandTrap::kVectorRegister);
  EXPECT_EQ(trap("8@[x0, x1]", EM_AARCH64), OperandTrap::kIndex);
  EXPECT_EQ(trap("8@[x0, x1, lsl 3]", EM_AARCH64), OperandTrap::kIndex);
  EXPECT_EQ(trap("8@[x31]", EM_AARCH64), OperandTrap::kSyntax);
  EXPECT_EQ(trap("8@counter", EM_AARCH64), OperandTrap::kSymbol);
  EXPECT_EQ(trap("8@d0", EM_ARM), OperandTrap::kVectorRegister);
  EXPECT_EQ(trap("4@[r0, r1]", EM_ARM), OperandTrap::kIndex);
  EXPECT_EQ(trap("4@[r0", EM_ARM), OperandTrap::kSyntax);
  EXPECT_FALSE(knows_sdt_operands(EM_S390));
  EXPECT_EQ(trap("8@%r2", EM_S390), OperandTrap::kNone);
}

}  // namespace
}  // namespace penna::sdt_args_test
