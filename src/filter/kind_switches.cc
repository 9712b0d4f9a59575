// SPDX-License-Identifier: MIT
// See kind_switches.h.
#include "filter/kind_switches.h"

namespace penna {

bool KindSwitches::leaves_out(const Record& record) const {
  switch (record.kind) {
    case PENNA_KIND_ALLOC:
    case PENNA_KIND_ALLOC_LARGE:
    case PENNA_KIND_POOL_ALLOC:
    case PENNA_KIND_MAP: return is_off(PENNA_ALLOC, record.time);
    case PENNA_KIND_LOCK:
    case PENNA_KIND_LOCK_AT:
    case PENNA_KIND_LOCK_BUSY:
    case PENNA_KIND_LOCK_REQUEST: return is_off(PENNA_LOCKS, record.time);
    case PENNA_KIND_LOCK_WAIT: return is_off(PENNA_LOCKS, record.as<penna_lock_wait>().begin);
    case PENNA_KIND_COND_WAIT: return is_off(PENNA_LOCKS, record.as<penna_cond_wait>().begin);
    default: return false;
  }
}

}  // namespace penna
