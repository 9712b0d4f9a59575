// SPDX-License-Identifier: MIT
// NearMemory: code that is written for a module, in the memory near it that a target has offered (patch_plan.h).
//
// It begins with the entrance: a jump to the hook, to which every patched call in reach goes. Then stubs, each a
// penna_stub and code that calls the hook first.
// Invariant: never more bytes than the target has offered.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/remote_ptr.h"
#include "penna/patch_plan.h"
#include "plan/arch.h"

namespace penna {

// What the file has at an address, in the target: the planners' other addresses are those of files. `bias`: run-time
// address - address in the file.
inline CodePtr in_target(uint64_t file_address, uint64_t bias) { return CodePtr(file_address + bias); }

class NearMemory {
 public:
  NearMemory(CodePtr address, uint64_t room, CodePtr hook);

  bool has_room(size_t bytes) const { return bytes_.size() + bytes <= room_; }
  bool has_entrance() const { return !bytes_.empty(); }  // else there is no room for anything
  CodePtr entrance() const { return address_; }          // a jump to the hook
  CodePtr end() const { return address_ + static_cast<int64_t>(bytes_.size()); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  // Begins a stub: returns the place of its code, after the call of the hook. Nothing: no room for `code_bytes` more.
  // 16-byte aligned, after its penna_stub (patch_plan.h), whose two words the target reads and fills.
  struct Stub {
    CodePtr code;    // where its penna_stub ends
    CodePtr resume;  // after the call
  };
  std::optional<Stub> begin_stub(CodePtr function, size_t code_bytes);
  void append(std::span<const uint8_t> code) { bytes_.insert(bytes_.end(), code.begin(), code.end()); }
  // False: out of reach.
  bool append_jump(CodePtr to);
  bool append_branch(std::span<const uint8_t> opcode, CodePtr to);
  void append_jump_through(CodePtr pointer);
  void append_push(uint32_t number);  // onto the stack, as a word

 private:
  void append_word(uint64_t word);
  void append_relative(CodePtr to);  // from the end of the distance
  CodePtr address_;
  uint64_t room_;
  std::vector<uint8_t> bytes_;
};

// Code for a `place`; nothing: `to` is out of reach.
using BranchCode = std::array<uint8_t, kBranchBytes>;
// rel32 reaches 2 GiB in either direction, counted from the end of the branch.
std::optional<BranchCode> jump_from(CodePtr place, CodePtr to);
std::optional<BranchCode> call_from(CodePtr place, CodePtr to);
std::array<uint8_t, kJumpThroughBytes> jump_through_from(CodePtr place, CodePtr pointer);
// A sled that calls. Its first kSledHead.size() bytes are to be written last: they jump over the others.
using SledCode = std::array<uint8_t, kSledBytes>;
std::optional<SledCode> sled_call_from(CodePtr place, CodePtr to);

}  // namespace penna
