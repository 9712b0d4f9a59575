// SPDX-License-Identifier: MIT
// See thread_cache.h. Reference: glibc's malloc/malloc.c, tcache_thread_shutdown.
#include "agent/hooks/alloc/thread_cache.h"

#include <link.h>

#include "agent/core/arch.h"
#include "agent/core/attachment.h"
#include "agent/modules/loader.h"
#include "agent/modules/modules.h"
#include "agent/modules/real.h"
#include "agent/standalone/standalone.h"

namespace penna::agent {
namespace {

// The code whose calls may be such ones; empty: free is not hooked.
uintptr_t code_start, code_bytes;

}  // namespace

void look_for_thread_cache() {
  if (attachment == nullptr) return;
#ifdef PENNA_STANDALONE
  code_start = penna_agent_standalone.cache_end;
  code_bytes = penna_agent_standalone.cache_end_bytes;
#else
  ModuleFacts libc;
  if (!module_at(reinterpret_cast<uintptr_t>(real.free), &libc)) return;
  code_start = libc.start;
  code_bytes = libc.end - libc.start;
#endif
}

bool empties_thread_cache(uintptr_t caller_pc) {
  return caller_pc - code_start < code_bytes && called_before(caller_pc) == reinterpret_cast<uintptr_t>(real.free);
}

}  // namespace penna::agent
