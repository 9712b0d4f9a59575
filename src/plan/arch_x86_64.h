// SPDX-License-Identifier: MIT
// x86-64 as the planners see it. References: Intel SDM, volume 2; System V ABI for x86-64, table 4.9 (relocations).
//
// Invariant: what only looks like a branch counts as one, so reading bytes makes the planners more careful, never less.
#pragma once

#include <elf.h>
#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace penna {

inline constexpr unsigned kMachine = EM_X86_64;
// JUMP_SLOT and GLOB_DAT: a pointer that the dynamic linker fills with a symbol's address. RELATIVE: bias + addend,
// so the addend is an address of the file.
inline constexpr unsigned kJumpSlot = R_X86_64_JUMP_SLOT, kGlobDat = R_X86_64_GLOB_DAT, kRelative = R_X86_64_RELATIVE;

inline constexpr size_t kBranchBytes = 5;       // of a jump or a call: an opcode and a distance of four bytes
inline constexpr size_t kJumpThroughBytes = 6;  // of a jump through a pointer at such a distance
// The architecture's limit: the processor faults on anything longer (SDM volume 2, "Instruction format").
inline constexpr size_t kLongestInstruction = 15;
// Upper bound for a moved instruction, per byte of the original: jcc rel8 grows from 2 bytes to 6, a call from 5 to
// 18.
inline constexpr size_t kLargestMoved = 16;  // of an instruction once it was moved, and of a jump

inline constexpr std::array<uint8_t, 4> kEntryMark{0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
inline constexpr uint8_t kProbeNop = 0x90;                                   // of sys/sdt.h
inline constexpr uint8_t kPadding = 0xcc;                                    // between stubs; int3

template <size_t N>
bool begins(std::span<const uint8_t> bytes, const std::array<uint8_t, N>& with) {
  return bytes.size() >= N && std::equal(with.begin(), with.end(), bytes.begin());
}

// `from` + the four bytes of distance at `bytes`.
// Unsigned, so that a distance out of a damaged file wraps instead of being undefined; callers check where it
// leads.
inline uint64_t add_distance(uint64_t from, const uint8_t* bytes) {
  int32_t distance;
  std::memcpy(&distance, bytes, sizeof distance);
  return from + static_cast<uint64_t>(int64_t{distance});
}

// ---- What compilers leave where functions begin ---------------------------------------------------------------------

// The nop of -mnop-mcount, with which no other function begins.
//    0f 1f 44 00 00   nopl 0(%rax,%rax)
inline constexpr std::array<uint8_t, kBranchBytes> kHookNop{0x0f, 0x1f, 0x44, 0x00, 0x00};
// XRay's: a jump over nine bytes of nops.
inline constexpr size_t kSledBytes = 11, kSledAlignment = 2;
//    eb 09            jmp .+11, over the rest of the sled
inline constexpr std::array<uint8_t, 2> kSledHead{0xeb, 0x09};

// The length of the nop at the beginning: 90, or 66* [2e] 0f 1f /0 with its operand; 0: it is not a nop.
inline size_t nop_length(std::span<const uint8_t> code) {
  size_t at = 0;
  while (at < code.size() && at < 8 && (code[at] == 0x66 || code[at] == 0x2e)) ++at;
  if (at < code.size() && code[at] == 0x90) return at + 1;
  if (at + 3 > code.size() || code[at] != 0x0f || code[at + 1] != 0x1f) return 0;
  // ModRM: mod 01 has one byte of displacement, 10 has four, 11 would be a register; reg must be 0; rm 100 adds a
  // SIB byte.
  const uint8_t form = code[at + 2];
  const size_t operand = form >> 6 == 1 ? 1 : form >> 6 == 2 ? 4 : 0;
  const size_t length = at + 3 + ((form & 7) == 4 ? 1 : 0) + operand;
  return form >> 6 == 3 || (form & 0x38) != 0 || length > code.size() ? 0 : length;
}

// ---- What bytes look like, decoded from nowhere ---------------------------------------------------------------------

// Which of 16 bytes look like the last one before the distance of a direct branch:
//    e9 rel32     jmp
//    e8 rel32     call
//    0f 8x rel32  jcc
// `previous`: the 16 bytes from one byte before. A bit each.
inline uint32_t seem_branches(__m128i bytes, __m128i previous) {
  const auto masked = [](__m128i all, uint8_t mask, uint8_t value) {
    return _mm_cmpeq_epi8(_mm_and_si128(all, _mm_set1_epi8(static_cast<char>(mask))),
                          _mm_set1_epi8(static_cast<char>(value)));
  };
  const __m128i jump = masked(bytes, 0xfe, 0xe8);
  const __m128i condition = _mm_and_si128(masked(bytes, 0xf0, 0x80), masked(previous, 0xff, 0x0f));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(jump, condition)));
}

// All four bytes that look like the distance of a direct branch. visit(address of its first byte, target)
template <typename Visit>
void for_each_seeming_branch(std::span<const uint8_t> code, uint64_t address, Visit&& visit) {
  constexpr size_t kDistance = 4;
  const auto load = [](const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  for (size_t block = 0; block + kDistance < code.size(); block += sizeof(__m128i)) {
    // Copied where the code ends soon, and where nothing is before it; zeros look like nothing.
    uint8_t edge[sizeof(__m128i) + 1] = {};
    const uint8_t* bytes = code.data() + block;
    if (block == 0 || block + sizeof(__m128i) > code.size()) {
      std::memcpy(edge + (block == 0), bytes - (block != 0),
                  std::min(sizeof(__m128i), code.size() - block) + (block != 0));
      bytes = edge + 1;
    }
    for (uint32_t seem = seem_branches(load(bytes), load(bytes - 1)); seem != 0; seem &= seem - 1) {
      const size_t last = block + static_cast<size_t>(std::countr_zero(seem)), at = last + 1;
      if (at + kDistance > code.size()) return;
      const bool jump = (code[last] & 0xfe) == 0xe8;
      visit(address + last - (jump ? 0 : 1), add_distance(address + at + kDistance, code.data() + at));
    }
  }
}

// The target of the short branch that `code`, at `address`, looks like: eb (jmp), 70 to 7f (jcc), e0 to e3 (loop,
// jrcxz). They reach 128 bytes back and 127 on, counted from the end of their two bytes: code further away than
// kShortReach cannot hold one.
inline constexpr uint64_t kShortReach = 130;
inline std::optional<uint64_t> seeming_short_branch(std::span<const uint8_t> code, uint64_t address) {
  const bool looks_so = code.size() >= 2 && (code[0] == 0xeb || (code[0] & 0xf0) == 0x70 || (code[0] & 0xfc) == 0xe0);
  if (!looks_so) return {};
  return address + 2 + static_cast<uint64_t>(int64_t{static_cast<int8_t>(code[1])});
}

// Addresses that code seems to take (lea). visit(address)
template <typename Visit>
void for_each_seeming_address(std::span<const uint8_t> code, uint64_t address, Visit&& visit) {
  constexpr size_t kBytes = 7;  // REX.W 8d ModRM distance
  for (size_t at = 0; at + kBytes <= code.size(); ++at)
    //    48 or 4c (REX.W, perhaps .R), 8d, mod 00 with rm 101: lea DISTANCE(%rip), %any
    if ((code[at] & 0xfb) == 0x48 && code[at + 1] == 0x8d && (code[at + 2] & 0xc7) == 0x05)
      visit(add_distance(address + at + kBytes, code.data() + at + 3));
}

// Every four bytes as the end of an instruction that refers to a place: `ff 15` and `ff 25` before them are a call and
// a jump through a pointer there; the length of others does not matter. visit(place, use, address of the jump)
enum class SeemingUse : uint8_t { kCall, kJump, kOther };
template <typename Visit>
void for_each_seeming_use(std::span<const uint8_t> code, uint64_t address, Visit&& visit) {
  for (size_t at = 2; at + 4 <= code.size(); ++at) {
    const bool is_call = code[at - 2] == 0xff && code[at - 1] == 0x15;
    const bool is_jump = code[at - 2] == 0xff && code[at - 1] == 0x25;
    visit(add_distance(address + at + 4, code.data() + at),
          is_call   ? SeemingUse::kCall
          : is_jump ? SeemingUse::kJump
                    : SeemingUse::kOther,
          address + at - 2);
  }
}

}  // namespace penna
