// SPDX-License-Identifier: MIT
// A request to the recorder: questions about modules go out, a plan of what to write comes back (penna/patch_plan.h).
//
// Usage: under a PatchLock, ask(most, fill, carry_out).
// Invariant: only one thread of the process at a time asks and carries out.
#pragma once

#include <linux/memfd.h>
#include <stdint.h>
#include <sys/mman.h>

#include "agent/calls/call_values.h"
#include "agent/core/environment.h"
#include "agent/core/mapped_memory.h"
#include "agent/core/patience.h"
#include "agent/core/rendezvous.h"
#include "agent/core/state.h"
#include "agent/core/sys.h"
#include "agent/modules/modules.h"
#include "agent/modules/near_ranges.h"
#include "agent/patch/plan_memory.h"
#include "penna/patch_plan.h"

namespace penna::agent {

// Serializes requests; gives up after a second. Separate from the board's lock: while it is held, names are looked up
// under the dynamic linker's lock, whose holder may wait for the board. Like that one it holds the process id, so that
// a forked child can take it over.
class PatchLock {
 public:
  PatchLock() : self_(static_cast<uint32_t>(sys(SYS_getpid))), held_(within_a_second([this] { return take(); })) {}
  ~PatchLock() {
    if (held_) __atomic_store_n(&holder, 0, __ATOMIC_RELEASE);  // pairs with take()
  }
  PatchLock(const PatchLock&) = delete;
  PatchLock& operator=(const PatchLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool take() const {
    uint32_t seen = __atomic_load_n(&holder, __ATOMIC_RELAXED);
    return seen != self_ &&
           __atomic_compare_exchange_n(&holder, &seen, self_, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  static uint32_t holder;
  uint32_t self_;
  bool held_;
};

struct Questions {
  penna_patch_question* list;
  uint32_t count;
};
penna_patch_question question_about(const ModuleFacts& module, NearRoom near, uintptr_t function);
bool may_be_asked_about(const ModuleFacts& module);

// Copies the plan's contents of near memory into it, while it is writable. False: the system does not allow it.
bool fill_near(const penna_patch_question& question, const Plan& plan, const penna_near& near);
// Makes near memory executable, and unmaps the rest of it.
bool use_near(const penna_patch_question& question, const penna_near& near);

// Sends the questions that fill(questions) wrote, and calls carry_out(plan, questions) with the answer. The caller
// holds a PatchLock.
template <typename Fill, typename CarryOut>
void ask(uint32_t most, Fill&& fill, CarryOut&& carry_out) {
  const uint64_t bytes = most * sizeof(penna_patch_question);
  const long file = sys(SYS_memfd_create, reinterpret_cast<long>("penna-questions"), MFD_CLOEXEC);
  if (sys_failed(file)) return;
  const bool sized = !sys_failed(sys(SYS_ftruncate, file, static_cast<long>(bytes)));
  const MappedMemory memory(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sized ? file : -1);
  Questions questions{reinterpret_cast<penna_patch_question*>(memory.at()), 0};
  if (memory.at() != nullptr) fill(questions);
  if (questions.count != 0) {
    // The recorder reads up to the end of the file.
    sys(SYS_ftruncate, file, static_cast<long>(questions.count * sizeof(penna_patch_question)));
    const long answer = ask_recorder(recorder_socket(), file);
    penna_patch_plan head{};
    const bool there = sys(SYS_pread64, answer, reinterpret_cast<long>(&head), sizeof head, 0) == sizeof head;
    const MappedMemory planned(plan_bytes(head), PROT_READ, MAP_PRIVATE, there ? answer : -1);
    const Plan plan(planned, questions.count);
    // Before the patches: the first call of a function creates its link.
    if (plan.head != nullptr)
      add_captures(plan.captures, head.captures, plan.values, head.values, plan.text, head.text_bytes);
    else
      count(&penna_counters::functions_refused);
    carry_out(plan, questions);
    if (answer >= 0) sys(SYS_close, answer);
  }
  sys(SYS_close, file);
}

}  // namespace penna::agent
