// SPDX-License-Identifier: MIT
// What detours and probes need to know about single instructions, whatever the processor, and about tables of branch
// targets.
//
// Invariant: an instruction that may not be moved is never mistaken for one that may: unknown ones are refused.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "plan/detour.h"
#include "symbols/elf/elf_file.h"

namespace penna {

inline constexpr size_t kLargestFunction = 1 << 20;  // bytes that are decoded of one

// decode() leaves numbers[number_count] and on as they were: it runs for millions of instructions.
struct Instruction {
  enum Kind : uint8_t {
    kOther,
    kCall,
    kJump,         // execution never continues after it
    kConditional,  // a branch after which it may
    kReturn,
    kInterrupt,
    kBreakpoint,
    kUndefined,  // raises a fault: marks code that is never reached
    kNop,
    kMark  // kEntryMark
  } kind;
  uint8_t length;                  // bytes
  uint8_t number_count;            // of `numbers`
  bool refers_nearby;              // by a distance from itself
  const char* immovable;           // why it may not run somewhere else: "loops in its first instructions"
  std::optional<uint64_t> target;  // of a branch to a fixed place
  std::optional<uint64_t> refers;  // to memory at a fixed place, where a table may begin
  // At most two immediates and a displacement (SDM volume 2, "Instruction format"): four never overflow.
  std::array<uint64_t, 4> numbers;  // in it, that may be addresses

  bool is_padding() const { return kind == kNop || kind == kBreakpoint; }
  bool ends_flow() const { return kind == kJump || kind == kReturn || kind == kUndefined; }
};

// The one that begins `code`, which stands at the address `at`. False: it is not an instruction.
bool decode(std::span<const uint8_t> code, uint64_t at, Instruction* one);
// Only how many bytes it has; 0: it is not an instruction.
size_t instruction_length(std::span<const uint8_t> code);
// Whether the kernel's uprobes would execute another instruction in its place, or whether this is not known.
bool is_mistaken_by_uprobes(std::span<const uint8_t> code);

// The targets in the function of what looks like the table of a switch, from `table` on: 4-byte distances from it, or
// 8-byte addresses. It ends where an entry leads out of the function.
// Nothing in the code shows which of the two it is, so both are tried: a table that is read in the wrong form has more
// targets, and more targets only lead to more refusals.
template <typename Visit>
void for_each_target(const ElfFile& file, uint64_t table, const FunctionRange& function, Visit&& visit) {
  constexpr size_t kMost = 4096;
  const std::span<const uint8_t> bytes = file.bytes_at(table, kMost * 8);
  for (size_t i = 0; i < kMost && (i + 1) * 4 <= bytes.size(); ++i) {
    int32_t distance;
    std::memcpy(&distance, bytes.data() + i * 4, 4);
    const uint64_t target = table + static_cast<uint64_t>(int64_t{distance});
    if (target < function.start || target >= function.end) break;
    visit(target);
  }
  for (size_t i = 0; i < kMost && (i + 1) * 8 <= bytes.size(); ++i) {
    uint64_t target;
    std::memcpy(&target, bytes.data() + i * 8, 8);
    if (target < function.start || target >= function.end) break;
    visit(target);
  }
}

// Bytes of code into which no branch may lead, except to the first.
// A branch to the first byte is fine: it executes the jump that is written there, as if it were the old code.
struct Window {
  uint64_t begin, end;
  bool has_inside(uint64_t address) const { return address > begin && address < end; }
};

}  // namespace penna
