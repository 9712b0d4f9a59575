// SPDX-License-Identifier: MIT
// Places for jumps beside the nops of probes, in this very program: assembly functions, each with some obstacle.
#include <gtest/gtest.h>

#include <string>

#include "plan/detour.h"
#include "symbols/elf/elf_file.h"

// Each is a function with unwind information and a probe at NAME_nop.
__asm__(
    ".text\n"
    ".macro PROBED name\n.balign 16\n.globl \\name\\()_nop\n.type \\name, @function\n\\name:\n.cfi_startproc\n.endm\n"
    ".macro HERE name\n\\name\\()_nop: nop\n.endm\n"
    ".macro DONE name\n.cfi_endproc\n.size \\name, . - \\name\n.endm\n"

    "PROBED probe_one\n xor %eax, %eax\n HERE probe_one\n movabs $5, %rcx\n add %rcx, %rax\n ret\nDONE probe_one\n"
    "PROBED probe_two\n xor %eax, %eax\n HERE probe_two\n mov %rdi, %rax\n add $1, %rax\n ret\nDONE probe_two\n"
    // A branch to behind the nop, as a semaphore's without `unlikely`: in front there is room.
    "PROBED probe_skipped\n test %edi, %edi\n jz 1f\n lea 77(%rdi), %rax\n mov %rax, %rdx\n HERE probe_skipped\n1: mov "
    "%rdi, "
    "%rax\n add $1, %rax\n ret\nDONE probe_skipped\n"
    // The same, with a branch to the nop: nowhere.
    "PROBED probe_both\n test %edi, %edi\n jz 1f\n js 2f\n lea 77(%rdi), %rax\n2: HERE probe_both\n1: mov %rdi, %rax\n "
    "add $1, "
    "%rax\n ret\nDONE probe_both\n"
    // A cold block at the end, with nothing but padding behind it.
    "PROBED probe_cold\n test %edi, %edi\n jz 1f\n2: mov %rdi, %rax\n ret\n1: HERE probe_cold\n jmp 2b\nDONE "
    "probe_cold\n"
    ".balign 16, 0x90\n"
    // A cold block with other code behind it.
    "PROBED probe_cramped\n test %edi, %edi\n jz 1f\n2: mov %rdi, %rax\n ret\n1: HERE probe_cramped\n .byte 0xeb\n "
    ".byte 2b - . - 1\n3: "
    "ud2\nDONE "
    "probe_cramped\n"
    // Landed at by a table that no instruction refers to.
    "PROBED probe_table\n HERE probe_table\n push %rbx\n.Lprobe_table: pop %rbx\n mov %rdi, %rax\n ret\nDONE "
    "probe_table\n"
    ".pushsection .data\n.balign 8\n.quad .Lprobe_table\n.popsection\n"
    // And by an address that is taken.
    "PROBED probe_taken\n HERE probe_taken\n push %rbx\n.Lprobe_taken: pop %rbx\n lea .Lprobe_taken(%rip), %rax\n "
    "ret\nDONE "
    "probe_taken\n"
    // A number in data that is no address: it would lead into the middle of an instruction.
    "PROBED probe_chance\n HERE probe_chance\n movabs $5, %rcx\n mov %rcx, %rax\n ret\nDONE probe_chance\n"
    ".pushsection .data\n.balign 8\n.quad probe_chance_nop + 5\n.popsection\n"
    "PROBED probe_call\n push %rbx\n HERE probe_call\n call probe_one\n pop %rbx\n ret\nDONE probe_call\n"
    "PROBED probe_near\n HERE probe_near\nprobe_nearer_nop: nop\n mov %rdi, %rax\n add $1, %rax\n ret\nDONE "
    "probe_near\n");
extern "C" {
extern const char probe_one_nop, probe_two_nop, probe_skipped_nop, probe_both_nop, probe_cold_nop, probe_cramped_nop,
    probe_table_nop, probe_taken_nop, probe_chance_nop, probe_call_nop, probe_near_nop;
extern const char __executable_start;
}

namespace penna {
namespace {

class ProbeWindows : public testing::Test {
 protected:
  static uint64_t address(const char& nop) { return static_cast<uint64_t>(&nop - &__executable_start) + base(); }
  // Of the file: 0 where it may lie anywhere.
  static uint64_t base() {
    for (const GElf_Phdr& segment : file().segments())
      if (segment.p_type == PT_LOAD) return segment.p_vaddr;
    return 0;
  }
  static const ElfFile& file() {
    static const ElfFile own = std::move(*ElfFile::open("/proc/self/exe"));
    return own;
  }
  static ProbeOffer find(const char& nop, std::vector<uint64_t> others = {}) {
    const uint64_t wanted = address(nop);
    others.push_back(wanted);
    return DetourFinder(file(), {}).find_probes({&wanted, 1}, others)[0];
  }
  static std::string refusal(const char& nop, std::vector<uint64_t> others = {}) {
    const ProbeOffer offer = find(nop, std::move(others));
    return offer.site ? "" : offer.refusal;
  }
};

TEST_F(ProbeWindows, BehindTheNop) {
  for (const char* nop : {&probe_one_nop, &probe_two_nop, &probe_cold_nop, &probe_chance_nop, &probe_call_nop}) {
    const ProbeOffer offer = find(*nop);
    ASSERT_TRUE(offer.site) << offer.refusal;
    EXPECT_TRUE(offer.site->is_behind());
    EXPECT_EQ(offer.site->place, address(*nop) + 1);
    EXPECT_GE(offer.site->code.size(), kBranchBytes);
  }
  EXPECT_EQ(find(probe_one_nop).site->code.size(), 10u);
}

TEST_F(ProbeWindows, InFrontOfIt) {
  const ProbeOffer offer = find(probe_skipped_nop);
  ASSERT_TRUE(offer.site) << offer.refusal;
  EXPECT_FALSE(offer.site->is_behind());
  EXPECT_EQ(offer.site->place + offer.site->code.size(), address(probe_skipped_nop));
}

TEST_F(ProbeWindows, WhereSomethingMayLand) {
  for (const char* nop : {&probe_both_nop, &probe_table_nop, &probe_taken_nop})
    EXPECT_EQ(refusal(*nop), "has adjacent code that may be entered from elsewhere");
  EXPECT_EQ(refusal(probe_cramped_nop), "is followed by other code after a jump or return");
}

TEST_F(ProbeWindows, OtherProbes) {
  EXPECT_EQ(refusal(probe_near_nop), "");
  EXPECT_EQ(refusal(probe_near_nop, {address(probe_near_nop) + 1}), "has another probe next to it");
  const std::vector<uint64_t> both = {address(probe_near_nop), address(probe_near_nop)};
  const std::vector<ProbeOffer> offers = DetourFinder(file(), {}).find_probes(both, both);
  EXPECT_TRUE(offers[0].site);
  EXPECT_FALSE(offers[1].site) << "two jumps would overlap";
}

TEST_F(ProbeWindows, WhatIsNoProbe) {
  const uint64_t wanted[] = {address(probe_one_nop) + 1, address(probe_one_nop) + 3, 16, UINT64_MAX};
  for (const ProbeOffer& offer : DetourFinder(file(), {}).find_probes(wanted, wanted)) EXPECT_FALSE(offer.site);
}

}  // namespace
}  // namespace penna
