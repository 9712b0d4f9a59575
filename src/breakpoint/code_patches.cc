// SPDX-License-Identifier: MIT
// See code_patches.h.
#include "breakpoint/code_patches.h"

#include <algorithm>
#include <span>

#include "breakpoint/registers_x86_64.h"
#include "plan/detour.h"

namespace penna {

void CodePatches::add_area(uint64_t address, uint64_t bytes) { areas_.push_back({address, bytes}); }

bool CodePatches::has_area_near(uint64_t address) const {
  // A jump reaches 2 GiB: half of that to the start of the module, the other half for the module.
  constexpr uint64_t kReach = uint64_t{1} << 30;
  return std::any_of(areas_.begin(), areas_.end(), [&](const Area& area) {
    return (area.begin > address ? area.begin - address : address - area.begin) < kReach;
  });
}

// Each in its own slot. NearMemory's prologue, the jump to a hook, is left out.
bool CodePatches::copy(const RemoteMemory& memory, const std::string& code, CodePatch* patch) {
  // The longest instruction, relocated, a jump, and NearMemory's prologue.
  constexpr uint64_t kSlot = 64;
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  for (Area& area : areas_) {
    if (area.used + kSlot > area.bytes) continue;
    const CodePtr slot(area.begin + area.used);
    NearMemory near(slot, kSlot, slot);
    const size_t skipped = near.bytes().size();
    const uint64_t begin = near.end().number();
    // The next area may be within reach of the instruction's operands.
    if (!append_moved_code({bytes, patch->instruction.length}, CodePtr(patch->at), &near)) continue;
    const uint64_t jump = near.end().number();
    if (!near.append_jump(CodePtr(patch->behind()))) continue;
    if (!memory.write(RemoteBytes(begin), std::span(near.bytes()).subspan(skipped))) return false;
    area.used += kSlot;
    patch->copy = begin;
    patch->jump = jump;
    copies_[begin] = patch->at;
    return true;
  }
  return false;
}

const CodePatch* CodePatches::insert(const RemoteMemory& memory, uint64_t at, const char** refusal) {
  if (const CodePatch* known = find(at)) return known;
  std::string code = memory.part(RemoteBytes(at), kCodeAtOnce);
  // Existing breakpoints are not the program's code: the bytes after `at` must not be read as int3.
  for (size_t i = 0; i < code.size(); ++i)
    if (const CodePatch* other = find(at + i)) code[i] = static_cast<char>(other->before);
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  const DisplacedOffer offer = look_at_displaced({bytes, code.size()}, at);
  *refusal = offer.refusal;
  if (!offer.one) return nullptr;
  CodePatch patch{at, bytes[0], true, *offer.one};
  *refusal = "has no memory near it for a copy of its first instruction";
  if (patch.instruction.way == DisplacedInstruction::kCopy && !copy(memory, code, &patch)) return nullptr;
  *refusal = "could not be written to";
  // The byte last: a thread may hit it at once, and find() and the copy must be ready.
  if (!memory.write(RemoteBytes(at), kBreakpointByte)) return nullptr;
  return &(patches_[at] = patch);
}

const CodePatch* CodePatches::find(uint64_t at) const {
  const auto found = patches_.find(at);
  return found == patches_.end() ? nullptr : &found->second;
}

bool CodePatches::is_copy_begin(uint64_t pc) const { return copies_.count(pc) != 0; }

uint64_t CodePatches::home_of(uint64_t pc) const {
  auto behind = copies_.upper_bound(pc);
  if (behind == copies_.begin()) return pc;
  const auto& [begin, at] = *--behind;
  const CodePatch* patch = find(at);
  // After the jump: another slot that is no longer used.
  if (patch == nullptr || pc > patch->jump) return pc;
  // No other case: a copy is one instruction, and a thread at the jump has executed it.
  return pc == begin ? patch->at : patch->behind();
}

CodePatches::PutBack CodePatches::put_back(const RemoteMemory& memory) {
  PutBack done;
  for (auto& [at, patch] : patches_) {
    if (!patch.is_in) continue;
    // If the module has been unmapped there is nothing to restore or count.
    const RemoteBytes place(at);
    const auto there = memory.get(place);
    if (there == kBreakpointByte) memory.write(place, patch.before);
    patch.is_in = false;
    if (there == kBreakpointByte && memory.get(place) == patch.before)
      ++done.places;
    else if (there && there != patch.before)
      ++done.kept;
  }
  return done;
}

bool CodePatches::any_in(uint64_t start, uint64_t end) const {
  return std::any_of(patches_.begin(), patches_.end(),
                     [&](const auto& one) { return one.first >= start && one.first < end; });
}

void CodePatches::forget(uint64_t start, uint64_t end) {
  std::erase_if(patches_, [&](const auto& one) { return one.first >= start && one.first < end; });
  std::erase_if(copies_, [&](const auto& one) { return one.second >= start && one.second < end; });
}

}  // namespace penna
