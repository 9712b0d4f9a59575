// SPDX-License-Identifier: MIT
// See near_memory.h. Opcodes: Intel SDM, volume 2.
#include "plan/near_memory.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace penna {
namespace {

constexpr uint8_t kJumpOpcode = 0xe9, kCallOpcode = 0xe8;
constexpr size_t kEntranceBytes = 16;  // jmp *2(%rip); ud2; the hook's address

}  // namespace

NearMemory::NearMemory(CodePtr address, uint64_t room, CodePtr hook) : address_(address), room_(room) {
  if (room < kEntranceBytes) {
    room_ = 0;
    return;
  }
  //    ff 25 02 00 00 00   jmp *2(%rip)      the hook may be further away than 2 GiB
  //    0f 0b               ud2               never reached; aligns the pointer
  //    ........            hook              begin_stub() calls through this word, too
  append(std::array<uint8_t, 8>{0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b});
  append_word(hook.number());
}

std::optional<NearMemory::Stub> NearMemory::begin_stub(CodePtr function, size_t code_bytes) {
  const size_t padding = (16 - bytes_.size() % 16) % 16;
  if (room_ == 0 || !has_room(padding + sizeof(penna_stub) + PENNA_STUB_CALL + code_bytes)) return {};
  bytes_.insert(bytes_.end(), padding, kPadding);
  append_word(0);
  append_word(function.number());
  const CodePtr code = end();
  // PENNA_STUB_CALL bytes, through the pointer: through the entrance it would take one more branch.
  append(std::array<uint8_t, 2>{0xff, 0x15});  // call *rel32(%rip)
  append_relative(address_ + 8);
  return Stub{code, end()};
}

bool NearMemory::append_branch(std::span<const uint8_t> opcode, CodePtr to) {
  // Distances are modulo 2^64: one that survives the cast to 32 bits and back is in reach.
  const auto distance = static_cast<int64_t>(bytes_between(end() + static_cast<int64_t>(opcode.size() + 4), to));
  if (distance != static_cast<int32_t>(distance)) return false;
  append(opcode);
  append_relative(to);
  return true;
}

// The pointer is in near memory or in the module itself, both within reach by construction: nothing to check.
void NearMemory::append_jump_through(CodePtr pointer) {
  append(std::array<uint8_t, 2>{0xff, 0x25});
  append_relative(pointer);
}

void NearMemory::append_word(uint64_t word) {
  std::array<uint8_t, 8> bytes;
  std::memcpy(bytes.data(), &word, 8);
  append(bytes);
}

void NearMemory::append_relative(CodePtr to) {
  const auto distance = static_cast<uint32_t>(bytes_between(end() + 4, to));
  std::array<uint8_t, 4> bytes;
  std::memcpy(bytes.data(), &distance, 4);
  append(bytes);
}

bool NearMemory::append_jump(CodePtr to) { return append_branch(std::array<uint8_t, 1>{kJumpOpcode}, to); }

void NearMemory::append_push(uint32_t number) {
  //    68 imm32   push, sign-extended to eight bytes
  std::array<uint8_t, 5> push{0x68};
  std::memcpy(push.data() + 1, &number, sizeof number);
  append(push);
}

namespace {

std::optional<BranchCode> branch_from(uint8_t opcode, CodePtr place, CodePtr to) {
  const auto distance = static_cast<int64_t>(bytes_between(place + kBranchBytes, to));
  if (distance != static_cast<int32_t>(distance)) return {};
  BranchCode bytes{opcode};
  const auto low = static_cast<int32_t>(distance);
  std::memcpy(bytes.data() + 1, &low, 4);
  return bytes;
}

}  // namespace

std::optional<BranchCode> jump_from(CodePtr place, CodePtr to) { return branch_from(kJumpOpcode, place, to); }
std::optional<BranchCode> call_from(CodePtr place, CodePtr to) { return branch_from(kCallOpcode, place, to); }

std::array<uint8_t, kJumpThroughBytes> jump_through_from(CodePtr place, CodePtr pointer) {
  std::array<uint8_t, kJumpThroughBytes> bytes{0xff, 0x25};
  const auto distance = static_cast<uint32_t>(bytes_between(place + kJumpThroughBytes, pointer));
  std::memcpy(bytes.data() + 2, &distance, sizeof distance);
  return bytes;
}

std::optional<SledCode> sled_call_from(CodePtr place, CodePtr to) {
  const auto call = call_from(place + kSledHead.size(), to);
  if (!call) return {};
  //    66 90             xchg %ax, %ax       kSledHead: replaces the jump, and turns the sled on
  //    e8 ........       call
  //    0f 1f 40 00       nopl 0(%rax)
  SledCode code{0x66, 0x90, 0, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0x00};
  std::copy(call->begin(), call->end(), code.begin() + kSledHead.size());
  return code;
}

}  // namespace penna
