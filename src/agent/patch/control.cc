// SPDX-License-Identifier: MIT
// See control.h.
#include "agent/patch/control.h"

#include "agent/core/attachment.h"
#include "agent/core/call_filters.h"
#include "agent/core/state.h"
#include "agent/core/stopping.h"
#include "agent/core/writer.h"
#include "agent/patch/points.h"
#include "agent/patch/probes.h"
#include "agent/patch/silencing.h"
#include "agent/patch/sites.h"
#include "penna/channel.h"
#include "penna/detail/join.h"
#include "penna/detail/remote.h"

namespace penna::agent {
namespace {

// One for both entries: the recorder makes one request at a time.
alignas(64) char stack[PENNA_REMOTE_STACK];

// Probes of other headers are recorded from start to end: their code cannot be written while the program runs.
penna_control_status switch_points(const penna_control& request, bool on, penna_change_counts* change) {
  char pattern[sizeof request.pattern];
  __builtin_memcpy(pattern, request.pattern, sizeof pattern);
  pattern[sizeof pattern - 1] = '\0';
  const uint32_t probes = count_probes(pattern);
  change->matched += probes;
  change->refused += probes;
  return change_points(pattern, on, change);
}

penna_control_status silence(const penna_control& asked, penna_control* request, penna_change_counts* change) {
  uint32_t count = 0;
  while (count < PENNA_CONTROL_FUNCTIONS && asked.functions[count] != 0) ++count;
  uint64_t silent = 0;
  const penna_control_status status = silence_functions(asked.functions, count, change, &silent);
  request->functions[PENNA_CONTROL_FUNCTIONS] = silent;
  return status;
}

void answer(penna_control* request) {
  // Copied first: the page is shared, and the writer of the request may write again.
  const penna_control asked = *request;
  penna_change_counts change{};
  if (code_refused()) {
    request->status = PENNA_CONTROL_NOT_RECORDED;
    return;
  }
  request->status = asked.operation == PENNA_CONTROL_SILENCE
                        ? silence(asked, request, &change)
                        : switch_points(asked, asked.operation == PENNA_CONTROL_POINTS_ON, &change);
  request->matched = change.matched;
  request->changed = change.changed;
  request->refused = change.refused;
}

}  // namespace

extern "C" {
__attribute__((used, visibility("hidden"))) void penna_agent_control() {
  if (process.channel != nullptr) answer(&process.channel->control);
}
void penna_agent_control_entry();
void penna_agent_control_end();

__attribute__((used, visibility("hidden"))) void penna_agent_stop() {
  {
    // The thread may have been stopped while it held the lock itself: waiting would never end.
    const BoardLock lock(BoardLock::kTry);
    attachment->stopped = lock ? 1 : 0;
  }
  if (attachment->stopped != 0) stop_recording();
}
void penna_agent_stop_entry();
void penna_agent_stop_end();
}

asm(".text\n"
    ".hidden penna_agent_control_entry\n"
    ".hidden penna_agent_control_end\n" PENNA_REMOTE_CODE("penna_agent_control_entry", "penna_agent_control_end",
                                                          "penna_agent_control"));
asm(".text\n"
    ".hidden penna_agent_stop_entry\n"
    ".hidden penna_agent_stop_end\n" PENNA_REMOTE_CODE("penna_agent_stop_entry", "penna_agent_stop_end",
                                                       "penna_agent_stop"));

void offer_control(penna_channel* channel) {
  channel->control_entry = reinterpret_cast<uintptr_t>(&penna_agent_control_entry);
  channel->control_end = reinterpret_cast<uintptr_t>(&penna_agent_control_end);
  channel->control_stack = reinterpret_cast<uintptr_t>(stack + sizeof stack);
}

void offer_stop(penna_attachment* shared) {
  shared->stopped = 0;
  shared->stop_entry = reinterpret_cast<uintptr_t>(&penna_agent_stop_entry);
  shared->stop_end = reinterpret_cast<uintptr_t>(&penna_agent_stop_end);
  shared->stop_stack = reinterpret_cast<uintptr_t>(stack + sizeof stack);
}

}  // namespace penna::agent

// ---- A recorder in this process -------------------------------------------------------------------------------------

// Points that are switched on for the first time get their id now, as part of this recording, no matter who asked.
extern "C" __attribute__((visibility("default"))) void penna_agent_change(penna_control* control) {
  using namespace penna::agent;
  if (process.channel == nullptr) return;
  const uint32_t muted = thread.muted;
  thread.muted = 0;
  answer(control);
  close_chunk();
  thread.muted = muted;
}
