// SPDX-License-Identifier: MIT
// The recorder's answer to questions about patches (penna/patch_plan.h), mapped into memory.
//
// Why separate from call_patches.cc: this file says what can be relied on; that one acts on it.
// Invariant: all parts of a Plan with a head lie inside its memory; the contents of a part are checked only where that
// is stated.
#pragma once

#include <stdint.h>

#include "agent/core/mapped_memory.h"
#include "penna/patch_plan.h"

namespace penna::agent {

// A plan whose parts all lie inside its memory.
struct Plan {
  const penna_patch_plan* head = nullptr;
  const penna_near* nears = nullptr;
  const penna_patch* patches = nullptr;
  const penna_capture* captures = nullptr;
  const penna_value* values = nullptr;
  const char* text = nullptr;
  const uint8_t* code = nullptr;
  const char* names = nullptr;

  Plan(const MappedMemory& memory, uint32_t modules) {
    const auto* found = reinterpret_cast<const penna_patch_plan*>(memory.at());
    if (found == nullptr || memory.bytes() < sizeof *found || found->magic != PENNA_PATCH_MAGIC ||
        found->version != PENNA_ABI_VERSION || found->modules != modules)
      return;
    // Counts are 32-bit and untrusted: sums of them times a size cannot overflow 64 bits, and must give the file's
    // size.
    const uint64_t patches_at = sizeof *found + uint64_t{modules} * sizeof(penna_near);
    const uint64_t captures_at = patches_at + uint64_t{found->patches} * sizeof(penna_patch);
    const uint64_t values_at = captures_at + uint64_t{found->captures} * sizeof(penna_capture);
    const uint64_t code_at = values_at + uint64_t{found->values} * sizeof(penna_value);
    const uint64_t names_at = code_at + found->near_bytes;
    const uint64_t text_at = names_at + found->name_bytes;
    if (text_at + found->text_bytes != memory.bytes()) return;
    if (found->name_bytes != 0 && memory.at()[text_at - 1] != '\0') return;
    nears = reinterpret_cast<const penna_near*>(found + 1);
    patches = reinterpret_cast<const penna_patch*>(memory.at() + patches_at);
    captures = reinterpret_cast<const penna_capture*>(memory.at() + captures_at);
    values = reinterpret_cast<const penna_value*>(memory.at() + values_at);
    text = reinterpret_cast<const char*>(memory.at() + text_at);
    code = memory.at() + code_at;
    names = reinterpret_cast<const char*>(memory.at() + names_at);
    head = found;
  }
  bool holds(const penna_near& near, const penna_patch_question& question) const {
    return near.bytes <= question.near_bytes && uint64_t{near.offset} + near.bytes <= head->near_bytes &&
           uint64_t{near.first} + near.patches <= head->patches;
  }
  const char* name(uint32_t at) const { return at < head->name_bytes ? names + at : nullptr; }
};

inline uint64_t plan_bytes(const penna_patch_plan& head) {
  return sizeof head + uint64_t{head.modules} * sizeof(penna_near) + uint64_t{head.patches} * sizeof(penna_patch) +
         uint64_t{head.captures} * sizeof(penna_capture) + uint64_t{head.values} * sizeof(penna_value) +
         head.near_bytes + head.name_bytes + head.text_bytes;
}

}  // namespace penna::agent
