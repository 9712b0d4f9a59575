// SPDX-License-Identifier: MIT
// The BPF programs that the kernel runs when a thread hits a uprobe, or starts a process: they write what the thread is
// and has at that moment into a ring, and the thread continues at once.
//
// Why copies: the ring is read later, when stack and lock have changed. So everything that an event needs of the
// thread's memory is copied here.
// Invariant: the layout of UprobeRecord is all that programs and reader share. Nothing of the thread changes.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penna {

// Of the memory that the first argument points to: enough for the state of a lock. Of the stack, from the red zone on:
// the rest of that page and two more, or up to its end. Without a stack, the word at the stack pointer.
inline constexpr uint32_t kUprobeArgumentBytes = 48, kUprobeStackBytes = 3 * 4096, kUprobeWordBytes = 8;

// kReturned: a function has just returned; the program counter is where it returned to.
enum class UprobeKind : uint64_t { kHit, kReturned, kFork, kExec, kExit };

struct UprobeHead {
  uint64_t ns;  // CLOCK_MONOTONIC
  UprobeKind kind;
  uint32_t thread, process;  // in our PID namespace; 0: in none of ours
};

// Of kHit and kReturned. All other records are an UprobeHead alone.
struct UprobeRecord {
  UprobeHead head;
  uint64_t registers[21];   // as in user_regs_struct, up to ss
  uint64_t argument_bytes;  // 0: not copied, or unmapped
  uint8_t argument[kUprobeArgumentBytes];
  uint64_t stack_at, stack_bytes;  // address and size of the copy
  uint8_t stack[];
};
static_assert(sizeof(UprobeHead) == 24 && offsetof(UprobeRecord, stack) == 264);

// What a place needs.
enum class UprobeCopies : uint8_t {
  kWord,
  kArgument,  // and the word
  kStack,
  kStackAndArgument,
  kReturned  // the word, by a return probe of the kernel's
};
inline constexpr size_t kUprobeCopies = 5;

// Descriptors: of the ring; of an array of counters for hits that found no room, by the uprobe's cookie; and of the
// processes, by id, whose forks, execs and ends of threads are reported.
struct UprobeMaps {
  int ring = -1, lost = -1, processes = -1;
};

std::vector<bpf_insn> make_uprobe_program(const UprobeMaps& maps, UprobeCopies copies);
// For the raw tracepoints task_newtask, sched_process_exec and sched_process_exit. New threads are not reported: their
// first hit does that.
std::vector<bpf_insn> make_process_program(const UprobeMaps& maps, UprobeKind kind);

}  // namespace penna
