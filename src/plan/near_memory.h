// SPDX-License-Identifier: MIT
// NearMemory: code that is written for a module, in the memory near it that a target has offered (patch_plan.h).
//
// It begins with the way to the hook: a jump that every patched call in reach goes to. Then stubs, each a penna_stub
// and code that calls the hook first. Addresses are run-time addresses.
// Invariant: never more bytes than the target has offered.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penna/patch_plan.h"
#include "plan/arch.h"

namespace penna {

class NearMemory {
 public:
  NearMemory(uint64_t address, uint64_t room, uint64_t hook);

  bool has_room(size_t bytes) const { return bytes_.size() + bytes <= room_; }
  bool has_entrance() const { return !bytes_.empty(); }  // else there is no room for anything
  uint64_t entrance() const { return address_; }         // a jump to the hook
  uint64_t end() const { return address_ + bytes_.size(); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  // Begins a stub: the place of its code, behind the call of the hook. Nothing: no room for `code_bytes` more.
  struct Stub {
    uint64_t code;    // where its penna_stub ends
    uint64_t resume;  // behind the call
  };
  std::optional<Stub> begin_stub(uint64_t function, size_t code_bytes);
  void append(std::span<const uint8_t> code) { bytes_.insert(bytes_.end(), code.begin(), code.end()); }
  // False: out of reach.
  bool append_jump(uint64_t to);
  bool append_branch(std::span<const uint8_t> opcode, uint64_t to);
  void append_jump_through(uint64_t pointer);
  void append_push(uint32_t number);  // onto the stack, as a word

 private:
  void append_word(uint64_t word);
  void append_relative(uint64_t to);  // from behind the distance
  uint64_t address_, room_;
  std::vector<uint8_t> bytes_;
};

// Code for a `place`; nothing: `to` is out of reach.
using BranchCode = std::array<uint8_t, kBranchBytes>;
std::optional<BranchCode> jump_from(uint64_t place, uint64_t to);
std::optional<BranchCode> call_from(uint64_t place, uint64_t to);
std::array<uint8_t, kJumpThroughBytes> jump_through_from(uint64_t place, uint64_t pointer);
// A sled that calls. Its first kSledHead.size() bytes are to be written last: they lead over the others.
using SledCode = std::array<uint8_t, kSledBytes>;
std::optional<SledCode> sled_call_from(uint64_t place, uint64_t to);

}  // namespace penna
