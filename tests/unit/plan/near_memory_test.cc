// SPDX-License-Identifier: MIT
// NearMemory: what it writes is decoded again, and it never writes more than there is room for.
#include "plan/near_memory.h"

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>

#include <cstring>

namespace penna::near_memory_test {
namespace {

constexpr uint64_t kAt = 0x7f0000400000, kHook = 0x7fff12345670;

// The instruction at `address` of what `memory` holds, and where it leads to: its target, or the pointer that it jumps through.
struct Decoded {
  ZydisMnemonic mnemonic = ZYDIS_MNEMONIC_INVALID;
  uint64_t target = 0, length = 0;
};
Decoded decode(std::span<const uint8_t> bytes, uint64_t base, uint64_t address) {
  ZydisDisassembledInstruction instruction;
  if (address < base || address - base >= bytes.size() ||
      !ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, bytes.data() + (address - base),
                                          bytes.size() - (address - base), &instruction)))
    return {};
  Decoded decoded{instruction.info.mnemonic, 0, instruction.info.length};
  ZydisCalcAbsoluteAddress(&instruction.info, &instruction.operands[0], address, &decoded.target);
  return decoded;
}
uint64_t word_at(const NearMemory& near, uint64_t address) {
  uint64_t word = 0;
  std::memcpy(&word, near.bytes().data() + (address - kAt), 8);
  return word;
}

TEST(NearMemory, BeginsWithAJumpToTheHook) {
  const NearMemory near(kAt, 4096, kHook);
  const Decoded jump = decode(near.bytes(), kAt, near.entrance());
  EXPECT_EQ(jump.mnemonic, ZYDIS_MNEMONIC_JMP);
  EXPECT_EQ(word_at(near, jump.target), kHook);
}

TEST(NearMemory, AStubCallsTheHookAndJumpsOn) {
  NearMemory near(kAt, 4096, kHook);
  for (uint64_t function : {uint64_t{0}, uint64_t{0x1234}, kAt - 0x1000}) {
    const auto stub = near.begin_stub(function, 6);
    ASSERT_TRUE(stub);
    near.append_jump_through(stub->code - sizeof(penna_stub) + offsetof(penna_stub, target));
    EXPECT_EQ(stub->code % 16, 0u);
    EXPECT_EQ(stub->resume, stub->code + PENNA_STUB_CALL);
    EXPECT_EQ(word_at(near, stub->code - sizeof(penna_stub) + offsetof(penna_stub, function)), function);
    const Decoded call = decode(near.bytes(), kAt, stub->code);
    EXPECT_EQ(call.mnemonic, ZYDIS_MNEMONIC_CALL);
    EXPECT_EQ(call.length, uint64_t{PENNA_STUB_CALL});
    EXPECT_EQ(word_at(near, call.target), kHook);
    const Decoded jump = decode(near.bytes(), kAt, stub->resume);
    EXPECT_EQ(jump.mnemonic, ZYDIS_MNEMONIC_JMP);
    EXPECT_EQ(jump.target, stub->code - sizeof(penna_stub));
  }
}

TEST(NearMemory, NeverMoreThanThereIsRoomFor) {
  for (uint64_t room = 0; room < 200; ++room) {
    NearMemory near(kAt, room, kHook);
    while (near.begin_stub(1, 6)) near.append_jump_through(kAt);
    EXPECT_LE(near.bytes().size(), room);
  }
}

TEST(NearMemory, BranchesReachTwoGigabytes) {
  const auto target = [](uint64_t place, uint64_t to) {
    const auto bytes = call_from(place, to);
    return bytes ? decode(*bytes, place, place).target : 0;
  };
  for (uint64_t distance : {uint64_t{0}, uint64_t{5}, uint64_t{0x7fffffff}, uint64_t{0x7fffffff} + 5})
    EXPECT_EQ(target(kAt, kAt + distance), kAt + distance) << distance;
  EXPECT_EQ(target(kAt, kAt + 5 - 0x80000000), kAt + 5 - 0x80000000);
  EXPECT_FALSE(call_from(kAt, kAt + 5 + 0x80000000));
  EXPECT_FALSE(call_from(kAt, kAt + 4 - 0x80000000));
  EXPECT_FALSE(call_from(0, UINT64_MAX / 2));
}

}  // namespace
}  // namespace penna::near_memory_test
