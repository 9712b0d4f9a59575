// SPDX-License-Identifier: MIT
// See lifecycle.h. The steps of start() are those of the rendezvous in penna/channel.h.
#include "agent/core/lifecycle.h"

#include <linux/memfd.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "agent/calls/call_values.h"
#include "agent/core/attachment.h"
#include "agent/core/call_filters.h"
#include "agent/core/channel_room.h"
#include "agent/core/environment.h"
#include "agent/core/pages.h"
#include "agent/core/rendezvous.h"
#include "agent/core/return_trampolines.h"
#include "agent/core/stopping.h"
#include "agent/core/sys.h"
#include "agent/core/writer.h"
#include "agent/hooks/libc_functions.h"
#include "agent/hooks/locks/lock_calls.h"
#include "agent/modules/deep_binding.h"
#include "agent/modules/linker_turns.h"
#include "agent/modules/modules.h"
#include "agent/modules/opening.h"
#include "agent/modules/passed_opens.h"
#include "agent/modules/real.h"
#include "agent/patch/call_patches.h"
#include "agent/patch/control.h"
#include "agent/patch/points.h"
#include "agent/patch/probes.h"
#include "agent/programs/starts.h"
#include "agent/stacks/stacks.h"
#include "agent/standalone/standalone.h"
#include "agent/standalone/threads.h"
#include "penna/detail/join.h"

namespace penna::agent {

Process process;
__thread Thread thread PENNA_TLS_MODEL = {kNoChunk, nullptr, 0, 0, 0,  0,  0,       {},      0, 0, 0, 0,
                                          0,        nullptr, 0, 0, {}, {}, nullptr, nullptr, 0, 0, 0};

namespace {

// The last rendezvous, of this process or of the process that it was forked from; none if channel is null.
Rendezvous last_meeting;
bool environment_taken;
pthread_key_t exit_key;
bool exit_key_valid;

// Runs when a thread that recorded events ends. Later destructors may record again: enter_thread() then sets the key
// once more, and libc calls this again.
void thread_exits(void*) {
  if (process.channel == nullptr || (call_refusals & kRefusesRecording) != 0) return;
  close_chunk();
  release_thread_state();
}

// Not key 0, which a key that the program never created is, too; its first one should still be that.
bool make_exit_key() {
  if (pthread_key_create(&exit_key, thread_exits) != 0) return false;
  if (exit_key != 0) return true;
  const bool is_made = pthread_key_create(&exit_key, thread_exits) == 0;
  pthread_key_delete(0);
  return is_made;
}

// A forked child inherits the thread that called fork, with a cursor into its parent's chunk.
void forget_parent() {
  thread.cursor = kNoChunk;
  thread.sequence = 0;
  thread.discarded = 0;
  thread.serial = 0;
  thread.tid = 0;
  thread.fork_ticks = 0;
  thread.random = 0;  // or the child would draw the same samples as its parent
  for (uint32_t& count : thread.lost_class) count = 0;
  forget_last_stack();
  forget_linker_stays();
  forget_passed_opens();
}

// The parent's mappings. The doorbell stays mapped until the child has met the recorder: it shows a recorder that wants
// to finish that this process is about to connect.
struct OfParent {
  penna_channel* channel;
  uint64_t channel_bytes;
  penna_doorbell* doorbell;
  const penna_life* life;
} of_parent;

void unmap(const void* at, uint64_t bytes) {
  const auto start = reinterpret_cast<uintptr_t>(at);
  forget_changes(start, start + bytes);
  sys(SYS_munmap, static_cast<long>(start), static_cast<long>(bytes));
}

void unmap_parents_channel() {
  if (of_parent.channel == nullptr) return;
  unmap(of_parent.channel, of_parent.channel_bytes);
  of_parent.channel = nullptr;
}

void leave_parent(bool met) {
  if (!met && of_parent.channel != nullptr)
    report_not_met(of_parent.channel, room_for_channel() ? PENNA_START_UNREACHED : PENNA_START_NO_ROOM);
  unmap_parents_channel();
  unmap(of_parent.doorbell, kPageBytes);
  unmap(of_parent.life, kPageBytes);
}

// MADV_WIPEONFORK must be set before the first fork; without it (Linux before 4.14) a child would corrupt its parent.
bool protect_from_fork() {
  return !sys_failed(sys(SYS_madvise, reinterpret_cast<long>(&process), sizeof process, MADV_WIPEONFORK));
}

// The cost in ticks of recording a lock event on this machine, measured with PAD records. The minimum of a few rounds,
// because the first one touches fresh memory.
uint64_t measure_record_cost() {
  uint64_t least = UINT64_MAX;
  for (int round = 0; round < 4; ++round) {
    const uint64_t began = penna_now();
    for (int i = 0; i < PENNA_COST_RECORDS; ++i) write_record(PENNA_KIND_PAD, penna_lock{0}, kNoClass, penna_now());
    const uint64_t took = penna_now() - began;
    if (took < least) least = took;
  }
  return least;
}

// Of this process; 0: not known.
uint64_t processor_ns() {
  timespec used{};
  const long failed = sys(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, reinterpret_cast<long>(&used));
  return failed != 0 ? 0 : static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

// Whether there is a recorder to meet, and this process may meet it.
bool may_meet(bool forked) {
  if (!environment_taken) environment_taken = take_from_environment();
  if (recorder_socket() == nullptr) return false;
  if (!fork_refused()) return true;
  if (forked) __atomic_fetch_add(&last_meeting.channel->counters.unfollowed, 1, __ATOMIC_RELAXED);  // its parent's
  return false;
}

bool meet(bool forked) {
  const ForkedFrom forked_from{last_meeting.pid, thread.serial, thread.fork_ticks};
  if (forked)
    forget_parent();
  else if (!protect_from_fork())
    return false;
  Rendezvous& meeting = last_meeting;
  of_parent = {meeting.channel, meeting.channel_bytes, meeting.doorbell, meeting.life};
  meeting = {};
  const bool met = meet_recorder(recorder_socket(), forked_from, {unmap_parents_channel, offer_control}, &meeting);
  if (forked) leave_parent(met);
  wipe_environment();
  return met;
}

void take_channel(const Rendezvous& meeting) {
  note_mapping(reinterpret_cast<uintptr_t>(meeting.channel), meeting.channel_bytes);
  note_mapping(reinterpret_cast<uintptr_t>(meeting.doorbell), kPageBytes);
  note_mapping(reinterpret_cast<uintptr_t>(meeting.life), kPageBytes);
  penna_channel* const channel = meeting.channel;
  auto* const base = reinterpret_cast<uint8_t*>(channel);
  process.channel = channel;
  process.doorbell = meeting.doorbell;
  process.life = meeting.life;
  process.chunks = base + channel->chunks_at;
  process.free_bitmap = reinterpret_cast<uint64_t*>(base + channel->free_at);
  process.stack_hash = reinterpret_cast<uint32_t*>(base + channel->hash_at);
  process.stack_nodes = reinterpret_cast<penna_stack_node*>(base + channel->nodes_at);
  process.hash_mask = channel->hash_slots - 1;
  process.nodes_ready = meeting.ready.nodes;
  process.chunks_ready = meeting.ready.chunks;
  process.backlog_limit = channel->backlog_limit;
}

void take_config(const penna_config& config) {
  process.stack_depth = config.stack_depth;
  process.on_full = config.on_full;
  process.sample_bytes = config.sample_bytes;
  process.min_wait = config.min_wait;
  process.long_hold = config.long_hold;
  process.lock_sample = config.lock_sample;
  process.timed_wait = config.timed_wait;
  process.alloc_options =
      (config.sample_bytes != 0 ? kSampled : 0) | ((config.options & PENNA_OPTION_FREE_STACKS) != 0 ? kFreeStacks : 0);
}

// Bits of process.armed, once everything else has started.
uint32_t bits_to_arm(const penna_config& config) {
  const uint32_t classes = config.classes & ((1u << PENNA_CLASS_COUNT) - 1);
  const bool at_once =
      (classes & class_bit(PENNA_CALLS)) != 0 && !code_may_change() && !wants_callers() && !any_return_links();
  const bool lock_options =
      lock_functions_entered() || process.min_wait != 0 || process.long_hold != 0 || process.lock_sample > 1;
  return kStarted | classes | (at_once ? kCallsAtOnce : 0) | (lock_options ? kLockOptions : 0);
}

bool start() {
  const bool forked = last_meeting.channel != nullptr;
  if (!may_meet(forked)) {
    if (forked) forget_parent();
    return false;
  }
  const uint64_t began = penna_now();
  if (!meet(forked)) return false;
  const penna_config& config = last_meeting.config;
  penna_channel* const channel = last_meeting.channel;
  take_channel(last_meeting);
  take_config(config);
  if (!exit_key_valid) exit_key_valid = make_exit_key();

  announce_modules(forked);
  start_points(config, forked);
  // Functions with their own hook record more than a call does, so they are patched first where both want libc's
  // functions.
  if (attachment == nullptr) start_call_patches(config, forked);
  if (attachment != nullptr && !forked) {
    enter_libc_functions(config.classes);
    if (!unwinder_finds_agent()) return false;
  }
  enter_functions(config, forked);
  if (attachment != nullptr) {
    start_call_patches(config, forked);
    if ((config.classes & class_bit(PENNA_CALLS)) != 0 && !forked) redirect_hooks();
  }
  channel->start_cost_ticks = penna_now() - began;
  if (!forked && !system_calls_filtered) channel->start_cpu_ns = processor_ns();
  if ((config.classes & class_bit(PENNA_LOCKS)) != 0) channel->record_cost_ticks = measure_record_cost();
  const uint32_t bits = bits_to_arm(config);
  channel->calls_at_once = (bits & kCallsAtOnce) != 0;
  // Release: from here on other threads use all of the above.
  __atomic_store_n(&process.armed, bits, __ATOMIC_RELEASE);
  return true;
}

// For the recorder, which detaches without the agent's help, even while this process does not run.
void describe_agent(penna_attachment* shared) {
  own_code(&shared->code_start, &shared->code_end);
  shared->armed = reinterpret_cast<uintptr_t>(&process.armed);
  shared->real = reinterpret_cast<uintptr_t>(&real);
  shared->real_before = reinterpret_cast<uintptr_t>(&real_before);
  shared->real_bytes = sizeof real;
  shared->in_linker = reinterpret_cast<uintptr_t>(&threads_in_linker);
#ifdef PENNA_STANDALONE
  describe_threads(shared);
#else
  const auto from_thread = [](const void* variable) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(variable) -
                                reinterpret_cast<uintptr_t>(__builtin_thread_pointer()));
  };
  shared->cursor = from_thread(&thread.cursor);
  shared->thread_kept = from_thread(&thread.linker_stays);
#endif
  describe_returns(shared);
  offer_stop(shared);
  static_assert(offsetof(Thread, linker_turns) == offsetof(Thread, linker_stays) + 2);
}

// Otherwise the process may have denied itself the clock.
bool is_recording() { return (armed() & ((1u << PENNA_CLASS_COUNT) - 1)) != 0; }

__attribute__((constructor)) void agent_loaded() {
  if (armed() == 0) after_fork_or_start();
  pthread_atfork(before_fork, after_fork, [] {
    if (armed() == 0) after_fork_or_start();
  });
}

}  // namespace

void before_fork() {
  if (fork_refused()) return;
  expect_process(1);
  if (!is_recording()) return;
  if ((armed() & class_bit(PENNA_CALLS)) != 0) close_chunk();  // so the recorder has it before it meets the child
  thread.fork_ticks = penna_now();
}

void after_fork() { thread.fork_ticks = 0; }

uint32_t after_fork_or_start() {
  // One thread starts; others, and handlers that run meanwhile, find the agent inert.
  uint32_t none = 0;
  if (!libc_is_ready() || !resolve_real_functions()) return 0;
  if (!__atomic_compare_exchange_n(&process.armed, &none, kStarted, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return armed();
  // A child that was forked before the recorder had written into its parent, or after it had left: nothing has watched
  // for filters that forbid to meet the recorder.
  if (changes_are_in_force()) start();
  return armed();
}

bool recorder_alive() {
  return (__atomic_load_n(&process.life->recorder, __ATOMIC_RELAXED) & PENNA_RECORDER_GONE) == 0;
}

void expect_process(int count) {
  if (process.doorbell != nullptr)
    __atomic_fetch_add(&process.doorbell->expected, static_cast<uint32_t>(count), __ATOMIC_RELAXED);
}

bool enter_thread() {
  // Keys below 32 live in the thread's own descriptor: setting them neither allocates nor locks.
  if (exit_key_valid && exit_key < 32 && pthread_getspecific(exit_key) == nullptr)
    pthread_setspecific(exit_key, &thread);
  if (thread.serial != 0 || process.channel == nullptr) return false;
  thread.serial = static_cast<uint32_t>(__atomic_add_fetch(&process.channel->counters.threads, 1, __ATOMIC_RELAXED));
  thread.tid = static_cast<uint32_t>(sys(SYS_gettid));
  thread.pc_high = main_program_high();
  return true;
}

}  // namespace penna::agent

// ---- A recorder in this process -------------------------------------------------------------------------------------

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

PENNA_EXPORT penna_join penna_agent_join(const char* socket_path) {
  using namespace penna::agent;
  if (armed() == 0) after_fork_or_start();
  if (last_meeting.channel != nullptr) return PENNA_JOIN_AGAIN;
  if (socket_path == nullptr) return armed() == kStarted ? PENNA_JOINED : PENNA_JOIN_REFUSED;
  return armed() == kStarted && set_recorder_socket(socket_path) && start() ? PENNA_JOINED : PENNA_JOIN_REFUSED;
}

// The thread was not created by libc: its `thread` has no initial value.
PENNA_EXPORT penna_attach_answer penna_agent_attach(const char* socket_path, penna_attachment* shared,
                                                    const char* agent_path) {
  using namespace penna::agent;
  begin_standalone(agent_path);
  thread = {};
  thread.cursor = kNoChunk;
  libc_was_ready = true;
  if (armed() == 0) after_fork_or_start();
  if (last_meeting.channel != nullptr || armed() != kStarted || !loaded_late) return PENNA_ATTACH_AGAIN;
  begin_attachment(shared);
  mark_return_links_stale(0, UINTPTR_MAX);  // from an earlier recording: modules may have changed since
  describe_agent(shared);
  if (shared->refusals != 0) system_calls_filtered = true;
  set_agent_path(agent_path);
  if (!set_recorder_socket(socket_path)) return PENNA_ATTACH_REFUSED;
  if (!start())
    return process.channel != nullptr && !unwinder_finds_agent() ? PENNA_ATTACH_UNWINDER : PENNA_ATTACH_REFUSED;
  call_refusals |= shared->refusals & ~PENNA_CALLS_FILTERED;
  close_chunk();
  release_thread_state();
  return PENNA_ATTACHED;
}

PENNA_EXPORT void penna_agent_leave() { penna::agent::stop_recording(); }

PENNA_EXPORT void penna_agent_mute_thread() {
  using namespace penna::agent;
  thread.muted = 1;
  if (process.channel != nullptr) close_chunk();
}
