// SPDX-License-Identifier: MIT
// See linker_turns.h. Each side announces itself before it checks for the other, both sequentially consistent: at least
// one of them sees the other.
#include "agent/modules/linker_turns.h"

#include "agent/core/patience.h"
#include "agent/core/state.h"
#include "agent/modules/modules.h"

namespace penna::agent {
ThreadsInLinker threads_in_linker;

namespace {

uint32_t& stays = threads_in_linker.stays;
uint32_t& turns = threads_in_linker.turns;

// Handles that could not be closed yet.
constexpr uint32_t kMostKept = 256;
void* kept[kMostKept];

void* take_kept() {
  for (void*& handle : kept)
    if (__atomic_load_n(&handle, __ATOMIC_RELAXED) != nullptr)
      if (void* const taken = __atomic_exchange_n(&handle, nullptr, __ATOMIC_ACQ_REL)) return taken;
  return nullptr;
}

bool keep(void* handle) {
  for (void*& place : kept) {
    void* none = nullptr;
    if (__atomic_compare_exchange_n(&place, &none, handle, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

bool has_kept() {
  for (void* const& handle : kept)
    if (__atomic_load_n(&handle, __ATOMIC_SEQ_CST) != nullptr) return true;
  return false;
}

// Called by a thread that ends the last stay, and by one that keeps a handle: at least one of them sees the other.
void close_kept() {
  while (has_kept()) {
    const LinkerTurn turn;
    void* const handle = turn ? take_kept() : nullptr;
    if (handle == nullptr) return;
    close_module(handle);
  }
}

}  // namespace

void begin_linker_stay() {
  __atomic_fetch_add(&stays, 1, __ATOMIC_SEQ_CST);
  within_a_second([] { return __atomic_load_n(&turns, __ATOMIC_SEQ_CST) == thread.linker_turns; });
}

void end_linker_stay() {
  __atomic_fetch_sub(&stays, 1, __ATOMIC_SEQ_CST);
  close_kept();
}

LinkerStay::LinkerStay() {
  begin_linker_stay();
  ++thread.linker_stays;
}

LinkerStay::~LinkerStay() {
  --thread.linker_stays;
  end_linker_stay();
}

bool anyone_in_linker() { return __atomic_load_n(&stays, __ATOMIC_SEQ_CST) != 0; }

bool others_in_linker() { return __atomic_load_n(&stays, __ATOMIC_SEQ_CST) > (thread.linker_stays != 0 ? 1 : 0); }

LinkerTurn::LinkerTurn() {
  ++thread.linker_turns;
  __atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST);
  taken_ = !others_in_linker();
}

LinkerTurn::~LinkerTurn() {
  __atomic_fetch_sub(&turns, 1, __ATOMIC_SEQ_CST);
  --thread.linker_turns;
}

void close_in_turn(void* handle) {
  if (keep(handle))
    close_kept();
  else
    close_module(handle);
}

void forget_linker_stays() {
  __atomic_store_n(&stays, thread.linker_stays, __ATOMIC_SEQ_CST);
  __atomic_store_n(&turns, thread.linker_turns, __ATOMIC_SEQ_CST);
}

}  // namespace penna::agent
