// SPDX-License-Identifier: MIT
// Detours: code that may be moved runs as before from its new place; other code is refused, for the right reason.
#include "plan/detour.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "symbols/elf/symbol_table.h"

// Functions whose beginnings are hard to move. All take and give a long.
extern "C" {
long detour_number = 5;
}
__asm__(
    ".text\n"
    ".macro FUNCTION name\n"
    ".balign 16\n.globl \\name\n.type \\name, @function\n\\name:\n"
    ".endm\n"
    ".macro END name\n.size \\name, . - \\name\n.endm\n"

    "FUNCTION detour_plain\n push %rbp\n mov %rsp, %rbp\n lea 3(%rdi), %rax\n pop %rbp\n ret\nEND detour_plain\n"
    "FUNCTION detour_marked\n endbr64\n mov %rdi, %rax\n add $9, %rax\n ret\nEND detour_marked\n"
    "FUNCTION detour_rip\n mov detour_number(%rip), %rax\n add %rdi, %rax\n ret\nEND detour_rip\n"
    "FUNCTION detour_rip_immediate\n cmpl $5, detour_number(%rip)\n mov $1, %eax\n je 1f\n mov %rdi, %rax\n1: ret\nEND "
    "detour_rip_immediate\n"
    "FUNCTION detour_branch\n test %rdi, %rdi\n js 1f\n lea (%rdi, %rdi), %rax\n ret\n1: mov $-1, %rax\n ret\nEND "
    "detour_branch\n"
    "FUNCTION detour_far_branch\n test %edi, %edi\n jz 1f\n mov %rdi, %rax\n ret\n.skip 200, 0x90\n1: mov $77, %eax\n "
    "ret\nEND detour_far_branch\n"
    "FUNCTION detour_jump\n jmp 1f\n .skip 6, 0x90\n1: mov %rdi, %rax\n ret\nEND detour_jump\n"
    "FUNCTION detour_one\n movabs $0x123456789abcdef0, %rax\n xor %rdi, %rax\n ret\nEND detour_one\n"

    "FUNCTION detour_short\n xor %eax, %eax\n ret\nEND detour_short\n"
    "FUNCTION detour_early\n xchg %eax, %edi\n nop\n cltq\n ret\nEND detour_early\n"
    "FUNCTION detour_tiny\n ret\nEND detour_tiny\n"
    "FUNCTION detour_calls\n push %rax\n call detour_plain\n pop %rcx\n ret\nEND detour_calls\n"
    "FUNCTION detour_calls_through\n push %rbx\n call *detour_to_plain(%rip)\n pop %rcx\n ret\nEND "
    "detour_calls_through\n"
    "FUNCTION detour_calls_register\n push %rax\n mov %rsi, %rax\n call *%rax\n pop %rcx\n ret\nEND "
    "detour_calls_register\n"
    ".pushsection .data\ndetour_to_plain: .quad detour_plain\n.popsection\n"
    "FUNCTION detour_shared\n mov %rdi, %rax\n.Lshared: add $1, %rax\n ret\nEND detour_shared\n"
    "FUNCTION detour_shares\n lea 2(%rdi), %rax\n nop\n jmp .Lshared\nEND detour_shares\n"
    "FUNCTION detour_loops\n xor %eax, %eax\n1: inc %eax\n dec %edi\n jnz 1b\n ret\nEND detour_loops\n"
    "FUNCTION detour_pointer\n jmp *detour_number(%rip)\nEND detour_pointer\n"
    "FUNCTION detour_trap\n int3\n mov %rdi, %rax\n nop\n ret\nEND detour_trap\n"
    "FUNCTION detour_switched\n"
    " push %rbx\n.Linside: pop %rbx\n cmp $1, %edi\n ja 2f\n lea .Ltable(%rip), %rdx\n movslq (%rdx, %rdi, 4), %rax\n"
    " add %rdx, %rax\n jmp *%rax\n1: mov $1, %eax\n ret\n2: mov $2, %eax\n ret\nEND detour_switched\n"
    "FUNCTION detour_entered\n push %rbx\n.Lentered: pop %rbx\n mov %rdi, %rax\n nop\n ret\nEND detour_entered\n"
    "FUNCTION detour_enters\n xor %eax, %eax\n test %edi, %edi\n push %rbx\n .byte 0xe9\n .long .Lentered - . - 4\nEND "
    "detour_enters\n"
    // In front of each, code that no symbol names: its second byte looks like a jump to behind the push, and is none where it is
    // known where that code begins; in the two last ones it is.
    ".macro BESIDE name\n FUNCTION \\name\n push %rbp\n mov %rsp, %rbp\n lea 3(%rdi), %rax\n pop %rbp\n ret\nEND "
    "\\name\n"
    ".endm\n"
    ".balign 16\n .cfi_startproc\n mov $0x0f70, %eax\n ret\n .cfi_endproc\nBESIDE detour_beside_number\n"
    ".balign 16\n mov $0x0f70, %eax\n ret\nBESIDE detour_beside_gap\n"
    ".balign 16\n .byte 0x06\n mov $0x0f70, %eax\n ret\nBESIDE detour_beside_unknown\n"
    ".balign 16\n test %eax, %eax\n .byte 0x74, 0x0e\n ret\nBESIDE detour_beside_branching_gap\n"
    ".balign 16\n .cfi_startproc\n test %eax, %eax\n .byte 0x74, 0x0e\n ret\n .cfi_endproc\nBESIDE "
    "detour_beside_branch\n"
    // Far away: a number whose bytes look like a jump to behind the push, in a function that can be decoded, and in bytes of nobody.
    "FUNCTION detour_far_number\n push %rbp\n.Lfar: mov %rsp, %rbp\n lea 3(%rdi), %rax\n pop %rbp\n ret\nEND "
    "detour_far_number\n"
    "FUNCTION detour_far_bytes\n push %rbp\n.Lfar_bytes: mov %rsp, %rbp\n lea 3(%rdi), %rax\n pop %rbp\n ret\nEND "
    "detour_far_bytes\n"
    ".skip 400, 0xcc\n"
    "FUNCTION detour_has_far_number\n .byte 0x48, 0xb8, 0, 0xe9\n .long .Lfar - . - 4\n .byte 0, 0\n ret\nEND "
    "detour_has_far_number\n"
    ".skip 16, 0xcc\n .byte 0xe9\n .long .Lfar_bytes - . - 4\n .skip 16, 0xcc\n"
    ".section .rodata\n.balign 4\n.Ltable: .long 1b - .Ltable, .Linside - .Ltable\n.text\n");

namespace penna::detour_test {
namespace {

using Function = long (*)(long);

class Detours : public testing::Test {
 protected:
  Detours() : file_(*ElfFile::open("/proc/self/exe")) {
    table_.add(file_, *file_.section_of_type(SHT_SYMTAB));
    table_.finish(file_);
    for (const RawSymbol& symbol : table_.functions()) functions_.push_back({symbol.start, symbol.start + symbol.size});
  }
  FunctionRange range_of(const std::string& name) const {
    for (const RawSymbol& symbol : table_.functions())
      if (symbol.name == name) return {symbol.start, symbol.start + symbol.size};
    ADD_FAILURE() << "no " << name;
    return {};
  }
  DetourOffer offer(const std::string& name) const {
    const FunctionRange one = range_of(name);
    return DetourFinder(file_, functions_).find({&one, 1})[0];
  }
  uint64_t bias() const { return reinterpret_cast<uint64_t>(&detour_number) - object_address("detour_number"); }
  uint64_t object_address(const std::string& name) const {
    for (const RawSymbol& symbol : table_.objects())
      if (symbol.name == name) return symbol.start;
    return 0;
  }

  ElfFile file_;
  SymbolTable table_;
  std::vector<FunctionRange> functions_;
};

// The hook of these stubs only comes back.
extern "C" void detour_hook();
__asm__(
    ".text\n.globl detour_hook\n.type detour_hook, @function\ndetour_hook: ret\n.size detour_hook, . - detour_hook\n");

NearMemory near_memory(void* at, size_t room) {
  return {CodePtr(reinterpret_cast<uint64_t>(at)), room, CodePtr(reinterpret_cast<uint64_t>(&detour_hook))};
}

TEST_F(Detours, MovedBeginningsDoTheSame) {
  constexpr size_t kRoom = 1 << 16;
  void* near_code = ::mmap(reinterpret_cast<void*>((bias() + functions_.front().start - (8 << 20)) & ~uint64_t{4095}),
                           kRoom, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(near_code, MAP_FAILED);
  for (const char* name :
       {"detour_plain", "detour_marked", "detour_rip", "detour_rip_immediate", "detour_branch", "detour_far_branch",
        "detour_jump", "detour_one", "detour_early", "detour_calls", "detour_calls_through"}) {
    const DetourOffer found = offer(name);
    ASSERT_TRUE(found.site.has_value()) << name << ": " << found.refusal;
    EXPECT_GE(found.site->code.size(), kBranchBytes);
    NearMemory near = near_memory(near_code, kRoom);
    const auto jump = write_detour(*found.site, bias(), &near);
    ASSERT_TRUE(jump.has_value()) << name;
    std::copy(near.bytes().begin(), near.bytes().end(), static_cast<uint8_t*>(near_code));
    int32_t distance;
    std::memcpy(&distance, jump->data() + 1, 4);
    const uint64_t stub = found.site->place + bias() + 5 + static_cast<uint64_t>(int64_t{distance});
    const auto original = reinterpret_cast<Function>(found.site->function + bias());
    const auto moved = reinterpret_cast<Function>(stub);
    for (const long value : {0L, 1L, -1L, 5L, 1L << 40, -77L})
      EXPECT_EQ(moved(value), original(value)) << name << " " << value;
  }
  ::munmap(near_code, kRoom);
}

// The same without a stub: what is called in place of a function whose beginning is replaced.
TEST_F(Detours, AMovedBeginningGoesOnInTheFunction) {
  constexpr size_t kRoom = 1 << 16;
  void* near_code = ::mmap(reinterpret_cast<void*>((bias() + functions_.front().start - (8 << 20)) & ~uint64_t{4095}),
                           kRoom, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(near_code, MAP_FAILED);
  NearMemory near = near_memory(near_code, kRoom);
  std::map<std::string, uint64_t> places;
  for (const char* name : {"detour_plain", "detour_rip", "detour_far_branch", "detour_one", "detour_calls"}) {
    const DetourOffer found = offer(name);
    ASSERT_TRUE(found.site.has_value()) << name << ": " << found.refusal;
    const CodePtr end = near.end();
    const auto moved = move_beginning(*found.site, bias(), &near);
    ASSERT_TRUE(moved.has_value()) << name;
    EXPECT_EQ(*moved, end);
    places[name] = moved->number();
    // The last is a jump to the first instruction that stayed.
    int32_t distance;
    std::memcpy(&distance, near.bytes().data() + near.bytes().size() - 4, 4);
    EXPECT_EQ(near.end() + distance, in_target(found.site->place + found.site->code.size(), bias()));
  }
  std::copy(near.bytes().begin(), near.bytes().end(), static_cast<uint8_t*>(near_code));
  for (const auto& [name, place] : places)
    for (const long value : {0L, 1L, -1L, 5L, 1L << 40, -77L})
      EXPECT_EQ(reinterpret_cast<Function>(place)(value),
                reinterpret_cast<Function>(range_of(name).start + bias())(value))
          << name << " " << value;
  ::munmap(near_code, kRoom);
}

TEST_F(Detours, CodeOutOfReachIsNotMoved) {
  const DetourOffer found = offer("detour_plain");
  ASSERT_TRUE(found.site.has_value());
  const uint64_t there = found.site->place + bias();
  const auto is_moved = [&](uint64_t address, uint64_t room) {
    NearMemory near(CodePtr(address), room, CodePtr(address));  // the hook is in reach always
    return move_beginning(*found.site, bias(), &near).has_value();
  };
  EXPECT_TRUE(is_moved(there + (1 << 20), 4096));
  EXPECT_FALSE(is_moved(there + (1 << 20), 32));  // no room
  EXPECT_FALSE(is_moved(there + (uint64_t{1} << 33), 4096));
}

TEST_F(Detours, WhatIsDoubtfulIsRefused) {
  const std::map<std::string, std::string> reasons{
      {"detour_short", "returns in its first instructions"},
      {"detour_tiny", "returns in its first instructions"},
      {"detour_calls_register", "calls through a register in its first instructions"},
      {"detour_shared", "may be entered after its first instruction by a branch from other code"},
      {"detour_loops", "branches into its own first instructions"},
      {"detour_pointer", "jumps through a pointer in its first instructions"},
      {"detour_trap", "has a breakpoint or a trap in its first instructions"},
      {"detour_switched", "branches into its own first instructions"},
  };
  for (const auto& [name, reason] : reasons) {
    const DetourOffer found = offer(name);
    EXPECT_FALSE(found.site.has_value()) << name;
    EXPECT_EQ(found.refusal == nullptr ? "" : std::string(found.refusal), reason) << name;
  }
}

// Some symbol in the middle of its first instructions; a branch of another function.
TEST_F(Detours, OtherCodeThatLeadsInsideIsSeen) {
  const FunctionRange one = range_of("detour_plain");
  std::vector<FunctionRange> with_alias = functions_;
  with_alias.push_back({one.start + 1, one.end});
  std::sort(with_alias.begin(), with_alias.end(), [](auto& a, auto& b) { return a.start < b.start; });
  EXPECT_STREQ(offer("detour_entered").refusal,
               "may be entered after its first instruction by a branch from other code");
  EXPECT_STREQ(DetourFinder(file_, with_alias).find({&one, 1})[0].refusal,
               "has another symbol within its first instructions");
}

// As in stripped libraries, whose own functions have no names.
TEST_F(Detours, UnnamedNeighbourIsReadWhereItsStartIsKnown) {
  const DetourOffer number = offer("detour_beside_number");
  EXPECT_TRUE(number.site.has_value()) << number.refusal;
  // What nothing describes is read from where the function before it ends, if that leads to where the next one begins.
  const DetourOffer gap = offer("detour_beside_gap");
  EXPECT_TRUE(gap.site.has_value()) << gap.refusal;
  for (const char* name : {"detour_beside_unknown", "detour_beside_branch", "detour_beside_branching_gap"})
    EXPECT_STREQ(offer(name).refusal, "may be entered after its first instruction by a branch from other code") << name;
}

// In a file of 300 MB there is one for many a function.
TEST_F(Detours, ANumberThatLooksLikeABranchIsNone) {
  const DetourOffer number = offer("detour_far_number");
  EXPECT_TRUE(number.site.has_value()) << number.refusal;
  EXPECT_STREQ(offer("detour_far_bytes").refusal,
               "may be entered after its first instruction by a branch from other code");
}

TEST_F(Detours, AnyBytesAreSafe) {
  std::mt19937_64 random(20261121);
  std::vector<FunctionRange> anywhere;
  const AddressRange code = file_.code_ranges().front();
  for (int i = 0; i < 20000; ++i) {
    const uint64_t start = code.begin + random() % (code.end - code.begin);
    anywhere.push_back({start, start + random() % 200});
  }
  anywhere.push_back({0, UINT64_MAX});
  anywhere.push_back({code.end - 2, code.end + 100});
  anywhere.push_back({code.begin, code.begin});
  for (const DetourOffer& found : DetourFinder(file_, functions_).find(anywhere)) {
    EXPECT_NE(found.site.has_value(), found.refusal != nullptr);
    if (!found.site) continue;
    NearMemory near(CodePtr(code.end + 4096), 4096, CodePtr(1));
    (void)write_detour(*found.site, 0, &near);
    EXPECT_LE(near.bytes().size(), 4096u);
  }
}

TEST(NearMemoryRoom, AStubThatDoesNotFitIsNotBegun) {
  NearMemory none(CodePtr(0x1000), 0, CodePtr(0x2000));
  EXPECT_FALSE(none.begin_stub(CodePtr(1), 1).has_value());
  NearMemory small(CodePtr(0x1000), 64, CodePtr(0x2000));
  EXPECT_TRUE(small.begin_stub(CodePtr(1), 10).has_value());
  EXPECT_FALSE(small.begin_stub(CodePtr(1), 10).has_value());
}

}  // namespace
}  // namespace penna::detour_test
