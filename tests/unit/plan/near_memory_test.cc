// SPDX-License-Identifier: MIT
// NearMemory: its output decodes to the same, and never exceeds the available room.
#include "plan/near_memory.h"

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>

#include <cstring>

namespace penna::near_memory_test {
namespace {

constexpr CodePtr kAt(0x7f0000400000), kHook(0x7fff12345670);

// The instruction at `address` of what `memory` holds, and where it leads to: its target, or the pointer that it jumps through.
struct Decoded {
  ZydisMnemonic mnemonic = ZYDIS_MNEMONIC_INVALID;
  CodePtr target;
  uint64_t length = 0;
};
Decoded decode(std::span<const uint8_t> bytes, CodePtr base, CodePtr at) {
  ZydisDisassembledInstruction instruction;
  const uint64_t skip = bytes_between(base, at);
  if (skip >= bytes.size() ||
      !ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, at.number(), bytes.data() + skip,
                                          bytes.size() - skip, &instruction)))
    return {};
  uint64_t target = 0;
  ZydisCalcAbsoluteAddress(&instruction.info, &instruction.operands[0], at.number(), &target);
  return {instruction.info.mnemonic, CodePtr(target), instruction.info.length};
}
uint64_t word_at(const NearMemory& near, CodePtr address) {
  uint64_t word = 0;
  std::memcpy(&word, near.bytes().data() + bytes_between(kAt, address), 8);
  return word;
}

TEST(NearMemory, BeginsWithAJumpToTheHook) {
  const NearMemory near(kAt, 4096, kHook);
  const Decoded jump = decode(near.bytes(), kAt, near.entrance());
  EXPECT_EQ(jump.mnemonic, ZYDIS_MNEMONIC_JMP);
  EXPECT_EQ(word_at(near, jump.target), kHook.number());
}

TEST(NearMemory, AStubCallsTheHookAndJumpsOn) {
  NearMemory near(kAt, 4096, kHook);
  for (CodePtr function : {CodePtr(), CodePtr(0x1234), kAt - 0x1000}) {
    constexpr int64_t kFunction = offsetof(penna_stub, function), kTarget = offsetof(penna_stub, target),
                      kStub = sizeof(penna_stub);
    const auto stub = near.begin_stub(function, 6);
    ASSERT_TRUE(stub);
    near.append_jump_through(stub->code - kStub + kTarget);
    EXPECT_EQ(stub->code.number() % 16, 0u);
    EXPECT_EQ(stub->resume, stub->code + PENNA_STUB_CALL);
    EXPECT_EQ(word_at(near, stub->code - kStub + kFunction), function.number());
    const Decoded call = decode(near.bytes(), kAt, stub->code);
    EXPECT_EQ(call.mnemonic, ZYDIS_MNEMONIC_CALL);
    EXPECT_EQ(call.length, uint64_t{PENNA_STUB_CALL});
    EXPECT_EQ(word_at(near, call.target), kHook.number());
    const Decoded jump = decode(near.bytes(), kAt, stub->resume);
    EXPECT_EQ(jump.mnemonic, ZYDIS_MNEMONIC_JMP);
    EXPECT_EQ(jump.target, stub->code - kStub);
  }
}

TEST(NearMemory, NeverMoreThanThereIsRoomFor) {
  for (uint64_t room = 0; room < 200; ++room) {
    NearMemory near(kAt, room, kHook);
    while (near.begin_stub(CodePtr(1), 6)) near.append_jump_through(kAt);
    EXPECT_LE(near.bytes().size(), room);
  }
}

TEST(NearMemory, BranchesReachTwoGigabytes) {
  const auto target = [](CodePtr place, CodePtr to) {
    const auto bytes = call_from(place, to);
    return bytes ? decode(*bytes, place, place).target : CodePtr();
  };
  constexpr int64_t kHalf = 0x80000000;
  for (int64_t distance : {int64_t{0}, int64_t{5}, kHalf - 1, kHalf + 4})
    EXPECT_EQ(target(kAt, kAt + distance), kAt + distance) << distance;
  EXPECT_EQ(target(kAt, kAt + (5 - kHalf)), kAt + (5 - kHalf));
  EXPECT_FALSE(call_from(kAt, kAt + (5 + kHalf)));
  EXPECT_FALSE(call_from(kAt, kAt + (4 - kHalf)));
  EXPECT_FALSE(call_from(CodePtr(), CodePtr(UINT64_MAX / 2)));
}

}  // namespace
}  // namespace penna::near_memory_test
