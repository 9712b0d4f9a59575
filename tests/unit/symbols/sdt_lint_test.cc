// SPDX-License-Identifier: MIT
// Traps in SDT notes: programs with one trap each, by the real assembler and linker, and lint's findings.
#include "symbols/points/sdt_lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.h"

#if defined(__x86_64__)
namespace penna::sdt_lint_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Builds a program whose main consists of `body`, which uses the macros of tests/programs/sdt_note.inc.
std::string program(const std::string& name, const std::string& body, const std::string& more = "",
                    const std::string& compiler = "gcc -no-pie") {
  const std::string text = "#include \"sdt_note.inc\"\n.text\n.globl main\nmain:\n" + body +
                           "\nxorl %eax, %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n" + more + "\n";
  return test::build_text(compiler + " -I" PENNA_TEST_PROGRAMS "/../../../programs", name + ".S", text);
}

SdtLint lint_of(const std::string& path) {
  const auto file = ElfFile::open(path);
  EXPECT_TRUE(file.has_value());
  return file ? lint_sdt(*file) : SdtLint{};
}

// "id point detail" of each finding.
std::vector<std::string> found(const std::string& path) {
  std::vector<std::string> lines;
  for (const SdtFinding& finding : lint_of(path).findings)
    lines.push_back(std::string(sdt_trap_facts(finding.trap).id) + " " + finding.point + " " + finding.detail);
  return lines;
}

TEST(SdtLint, CleanNotes) {
  EXPECT_THAT(found(program("clean", "PROBE a,0,\"-4@%edi 8@-8(%rbp)\"\nPROBE b,my_semaphore,\"\"",
                            "BASE\n.section .probes,\"aw\"\nmy_semaphore: .2byte 0")),
              IsEmpty());
  EXPECT_THAT(found(test::build_text("gcc", "no_note.c", "int main(void) { return 0; }\n")), IsEmpty());
}

TEST(SdtLint, Operands) {
  EXPECT_THAT(found(program("operands", "PROBE a,0,\"-4@%edi 8f@%xmm0\"\nPROBE b,0,\"8@v(%rip) 1@%r9b\"", "BASE")),
              ElementsAre("float-marker trap:a argument 2: 8f@%xmm0", "symbol-operand trap:b argument 1: 8@v(%rip)",
                          "byte-register trap:b argument 2: 1@%r9b"));
  EXPECT_THAT(
      found(program("many", "PROBE a,0,\"4@$1 4@$2 4@$3 4@$4 4@$5 4@$6 4@$7 4@$8 4@$9 4@$10 4@$11 4@$12 4@$13\"",
                    "BASE")),
      ElementsAre("too-many-arguments trap:a 13 arguments"));
}

TEST(SdtLint, Nops) {
  const std::string long_nop = ".byte 0x0f,0x1f,0x44,0x00,0x00\n";
  EXPECT_THAT(found(program("nop5_behind", "PROBE a,0,\"\"\n" + long_nop, "BASE")), ElementsAre("nop5 trap:a "));
  EXPECT_THAT(found(program("nop5_itself", "1: " + long_nop + "NOTE 1b,_.stapsdt.base,a,0,\"\"", "BASE")),
              ElementsAre("nop5 trap:a "));
  const std::string nop10 = ".byte 0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0\n";
  EXPECT_THAT(found(program("nop10_behind", "PROBE a,0,\"\"\n" + nop10, "BASE")), IsEmpty());
  EXPECT_THAT(found(program("nop10_itself", "1: " + nop10 + "NOTE 1b,_.stapsdt.base,a,0,\"\"", "BASE")),
              ElementsAre("bare-nop10 trap:a "));
  EXPECT_THAT(found(program("nop9", "1: .byte 0x66,0x0f,0x1f,0x84,0,0,0,0,0\nNOTE 1b,_.stapsdt.base,a,0,\"\"", "BASE")),
              IsEmpty());
  const auto no_nop =
      lint_of(program("no_nop", "1: movl %edi, %edx\nNOTE 1b,_.stapsdt.base,a,0,\"\"", "BASE")).findings;
  ASSERT_EQ(no_nop.size(), 1u);
  EXPECT_EQ(no_nop[0].trap, SdtTrap::kNoNop);
  EXPECT_THAT(no_nop[0].detail, testing::HasSubstr(": 89 fa"));
}

TEST(SdtLint, Places) {
  EXPECT_THAT(found(program("nowhere", "NOTE 0,_.stapsdt.base,a,0,\"\"", "BASE")),
              ElementsAre("outside-code trap:a at 0x0"));
  EXPECT_THAT(found(program("data", "NOTE thing,_.stapsdt.base,a,0,\"\"", "BASE\n.data\nthing: nop")),
              ElementsAre(testing::StartsWith("outside-code trap:a at 0x")));
  EXPECT_THAT(found(program("twice", "PROBE a,0,\"\"\nNOTE .Lprobe_a,_.stapsdt.base,a,0,\"\"\nPROBE b,0,\"\"", "BASE")),
              ElementsAre("duplicate-site trap:a once more"));
}

TEST(SdtLint, Semaphores) {
  EXPECT_THAT(found(program("read_only", "PROBE a,count,\"\"", "BASE\n.section .rodata\ncount: .2byte 0")),
              ElementsAre(testing::StartsWith("unwritable-semaphore trap:a at 0x")));
  EXPECT_THAT(found(program("misplaced", "PROBE a,count,\"\"", "BASE\n.data\ncount: .2byte 0")),
              ElementsAre(testing::StartsWith("misplaced-semaphore trap:a at 0x")));
  EXPECT_THAT(found(program("far", "PROBE a,0x123456,\"\"", "BASE")),
              ElementsAre("unwritable-semaphore trap:a at 0x123456"));
  EXPECT_THAT(
      found(program("systemtap", "PROBE a,0,\"\"", "BASE\n.data\n.globl trap_a_semaphore\ntrap_a_semaphore: .2byte 0")),
      ElementsAre("missing-semaphore trap:a trap_a_semaphore"));
  EXPECT_THAT(found(program("folly", "PROBE a,0,\"\"\nPROBE b,0,\"\"",
                            "BASE\n.data\n.globl folly_sdt_semaphore_trap_a\nfolly_sdt_semaphore_trap_a: .2byte 0")),
              ElementsAre("missing-semaphore trap:a folly_sdt_semaphore_trap_a"));
  const std::string stripped =
      program("stripped", "PROBE a,0,\"\"", "BASE\n.section .probes,\"aw\"\n.2byte 0", "gcc -no-pie -s");
  EXPECT_THAT(found(stripped), ElementsAre("missing-semaphore  section .probes has room for 1, and no note names one"));
}

TEST(SdtLint, Base) {
  const std::string whole = program("whole", "PROBE a,0,\"\"", "BASE");
  EXPECT_THAT(found(whole), IsEmpty());
  const std::string without = test::copy_of(whole, "without_base");
  test::run("objcopy -R .stapsdt.base " + without);
  EXPECT_THAT(found(without), ElementsAre("discarded-base  for 1 notes"));
  EXPECT_THAT(found(program("zero_base", "PROBE b,0,\"\"\n1: nop\nNOTE 1b,0,a,0,\"\"", "BASE")),
              ElementsAre(testing::StartsWith("wrong-base trap:a 0x0, the section is at 0x")));
  EXPECT_THAT(found(program("moved_base", "1: nop\nNOTE 1b,_.stapsdt.base+0x10,a,0,\"\"", "BASE")),
              ElementsAre(testing::StartsWith("wrong-base trap:a 0x")));
  // As prelink leaves it: place and base moved alike.
  EXPECT_THAT(found(program("prelinked", "1: nop\nNOTE 1b+0x10,_.stapsdt.base+0x10,a,0,\"\"", "BASE")), IsEmpty());
}

TEST(SdtLint, WhatClientsDoNotSee) {
  const std::string bad =
      ".pushsection .note.stapsdt,\"\",@note\n.balign 4\n.4byte 8, 4, 3\n.asciz \"stapsdt\"\n.4byte 1\n"
      ".popsection\nPROBE a,0,\"\"";
  EXPECT_THAT(found(program("damaged", bad, "BASE")), ElementsAre("damaged-note  1 of 2 notes"));
  EXPECT_THAT(found(program("no_type", ".pushsection .note.stapsdt,\"\",@progbits\n.4byte 0\n.popsection")),
              ElementsAre("unseen-section  its type is 1"));
}

TEST(SdtLint, EveryTrapIsExplained) {
  for (size_t i = 0; i < static_cast<size_t>(SdtTrap::kCount); ++i) {
    const SdtTrapFacts& facts = sdt_trap_facts(static_cast<SdtTrap>(i));
    EXPECT_NE(std::string(facts.id), "");
    EXPECT_FALSE(facts.breaks.empty()) << facts.id;
    EXPECT_EQ(std::string(facts.fix).back(), '.') << facts.id;
  }
}

}  // namespace
}  // namespace penna::sdt_lint_test
#endif
