// SPDX-License-Identifier: MIT
// See journal.h.
#include "reach/inject/journal.h"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "base/command_line.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory_ranges.h"
#include "reach/inject/guest.h"
#include "reach/inject/returns.h"
#include "reach/process/place_memory.h"
#include "reach/process/remote_call.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

// A thread is inside a place only for some nanoseconds, unless it was preempted there.
constexpr int kMostTries = 4000;
constexpr useconds_t kBetweenTriesUs = 500;
constexpr const char* kAmidRestored = "in the middle of code that is to be put back";
constexpr uint64_t kNoChunk = PENNA_NO_CHUNK;
constexpr uint32_t kNothingRecorded = PENNA_NOTHING_RECORDED;

// kPartly: code of which only some bytes were written, as the agent writes heads last, and a write that crosses a page
// may be cut short.
enum class Holds { kBefore, kPartly, kAfter, kOther };

RemoteBytes place_of(const penna_change& one) { return RemoteBytes(one.address); }
std::span<const uint8_t> before_of(const penna_change& one) { return {one.before, one.bytes}; }
std::span<const uint8_t> after_of(const penna_change& one) { return {one.after, one.bytes}; }

bool is_changed(Holds holds) { return holds == Holds::kPartly || holds == Holds::kAfter; }

template <typename Memory>  // RemoteMemory or PlaceMemory
Holds look_at(Memory& memory, const penna_change& one) {
  uint8_t now[sizeof one.before];
  if (!memory.read(place_of(one), {now, one.bytes})) return Holds::kOther;
  if (std::memcmp(now, one.after, one.bytes) == 0) return Holds::kAfter;
  if (std::memcmp(now, one.before, one.bytes) == 0) return Holds::kBefore;
  bool is_ours = one.kind == PENNA_CHANGED_CODE;
  for (uint8_t i = 0; i < one.bytes; ++i) is_ours = is_ours && (now[i] == one.before[i] || now[i] == one.after[i]);
  return is_ours ? Holds::kPartly : Holds::kOther;
}

// Counts the files that are mapped where the places are.
template <typename Places>
size_t count_modules(const std::vector<MemoryRange>& ranges, const Places& places) {
  std::set<std::string> files;
  for (const MemoryRange& range : ranges)
    if (range.name.starts_with('/') &&
        std::any_of(places.begin(), places.end(), [&](const auto& one) { return range.holds(one.address); }))
      files.insert(range.name);
  return files.size();
}

// A standalone agent's table of threads. Empty: it claims more than there can be.
std::string thread_keys(const RemoteMemory& memory, const penna_attachment& head) {
  constexpr uint32_t kMostThreads = 1 << 20;
  const uint64_t threads = head.thread_count <= kMostThreads ? head.thread_count : 0;
  return memory.part(RemoteBytes(head.threads), threads * PENNA_THREAD_KEY_BYTES);
}

// The slot that the agent has for its thread `i`.
RemoteBytes slot_at(const penna_attachment& head, uint64_t i) {
  return RemoteBytes(head.thread_slots) + i * head.thread_bytes;
}

// The base that penna_attachment::cursor counts from, for each thread that the agent knows; none if it was refused
// before it had stated where that is.
std::vector<RemoteBytes> threads_in(const RemoteMemory& memory, const StoppedProcess& process,
                                    const penna_attachment& head) {
  constexpr uint32_t kMostBytes = 4096;
  std::vector<RemoteBytes> threads;
  if (head.code_start == 0) return threads;
  if (head.threads == 0) {
    for (const StoppedThread& one : process.threads())
      if (const RemoteBytes at = one.state.thread_pointer()) threads.push_back(at);
    return threads;
  }
  if (head.thread_bytes > kMostBytes) return threads;
  const std::string keys = thread_keys(memory, head);
  for (uint64_t i = 0; (i + 1) * PENNA_THREAD_KEY_BYTES <= keys.size(); ++i) {
    uint64_t pointer;
    std::memcpy(&pointer, keys.data() + i * PENNA_THREAD_KEY_BYTES, sizeof pointer);
    if (pointer != 0) threads.push_back(slot_at(head, i));
  }
  return threads;
}

// The slot of the thread with this thread pointer; null: the agent does not know it.
RemoteBytes slot_of(const RemoteMemory& memory, const penna_attachment& head, RemoteBytes pointer) {
  const std::string keys = thread_keys(memory, head);
  const uint64_t wanted = pointer.number();
  for (uint64_t i = 0; (i + 1) * PENNA_THREAD_KEY_BYTES <= keys.size(); ++i)
    if (std::memcmp(keys.data() + i * PENNA_THREAD_KEY_BYTES, &wanted, sizeof wanted) == 0) return slot_at(head, i);
  return {};
}

// A standalone agent knows threads by what libc has noted of them. Is that so for all that there are? (0: it is
// just ending.)
bool knows_threads(pid_t pid, const RemoteMemory& memory, const StoppedProcess& process, const penna_attachment& head) {
  return head.threads == 0 ||
         std::all_of(process.threads().begin(), process.threads().end(), [&](const StoppedThread& one) {
           const auto noted = memory.get((one.state.thread_pointer() + head.tid_at).as<uint32_t>());
           return noted && (*noted == 0 || *noted == own_id(pid, one.id));
         });
}

// A thread that waits in vfork cannot be stopped until its child has become another program.
Result<StoppedProcess> stop_patiently(pid_t pid) {
  constexpr int kMostStops = 5;
  Result<StoppedProcess> process = StoppedProcess::stop(pid);
  for (int i = 1; i < kMostStops && !process && ::kill(pid, 0) == 0; ++i) process = StoppedProcess::stop(pid);
  return process;
}

}  // namespace

struct Journal::Changes {
  struct Place : penna_change {
    RemotePtr<penna_change> entry;  // in the journal
  };
  penna_attachment head{};
  std::vector<Place> places;  // in order of arrival
  std::vector<penna_change> mappings;

  static std::optional<penna_attachment> read_head(const RemoteMemory& memory, RemotePtr<penna_attachment> attachment) {
    const auto head = memory.get(attachment);
    if (!head || head->magic != PENNA_ATTACH_MAGIC || head->version != PENNA_ABI_VERSION) return {};
    return *head;
  }
  static std::optional<Changes> read(const RemoteMemory& memory, RemotePtr<penna_attachment> attachment) {
    Changes changes;
    const auto head = read_head(memory, attachment);
    if (!head) return {};
    changes.head = *head;
    constexpr uint64_t kMost = Guest::kMemoryBytes / sizeof(penna_change);
    std::vector<penna_change> all(std::min<uint64_t>({head->changes, head->room, kMost}));
    const auto list = (attachment + 1).as<penna_change>();  // penna_changes_of()
    if (!memory.read(list, all)) return {};
    for (size_t i = 0; i < all.size(); ++i) {
      const penna_change& one = all[i];
      if (one.address == 0) continue;
      if (one.kind == PENNA_MAPPED)
        changes.mappings.push_back(one);
      else if (one.bytes != 0 && one.bytes <= sizeof one.before)
        changes.places.push_back({one, list + i});
    }
    return changes;
  }

  // Whether the module that the agent examined is still mapped there.
  static bool is_there(PlaceMemory& memory, const penna_change& one) {
    uint8_t mark = 0;
    return one.is_marked == 0 ||
           (memory.read(place_of(one) - one.in_module + PENNA_MODULE_MARK_AT, {&mark, 1}) && mark == PENNA_MODULE_MARK);
  }

  // A pointer that was bound since the agent looked is changed too: its current value is the one to restore. False: the
  // kernel lets the place be read, but not written.
  static bool write(PlaceMemory& memory, const Place& one) {
    if (!is_there(memory, one)) return true;
    const Holds holds = look_at(memory, one);
    if (holds == Holds::kAfter || (holds == Holds::kOther && one.kind != PENNA_CHANGED_POINTER)) return true;
    uint8_t bytes[sizeof one.before];
    const std::span<uint8_t> now(bytes, one.bytes);
    // Before the write: if we die in between, the journal already says what to restore.
    if (holds == Holds::kOther && memory.read(place_of(one), now))
      memory.write(field(one.entry, &penna_change::before), now);
    return memory.write(place_of(one), after_of(one)) || !memory.read(place_of(one), now);
  }

  // In reverse: if a place was changed twice, the first change has the program's own bytes. `restored`: null if all are
  // looked at again later.
  void undo(PlaceMemory& memory, Restored* restored) const {
    for (auto one = places.rbegin(); one != places.rend(); ++one) {
      Holds holds = look_at(memory, *one);
      const bool undone = is_changed(holds);
      if (undone) memory.write(place_of(*one), before_of(*one));
      if (restored == nullptr) continue;
      if (undone) holds = look_at(memory.itself(), *one);
      ++(holds == Holds::kBefore ? restored->places : restored->kept);
    }
  }
  template <typename Which>
  void keep(const Which& which) {
    std::erase_if(places, [&](const Place& one) { return !which(one); });
  }

  // Strictly inside: a thread at the beginning of a place executes it from its start.
  bool is_inside_place(CodePtr pc) const {
    return std::any_of(places.begin(), places.end(), [pc](const penna_change& one) {
      return one.kind == PENNA_CHANGED_CODE && pc.number() - one.address - 1 < uint64_t{one.bytes} - 1;
    });
  }
  bool is_unwinder(const penna_change& one) const {
    constexpr uint64_t kMost = sizeof one.before;
    return head.unwinder != 0 && one.kind == PENNA_CHANGED_CODE && one.address - head.unwinder < kMost;
  }
  bool is_agents(CodePtr pc) const {
    return RemoteRange{CodePtr(head.code_start), CodePtr(head.code_end)}.holds(pc) ||
           std::any_of(mappings.begin(), mappings.end(),
                       [pc](const penna_change& one) { return pc.number() - one.address < one.mapped; });
  }
};

// Three waits are nested here, each for something else to pass, with the process running meanwhile:
// StoppedProcess::stop() for another tracer (2 s, or 30 s for one of ours), stop_patiently() for a vfork (5 stops of 2
// s), and this loop for threads in the places themselves (2 s and more). If an inner one gives up, so does this one.
Result<> Journal::while_stopped(const Attempt& attempt) const {
  const RemoteMemory memory = PENNA_TRY(RemoteMemory::open(pid_));
  const auto finishes_at = finisher(memory);  // asked while no thread waits for it
  std::string obstacle;
  for (int i = 0; i < kMostTries; ++i, ::usleep(kBetweenTriesUs)) {
    StoppedProcess process = PENNA_TRY(stop_patiently(pid_));
    process.finish_calls_at(finishes_at);
    const auto changes = Changes::read(memory, attachment_);
    if (!changes) return Error{fmt::format("process {} has executed another program, which is not recorded", pid_)};
    obstacle = attempt(memory, process, *changes);
    process.let_go();
    longest_stop_ =
        std::max<std::chrono::nanoseconds>(longest_stop_, std::chrono::steady_clock::now() - process.since());
    if (obstacle.empty()) return ok();
  }
  return Error{fmt::format("a thread of process {}{}{}", pid_, kIsAlways, obstacle)};
}

bool Journal::is_amid_place(const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) const {
  return process.any_in(memory, sigreturn_, [&](CodePtr pc) { return changes.is_inside_place(pc); });
}

CodePtr Journal::finisher(const RemoteMemory& memory) const { return Guest::of(memory, attachment_).finisher(memory); }

void Journal::set_state(const RemoteMemory& memory, uint32_t state) const {
  memory.write(field(attachment_, &penna_attachment::state), state);
}

Result<Journal::State> Journal::state() const {
  const RemoteMemory memory = PENNA_TRY(RemoteMemory::open(pid_));
  const auto head = Changes::read_head(memory, attachment_);
  if (head) return head->state == PENNA_ATTACH_LEFT ? State::kTakenBack : State::kInForce;
  if (executable_of(static_cast<uint32_t>(pid_)).empty()) return Error{fmt::format("process {} has ended", pid_)};
  return State::kOtherProgram;
}

Result<std::vector<penna_change>> Journal::planned() const {
  const RemoteMemory memory = PENNA_TRY(RemoteMemory::open(pid_));
  const auto changes = Changes::read(memory, attachment_);
  if (!changes) return Error{fmt::format("process {} has no journal", pid_)};
  return std::vector<penna_change>(changes->places.begin(), changes->places.end());
}

Result<> Journal::write_all(const std::function<std::string()>& objection) const {
  std::string objected;
  PENNA_TRY(while_stopped([&](const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) {
    if (is_amid_place(memory, process, changes)) return "in the middle of code that is to be changed";
    if (!knows_threads(pid_, memory, process, changes.head)) return "unknown to its libc";
    objected = objection();
    if (!objected.empty()) return "";
    PlaceMemory places(memory);
    const auto refused = std::find_if_not(changes.places.begin(), changes.places.end(),
                                          [&](const Changes::Place& one) { return Changes::write(places, one); });
    if (refused != changes.places.end()) {
      changes.undo(places, nullptr);
      objected =
          fmt::format("the kernel refuses to write {:#x} in process {}: use --via breakpoint", refused->address, pid_);
      return "";
    }
    set_state(memory, PENNA_ATTACH_RUNS);
    return "";
  }));
  return objected.empty() ? ok() : Result<>(Error{objected});
}

// Undoes what the first step left: changes that go last, and what a thread changed on its way out of the agent, because
// it had noted that before. Counts all. Returns the obstacle, as Attempt does; then nothing is undone.
std::string Journal::undo_rest(const RemoteMemory& memory, const StoppedProcess& process, Changes changes,
                               Restored* restored) const {
  PlaceMemory places(memory);
  NumberMap<bool> is_original;  // by address: judged by the first change
  for (const Changes::Place& one : changes.places)
    if (!is_original.contains(one.address)) is_original[one.address] = look_at(places, one) == Holds::kBefore;
  changes.keep([&](const Changes::Place& one) { return !changes.is_unwinder(one) && Changes::is_there(places, one); });
  const size_t all = changes.places.size();
  changes.keep([&](const Changes::Place& one) { return !is_original[one.address]; });
  if (is_amid_place(memory, process, changes)) return kAmidRestored;
  restored->places += all - changes.places.size();
  changes.undo(places, restored);
  return "";
}

// Directs a thread to code of the agent's. What the agent cannot take back stays, and does nothing once the process no
// longer records.
void Journal::stop_agent() const {
  constexpr int kMostCalls = 100, kMostFailures = 3;
  int failed = 0;
  const auto memory = RemoteMemory::open(pid_);
  for (int i = 0; memory && i < kMostCalls && failed < kMostFailures; ++i, ::usleep(kBetweenTriesUs)) {
    const auto head = memory->get(attachment_);
    if (!head || head->stop_entry == 0 || head->stopped != 0 ||
        (head->state != PENNA_ATTACH_RUNS && head->state != PENNA_ATTACH_HOLDS))
      return;
    failed += call_in(pid_, {CodePtr(head->stop_entry), CodePtr(head->stop_end), RemoteBytes(head->stop_stack), 0,
                             finisher(*memory)})
                  ? 0
                  : 1;
  }
}

// In two steps: once nothing leads into the agent, its threads leave it soon. What hides the agent's return addresses
// from the program stays until they are gone, too.
Result<Restored> Journal::put_back() const {
  Restored restored;
  const State before = PENNA_TRY(state());
  restored.other_programs = before == State::kOtherProgram ? 1 : 0;
  // It was forked while its parent was being restored: everything is restored except what is restored last.
  if (before == State::kTakenBack && is_unwinder_entered()) put_back_unwinder(&restored);
  if (before != State::kInForce) return restored;
  stop_agent();
  const std::vector<MemoryRange> ranges = memory_ranges(pid_);
  std::vector<Changes::Place> places;
  PENNA_TRY(while_stopped([&](const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) {
    if (is_amid_place(memory, process, changes)) return kAmidRestored;
    const penna_attachment& head = changes.head;
    places = changes.places;
    PlaceMemory by_place(memory);
    Changes first = changes;
    first.keep([&](const Changes::Place& one) {
      return one.goes_last == 0 && !changes.is_unwinder(one) && Changes::is_there(by_place, one);
    });
    first.undo(by_place, nullptr);
    if (head.armed != 0) memory.write(RemotePtr<uint32_t>(head.armed), kNothingRecorded);
    return "";
  }));
  restored.modules = count_modules(ranges, places);
  PENNA_TRY(while_left([&](const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) {
    const penna_attachment& head = changes.head;
    if (std::string obstacle = undo_rest(memory, process, changes, &restored); !obstacle.empty()) return obstacle;
    // Only now: a hook that went last would have called itself.
    std::vector<uint8_t> real(std::min<uint64_t>(head.real_bytes, 64 << 10));
    if (memory.read(RemoteBytes(head.real_before), real)) memory.write(RemoteBytes(head.real), real);
    // Unless the agent was refused before it had stated where that is.
    for (const RemoteBytes at : threads_in(memory, process, head))
      memory.write((at + head.cursor).as<uint64_t>(), kNoChunk);
    put_back_returns(memory, process, head);
    set_state(memory, PENNA_ATTACH_LEFT);
    return std::string();
  }));
  put_back_unwinder(&restored);
  restored.stopped_ns = static_cast<uint64_t>(longest_stop_.count());
  return restored;
}

// Whether the thread is unwinding a stack that has the agent's frames, or return addresses that were the agent's, or
// may be doing so before they are gone. The agent's own activity is known by the thread's slot; unwinding in progress
// only by its stack.
bool Journal::may_unwind(const RemoteMemory& memory, const StoppedThread& thread, const Changes& changes) const {
  constexpr size_t kMostStack = 256 << 10;
  constexpr uint64_t kCallsOfUnwinders[] = {SYS_futex,  SYS_mmap,    SYS_munmap,  SYS_brk,
                                            SYS_mremap, SYS_madvise, SYS_mprotect};
  const penna_attachment& head = changes.head;
  if (changes.is_agents(thread.state.pc())) return true;
  if (const RemoteBytes slot = slot_of(memory, head, thread.state.thread_pointer()))
    if (memory.get_or_zero((slot + head.lock_call).as<uint64_t>()) != 0 ||
        memory.get_or_zero((slot + head.in_allocator).as<uint32_t>()) != 0)
      return true;
  const auto call = thread.state.system_call();
  if (call &&
      std::find(std::begin(kCallsOfUnwinders), std::end(kCallsOfUnwinders), *call) == std::end(kCallsOfUnwinders))
    return false;
  const std::string stack = stack_of(memory, thread.state, kMostStack);
  for (size_t at = 0; at + 8 <= stack.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, stack.data() + at, sizeof word);
    const CodePtr found(word);
    if ((!call && changes.is_agents(found)) ||
        std::any_of(unwinder_.begin(), unwinder_.end(), [found](const RemoteRange& one) { return one.holds(found); }))
      return true;
  }
  return false;
}

bool Journal::is_unwinder_entered() const {
  const auto memory = RemoteMemory::open(pid_);
  const auto changes = memory && !unwinder_.empty() ? Changes::read(*memory, attachment_) : std::nullopt;
  return changes && std::any_of(changes->places.begin(), changes->places.end(), [&](const Changes::Place& one) {
           return changes->is_unwinder(one) && is_changed(look_at(*memory, one));
         });
}

// Last: once the unwinder no longer learns of the agent's frames, no thread may meet one. If a thread is always in a
// function that was entered, such as a wait for a condition, the place stays changed, and does nothing else.
void Journal::put_back_unwinder(Restored* restored) const {
  constexpr int kMostLooks = 1000;
  if (unwinder_.empty()) return;  // and the process is not stopped again
  const auto memory = RemoteMemory::open(pid_);
  const auto finishes_at = memory ? finisher(*memory) : CodePtr();
  std::set<pid_t> clean;
  for (int i = 0; memory && i < kMostLooks; ++i, ::usleep(kBetweenTriesUs)) {
    auto process = stop_patiently(pid_);
    if (process) process->finish_calls_at(finishes_at);
    const auto changes = Changes::read(*memory, attachment_);
    if (!process && !executable_of(static_cast<uint32_t>(pid_)).empty()) restored->trouble = process.error().text;
    if (!process || !changes || changes->head.unwinder == 0) return;
    for (const StoppedThread& one : process->threads())
      if (clean.count(one.id) == 0 && !may_unwind(*memory, one, *changes)) clean.insert(one.id);
    const bool all = std::all_of(process->threads().begin(), process->threads().end(),
                                 [&](const StoppedThread& one) { return clean.count(one.id) != 0; });
    const bool is_left = all && !is_amid_place(*memory, *process, *changes);
    if (!is_left && i + 1 < kMostLooks) continue;
    for (const Changes::Place& one : changes->places) {
      if (!changes->is_unwinder(one)) continue;
      if (is_left && is_changed(look_at(*memory, one))) memory->write(place_of(one), before_of(one));
      const Holds holds = look_at(*memory, one);
      ++(holds == Holds::kBefore ? restored->places : is_changed(holds) ? restored->waiting : restored->kept);
    }
    return;
  }
}

// In the agent's code, or in libc's on its behalf: then the return address is near. A thread that waits in the kernel
// for something of the program's holds nothing of the agent's.
bool Journal::is_used(const RemoteMemory& memory, const StoppedThread& thread, const Changes& changes) const {
  constexpr size_t kNear = 512;
  const CodePtr pc = thread.state.pc();
  if (changes.is_agents(pc)) return true;
  const bool is_systems =
      std::any_of(system_code_.begin(), system_code_.end(), [pc](const RemoteRange& code) { return code.holds(pc); });
  if (!is_systems || thread.state.system_call()) return false;
  const std::string near = memory.part(aligned_down(thread.state.stack(), 8), kNear);
  for (size_t at = 0; at + 8 <= near.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, near.data() + at, sizeof word);
    if (changes.is_agents(CodePtr(word))) return true;
  }
  return false;
}

// Data on a stack may be stale, and stays until it is overwritten. So each thread needs to be seen once without it, and
// outside of the kernel, from where it may return to the agent. After that it gets there only through a trampoline or
// in an old coroutine: then it is in the agent's own code, and soon leaves.
Result<> Journal::while_left(const Attempt& attempt) const {
  std::set<pid_t> clean;
  return while_stopped(
      [&](const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) -> std::string {
        const auto is_agents = [&](CodePtr pc) { return changes.is_agents(pc); };
        bool used = false;
        for (const StoppedThread& one : process.threads()) {
          const std::vector<CodePtr> pcs = interrupted_pcs(memory, one.state, sigreturn_);
          const bool looks_used = is_used(memory, one, changes) || std::any_of(pcs.begin(), pcs.end(), is_agents);
          if (!looks_used && !one.state.system_call()) clean.insert(one.id);
          used |= is_agents(one.state.pc()) || (looks_used && clean.count(one.id) == 0);
        }
        return used ? "in the agent's code" : attempt(memory, process, changes);
      });
}

Result<> Journal::while_unused(const Work& work) const {
  return while_left([&](const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) {
    return work(memory, process, changes.head);
  });
}

}  // namespace penna
