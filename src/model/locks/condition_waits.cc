// SPDX-License-Identifier: MIT
// See condition_waits.h.
#include "model/locks/condition_waits.h"

#include <algorithm>

namespace penna {
namespace {

constexpr uint32_t kHerd = 3;  // threads woken by a broadcast: fewer are no herd

}  // namespace

uint32_t ConditionWaits::add(uint32_t index) {
  all_.emplace_back().index = index;
  states_.emplace_back();
  return static_cast<uint32_t>(all_.size() - 1);
}

void ConditionWaits::requested(uint32_t condition, uint32_t thread, uint64_t time, uint64_t locked, uint32_t given) {
  dropped(thread);
  if (all_[condition].lock == kNoIndex) all_[condition].lock = given;
  waits_[thread] = {condition, time, locked};
  ++states_[condition].open;
}

void ConditionWaits::woke(uint32_t condition, uint32_t thread, uint64_t time, bool everybody, bool elsewhere) {
  ConditionStats& stats = all_[condition];
  State& state = states_[condition];
  ++(everybody ? stats.broadcasts : stats.signals);
  const uint32_t asleep = state.open - state.woken;
  if (asleep == 0 && elsewhere) {
    // Heard there.
  } else if (asleep == 0) {
    ++stats.unheard;
    state.last_unheard = time;
    state.unheard_by = thread;
  } else if (everybody) {
    judge_broadcast(condition);
    state.broadcast = {time, thread, asleep, 0};
  }
  state.woken += everybody ? asleep : std::min(asleep, 1u);
  state.last_wake = time;
}

void ConditionWaits::ended(uint32_t condition, uint32_t thread, uint32_t lock, bool timed_out, uint64_t released,
                           uint32_t released_by) {
  ConditionStats& stats = all_[condition];
  State& state = states_[condition];
  stats.lock = lock;
  const Wait wait = waits_[thread];
  if (wait.condition != condition) return;
  stats.spurious += !timed_out && state.woken == 0;
  const Broadcast& broadcast = state.broadcast;
  if (!timed_out && broadcast.woken != 0 && wait.begin <= broadcast.time && released > broadcast.time &&
      released_by != broadcast.thread)
    ++state.broadcast.queued;
  leave(thread, !timed_out);
}

void ConditionWaits::dropped(uint32_t thread) {
  if (waits_[thread].condition != kNoIndex) leave(thread, false);
}

void ConditionWaits::leave(uint32_t thread, bool was_woken) {
  State& state = states_[waits_[thread].condition];
  --state.open;
  if (was_woken && state.woken != 0) --state.woken;
  state.woken = std::min(state.woken, state.open);
  waits_[thread].condition = kNoIndex;
}

void ConditionWaits::judge_broadcast(uint32_t condition) {
  const Broadcast broadcast = states_[condition].broadcast;
  states_[condition].broadcast = {};
  if (broadcast.woken < kHerd || broadcast.queued + 1 < broadcast.woken) return;
  ++all_[condition].herds;
  all_[condition].herded += broadcast.woken;
}

// Threads that are idle when a program exits wait in just this way: that is no reason for suspicion.
void ConditionWaits::suspect(uint32_t thread, bool exited) {
  const Wait& wait = waits_[thread];
  const State& state = states_[wait.condition];
  if (state.last_unheard == 0 || state.last_unheard > wait.begin || state.last_wake > wait.begin) return;
  const bool while_locked = wait.locked != 0 && wait.locked <= state.last_unheard;
  if (exited && !while_locked) return;
  lost_.push_back({wait.condition, thread, state.unheard_by, state.last_unheard, wait.begin, while_locked});
}

}  // namespace penna
