// SPDX-License-Identifier: MIT
// See lock_record.h: the slow paths.
#include "agent/hooks/locks/lock_record.h"

namespace penna::agent {

// Each recorded acquisition without a stack stands for lock_sample of them; those with a stack are all recorded.
void record_acquired_at(uint64_t lock, uint32_t stack, uint64_t tried) {
  const uint64_t now = penna_now();
  const bool is_recorded = stack != 0 || process.lock_sample <= 1 || draw_lock_sample();
  if (is_recorded) write_taken(lock | tried, stack, now);
  holds_since(lock, is_recorded ? now : 0);
}

void record_released_at(uint64_t lock, uint64_t time, const unwind::HookFrame* hook) {
  if (inside_lock_function()) return;
  // Lock functions may have been patched since it was taken, but these options do not change.
  const bool is_noted = process.long_hold != 0 || process.lock_sample > 1;
  const uint64_t since = is_noted ? held_since(lock) : UINT64_MAX;
  // 0: the acquisition was left out by --sample-locks, and so is the release. Unknown holds (UINT64_MAX) are never
  // long.
  const bool is_long = process.long_hold != 0 && since != 0 && since < time && time - since >= process.long_hold;
  const bool was_waited_for = wants_end(lock) && since != 0;
  if (was_waited_for) end_recorded(lock);
  if (is_long || was_waited_for)
    write_lock_at(PENNA_KIND_UNLOCK_AT, lock, current_stack(hook->caller()), time);
  else if (since != 0)
    write_lock(PENNA_KIND_UNLOCK, lock, time);
  note_release(lock);
}

}  // namespace penna::agent
