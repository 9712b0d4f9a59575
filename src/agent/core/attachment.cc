// SPDX-License-Identifier: MIT
// See attachment.h.
#include "agent/core/attachment.h"

#include <sys/mman.h>

#include "agent/core/sys.h"

__attribute__((visibility("default"))) penna_attachment* penna_agent_attachment;

namespace penna::agent {

penna_attachment* attachment;
bool loaded_late;

namespace {

uintptr_t last[kMostLast];
uint32_t last_count;

bool goes_last(uintptr_t address) {
  for (uint32_t i = 0; i < last_count; ++i)
    if (address - last[i] < sizeof(penna_change::before)) return true;
  return false;
}

// A new entry without its address; null: the journal is full.
penna_change* add_change(penna_change_kind kind, uint32_t bytes) {
  uint32_t at = __atomic_load_n(&attachment->changes, __ATOMIC_RELAXED);
  do {
    if (at >= attachment->room) return nullptr;
  } while (!__atomic_compare_exchange_n(&attachment->changes, &at, at + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  penna_change* change = penna_changes_of(attachment) + at;
  change->kind = kind;
  change->bytes = static_cast<uint8_t>(bytes);
  return change;
}

// Called last: a reader that finds the address finds a complete entry.
void finish_change(penna_change* change, uintptr_t address) {
  __atomic_store_n(&change->address, address, __ATOMIC_RELEASE);
}

bool note(penna_change_kind kind, uintptr_t address, const void* before, const void* after, uint32_t bytes) {
  if (attachment == nullptr) return true;
  if (has_recorder_left()) return false;
  penna_change* change = add_change(kind, bytes);
  if (change == nullptr) return false;
  __builtin_memcpy(change->before, before, bytes);
  __builtin_memcpy(change->after, after, bytes);
  uintptr_t start = 0;
  change->is_marked = mark_if_unloadable(address, &start);
  change->in_module = static_cast<uint32_t>(address - start);
  change->goes_last = goes_last(address);
  return finish_change(change, address), true;
}

}  // namespace

void put_back_last(uintptr_t function) {
  if (last_count < kMostLast) last[last_count++] = function;
}

bool note_code(uintptr_t address, const uint8_t* before, const uint8_t* after, uint32_t bytes) {
  return bytes <= sizeof(penna_change::before) && note(PENNA_CHANGED_CODE, address, before, after, bytes);
}

bool note_pointer(uintptr_t address, uintptr_t before, uintptr_t after) {
  return note(PENNA_CHANGED_POINTER, address, &before, &after, sizeof before);
}

void note_mapping(uintptr_t address, size_t bytes) {
  if (attachment == nullptr) return;
  penna_change* change = add_change(PENNA_MAPPED, 0);
  if (change == nullptr) return;
  change->mapped = bytes;
  finish_change(change, address);
}

void* map_kept(size_t bytes) {
  const long got =
      sys(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sys_failed(got)) return nullptr;
  note_mapping(static_cast<uintptr_t>(got), bytes);
  return reinterpret_cast<void*>(got);
}

void forget_changes(uintptr_t start, uintptr_t end) {
  if (attachment == nullptr) return;
  const uint32_t count = __atomic_load_n(&attachment->changes, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < count; ++i) {
    penna_change& change = penna_changes_of(attachment)[i];
    if (change.address - start < end - start) __atomic_store_n(&change.address, 0, __ATOMIC_RELAXED);
  }
}

void begin_attachment(penna_attachment* shared) {
  for (uint32_t i = 0; i < shared->changes; ++i) {
    penna_change& change = penna_changes_of(shared)[i];
    if (change.address != 0 && change.kind == PENNA_MAPPED)
      sys(SYS_munmap, static_cast<long>(change.address), static_cast<long>(change.mapped));
    change = {};
  }
  shared->changes = 0;
  shared->state = PENNA_ATTACH_HOLDS;
  attachment = penna_agent_attachment = shared;
}

}  // namespace penna::agent
