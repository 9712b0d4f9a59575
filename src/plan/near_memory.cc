// SPDX-License-Identifier: MIT
// See near_memory.h.
#include "plan/near_memory.h"

#include <array>
#include <cstring>

namespace penna {
namespace {

constexpr size_t kEntranceBytes = 16;  // jmp *2(%rip); ud2; the hook's address

}  // namespace

NearMemory::NearMemory(uint64_t address, uint64_t room, uint64_t hook) : address_(address), room_(room) {
  if (room < kEntranceBytes) {
    room_ = 0;
    return;
  }
  append(std::array<uint8_t, 8>{0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b});
  append_word(hook);
}

std::optional<NearMemory::Stub> NearMemory::begin_stub(uint64_t function, size_t code_bytes) {
  const size_t padding = (16 - bytes_.size() % 16) % 16;
  if (room_ == 0 || !has_room(padding + sizeof(penna_stub) + PENNA_STUB_CALL + code_bytes)) return {};
  bytes_.insert(bytes_.end(), padding, 0xcc);
  append_word(0);
  append_word(function);
  const uint64_t code = end();
  append(std::array<uint8_t, 2>{0xff, 0x15});  // call *rel32(%rip)
  append_relative(address_ + 8);
  return Stub{code, end()};
}

bool NearMemory::append_branch(std::span<const uint8_t> opcode, uint64_t to) {
  const auto distance = static_cast<int64_t>(to - (end() + opcode.size() + 4));
  if (distance != static_cast<int32_t>(distance)) return false;
  append(opcode);
  append_relative(to);
  return true;
}

void NearMemory::append_jump_through(uint64_t pointer) {
  append(std::array<uint8_t, 2>{0xff, 0x25});
  append_relative(pointer);
}

void NearMemory::append_word(uint64_t word) {
  std::array<uint8_t, 8> bytes;
  std::memcpy(bytes.data(), &word, 8);
  append(bytes);
}

void NearMemory::append_relative(uint64_t to) {
  const auto distance = static_cast<uint32_t>(to - (end() + 4));
  std::array<uint8_t, 4> bytes;
  std::memcpy(bytes.data(), &distance, 4);
  append(bytes);
}

std::optional<std::array<uint8_t, 5>> relative_branch(uint8_t opcode, uint64_t place, uint64_t to) {
  const auto distance = static_cast<int64_t>(to - (place + 5));
  if (distance != static_cast<int32_t>(distance)) return {};
  std::array<uint8_t, 5> bytes{opcode};
  const auto low = static_cast<int32_t>(distance);
  std::memcpy(bytes.data() + 1, &low, 4);
  return bytes;
}

}  // namespace penna
