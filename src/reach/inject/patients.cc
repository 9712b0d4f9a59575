// SPDX-License-Identifier: MIT
// See patients.h. The steps, in bring_in(): look, borrow a thread, start the guest, await it, write.
#include "reach/inject/patients.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "base/command_line.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "base/memory_ranges.h"
#include "base/proc_stat.h"
#include "base/proc_status.h"
#include "collect/sockets/near_listener.h"
#include "penna/patch_plan.h"
#include "reach/inject/agent_file.h"
#include "reach/inject/call_filters.h"
#include "reach/inject/guest.h"
#include "reach/inject/guest_thread.h"
#include "reach/inject/residue.h"
#include "reach/inject/standalone_agent.h"
#include "reach/inject/target.h"
#include "reach/inject/turn.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

constexpr useconds_t kAwaitGuestUs = 200;
constexpr const char* kUseBreakpoints = "use --via breakpoint";  // a remedy
constexpr const char* kCannotGiveAgent = "could not load the agent: has it ended?";

// Identifies the program that the process runs now: AT_RANDOM and AT_BASE differ from one exec to the next, where
// addresses are randomized.
std::string program_mark(pid_t pid) {
  const auto auxv = read_file(in_proc(pid, "auxv"), 4096);
  return auxv ? *auxv : std::string();
}

// The memfd that the process has created as descriptor `fd`, opened here, too. Checked, because the process may have
// closed it and opened a file of its own in its place. The guest closes that descriptor once the agent is loaded.
Fd open_memory_file(pid_t pid, int fd) {
  Fd file(::open(in_proc(pid, fmt::format("fd/{}", fd)).c_str(), O_WRONLY | O_CLOEXEC));
  struct stat status {};
  struct statfs system {};
  const bool is_ours = file && ::fstat(file.get(), &status) == 0 && ::fstatfs(file.get(), &system) == 0 &&
                       system.f_type == TMPFS_MAGIC && status.st_nlink == 0 && status.st_size == 0;
  return is_ours ? std::move(file) : Fd();
}

// What the guest is started with.
struct Start {
  GuestTexts texts;
  std::optional<Residue> residue;
  std::optional<AgentFile> agent;             // none: it is loaded already
  GuestPlace place;                           // found or made
  uint32_t refusals = 0;                      // penna_attachment::refusals
  bool locks_memory = false;                  // what is mapped may be locked (mlockall)
  Fd agent_file;                              // made: where `agent` is written
  std::optional<StandaloneAgent> standalone;  // the standalone agent, if we have to load it
  RemoteBytes base = {};                      // standalone: where it is
  RemotePtr<char> frames = {};                // likewise: map_frames()
  CodePtr attach() const { return residue ? residue->attach : standalone->attach_at(base); }
};

bool may_map(const std::optional<int64_t>& got) { return got && (*got > 0 || *got < -4095); }  // 0 cannot be mapped

// Creates a memfd in the process that we have open, too. Returns words that follow "process N "; empty: success.
std::string make_agent_file(const Target& target, BorrowedThread& thread, Start* start, int* made) {
  // Its name goes into memory that is zero and will be the guest's.
  if (!target.memory.write(start->place.memory.as<char>(), StandaloneAgent::kMemoryFile)) return "has ended meanwhile";
  const auto fd = thread.call(SYS_memfd_create, {start->place.memory.number(), MFD_CLOEXEC, 0, 0, 0, 0});
  if (fd && (*fd == -EMFILE || *fd == -ENFILE))
    return fmt::format(
        "has no descriptor left for the agent's file: raise its limit (prlimit --pid {} --nofile), or {}", target.pid,
        kUseBreakpoints);
  if (!fd || *fd < 0) return fmt::format("may not create a memfd, which the agent is loaded from: {}", kUseBreakpoints);
  *made = static_cast<int>(*fd);
  start->agent_file = open_memory_file(target.pid, *made);
  return start->agent_file ? "" : kCannotGiveAgent;
}

// Maps the agent's memory, where no dynamic linker would. Returns words that follow "process N "; empty: success.
std::string map_standalone(const Target& target, BorrowedThread& thread, Start* start) {
  start->frames = map_frames(thread, *target.standalone, memory_ranges(target.pid));
  if (!start->frames && target.standalone->facts.frame_bytes != 0)
    return "has no free memory near its code for its unwind information";
  int made = -1;
  std::string trouble = make_agent_file(target, thread, start, &made);
  if (trouble.empty()) trouble = start->standalone->map(thread, made, &start->base);
  if (made >= 0) thread.call(SYS_close, {static_cast<uint64_t>(made), 0, 0, 0, 0, 0});
  return trouble;
}

bool locks_memory(pid_t pid) {
  const auto status = read_file(in_proc(pid, "status"), 64 << 10);
  return status && std::strtoull(status_value(*status, "VmLck").c_str(), nullptr, 10) != 0;
}

// Maps the guest's memory. In a process that locks its memory, the thread would wait for all of its pages, of which the
// guest needs few. Not so with a seccomp filter, which may forbid munlock.
std::optional<int64_t> map_guest_memory(BorrowedThread& thread, const Start& start) {
  constexpr uint64_t kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, kAccess = PROT_READ | PROT_WRITE;
  const bool unlocks = start.locks_memory && (start.refusals & PENNA_CALLS_FILTERED) == 0;
  const auto memory =
      thread.call(SYS_mmap, {0, Guest::kMemoryBytes, unlocks ? uint64_t{PROT_NONE} : kAccess, kFlags, ~uint64_t{0}, 0});
  if (!unlocks || !may_map(memory)) return memory;
  const auto at = static_cast<uint64_t>(*memory);
  thread.call(SYS_munlock, {at, Guest::kMemoryBytes, 0, 0, 0, 0});
  const auto opened = thread.call(SYS_mprotect, {at, Guest::kMemoryBytes, kAccess, 0, 0, 0});
  return opened == 0 ? memory : opened;
}

// Maps memory for the guest, and creates a memfd for the agent unless it is loaded already. Returns words that follow
// "process N "; empty: success.
std::string bring_guest(const Target& target, BorrowedThread& thread, Start* start) {
  constexpr uint64_t kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  const auto code = thread.call(SYS_mmap, {0, Guest::kCodeBytes, PROT_READ | PROT_EXEC, kPrivate, ~uint64_t{0}, 0});
  if (!may_map(code)) return fmt::format("may not map executable memory: {}", kUseBreakpoints);
  start->place.code = RemoteBytes(static_cast<uint64_t>(*code));
  const auto memory = map_guest_memory(thread, *start);
  if (!may_map(memory))
    return fmt::format("has too little memory left for the agent: raise its limits (prlimit --pid {}), or {}",
                       target.pid, kUseBreakpoints);
  start->place.memory = RemoteBytes(static_cast<uint64_t>(*memory));
  int agent_fd = -1;
  if (!start->residue && target.standalone) {
    if (std::string trouble = map_standalone(target, thread, start); !trouble.empty()) return trouble;
  } else if (!start->residue) {
    if (std::string trouble = make_agent_file(target, thread, start, &agent_fd); !trouble.empty()) return trouble;
  }
  const CodePtr attach = start->residue ? start->residue->attach : CodePtr();
  const bool prepared = Guest(start->place)
                            .prepare(target.memory, target.libraries, target.needs, thread.state().thread_pointer(),
                                     agent_fd, attach, start->texts);
  return prepared ? "" : "could not be prepared: has it ended?";
}

// Whether a standalone agent can identify this thread.
bool is_known_thread(const Target& target, const BorrowedThread& thread) {
  const RemoteBytes pointer = thread.state().thread_pointer();
  return target.memory.get_or_zero(pointer.as<RemoteBytes>()) == pointer &&
         target.memory.get_or_zero((pointer + target.needs.tid_at).as<uint32_t>()) != 0;
}

// Whether the thread would be killed for reading the clock that the agent stamps events with (prctl(2), PR_SET_TSC);
// other threads have the same setting if it was made before they were. `scratch`: for the answer.
bool is_clock_forbidden(const Target& target, BorrowedThread& thread, RemotePtr<int> scratch) {
  const auto asked = thread.call(SYS_prctl, {PR_GET_TSC, scratch.number(), 0, 0, 0, 0});
  return asked && *asked == 0 && target.memory.get(scratch) == PR_TSC_SIGSEGV;
}

// Runs while the thread is borrowed. Returns words that follow "process N "; empty: the guest runs.
std::string start_guest(const Target& target, BorrowedThread& thread, Start* start) {
  if (target.standalone && !is_known_thread(target, thread)) return "has threads that its libc did not create";
  if (!start->place.memory) {
    if (std::string trouble = bring_guest(target, thread, start); !trouble.empty()) return trouble;
  } else if (!Guest(start->place).prepare_again(target.memory, start->residue->attach, start->texts)) {
    return "could not be prepared: has it ended?";
  }
  const Guest guest(start->place);
  thread.finish_calls_at(guest.finisher(target.memory));
  constexpr int64_t kBelowStack = 8;  // words
  const bool may_ask = (start->refusals & PENNA_CALLS_FILTERED) == 0;
  if (may_ask && is_clock_forbidden(target, thread, (guest.stack() - kBelowStack).as<int>()))
    return fmt::format("has forbidden itself to read the processor's clock (PR_SET_TSC): {}", kUseBreakpoints);
  if (!guest.set_refusals(target.memory, start->refusals)) return "could not be prepared: has it ended?";
  say_not_single_threaded(target);
  constexpr uint64_t kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                              CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  const auto tid = thread.call(SYS_clone, {kFlags, guest.stack().number(), guest.tid(target.needs).number(),
                                           guest.ended().number(), guest.thread_pointer().number(), 0});
  if (tid && *tid > 0) return "";
  // sched(7): such a thread may not start others, unless they begin with the default policy.
  if (tid && *tid == -EAGAIN && ::sched_getscheduler(thread.id()) == SCHED_DEADLINE)
    return fmt::format("has a deadline scheduler (SCHED_DEADLINE), which forbids a thread for the agent: {}",
                       kUseBreakpoints);
  if (tid && *tid == -EAGAIN)
    return fmt::format("may not start a thread for the agent: raise its limit (prlimit --pid {} --nproc), or {}",
                       target.pid, kUseBreakpoints);
  return fmt::format("may not start a thread for the agent: {}", kUseBreakpoints);
}

// Lets the guest begin. Copying the agent takes milliseconds, so it is done here, when the borrowed thread is back at
// its work.
std::string let_guest_go(const Target& target, const Start& start) {
  const bool is_given = !start.agent_file  ? true
                        : start.standalone ? write_all(start.agent_file, start.standalone->image_at(start.base))
                                           : start.agent->copy_to(start.agent_file);
  if (!is_given) return kCannotGiveAgent;
  if (target.standalone && (!describe_program_to_agent(target.memory, start.base, *target.standalone, start.frames) ||
                            !Guest(start.place).set_attach(target.memory, start.attach())))
    return "has ended";
  return Guest(start.place).go(target.memory) ? "" : "has ended";
}

std::string sentence_on(pid_t pid, const std::string& words) { return fmt::format("process {} {}", pid, words); }

Journal open_journal(const Target& target, RemotePtr<penna_attachment> attachment) {
  Journal journal(target.pid, attachment, target.code.sigreturn, target.system_code);
  if (target.standalone) journal.set_unwinder(target.standalone->unwinder);
  return journal;
}

// An earlier recorder left its agent in the process: makes it usable again. Returns a sentence; empty: success.
std::string renew_agent(const Target& target, const std::string& agent_path, Start* start) {
  if (target.standalone) start->base = start->residue->agent.at<uint8_t>(0);
  if (!start->residue->attachment) return "";
  const Guest before = Guest::of(target.memory, start->residue->attachment);
  if (before.is_running(target.memory)) return sentence_on(target.pid, "is being attached to by another recorder");
  const auto renewed =
      renew(target.pid, target.memory, *start->residue, open_journal(target, start->residue->attachment),
            target.standalone ? standalone_agent_file(agent_path) : agent_path, target.needs.tls_offset_at);
  if (!renewed) return renewed.error().text;
  start->place = before.place();
  return "";
}

// Opens the agent that will be brought in. Returns a sentence; empty: success.
std::string open_agent(const Target& target, const std::string& agent_path, Start* start) {
  if (target.standalone) {
    auto agent = StandaloneAgent::load(agent_path);
    if (!agent) return agent.error().text;
    start->standalone = std::move(*agent);
    return "";
  }
  if (struct stat entry{};
      ::lstat(in_proc(target.pid, "root/proc/thread-self").c_str(), &entry) != 0 && errno == ENOENT)
    return sentence_on(
        target.pid,
        fmt::format("has a root directory without /proc, through which the agent is loaded: {}", kUseBreakpoints));
  auto agent = AgentFile::open(agent_path);
  if (!agent) return agent.error().text;
  start->agent = std::move(*agent);
  return "";
}

// Until the agent has planned. The recorder answers its questions meanwhile, and may read debug files for them. Returns
// words that follow "process N "; empty: success.
std::string await_guest(const Target& target, const Guest& guest) {
  constexpr std::chrono::seconds kLockPatience(10), kPatience(PENNA_PLAN_SECONDS);
  const auto start = std::chrono::steady_clock::now();
  for (LockWatch watch(target.pid);; ::usleep(kAwaitGuestUs)) {
    if (const auto outcome = guest.outcome(target.memory)) return *outcome;
    if (watch.waited() > kLockPatience)
      return fmt::format("does not let the agent be loaded: a thread holds the dynamic linker's lock, or malloc's: {}",
                         kUseBreakpoints);
    if (std::chrono::steady_clock::now() - start > kPatience) return "does not let the agent be loaded";
  }
}

}  // namespace

// Returns a sentence; empty: the process is recorded.
std::string Patients::bring_in_once(pid_t pid, AttachedProcess& patient) const {
  const auto sentence = [pid](const std::string& words) { return sentence_on(pid, words); };
  // No other recorder is working on it, it can be understood, and its filters allow it.
  patient.turn = lock_target(pid);
  if (!patient.turn) return sentence(kTargetBusy);
  const auto target = examine(pid);
  if (!target) return sentence(target.error().text);
  const uint32_t filters = most_call_filters(pid);
  const auto refusals = judge_call_filters(pid, target->code.system_call.number());
  if (!refusals) return sentence(refusals.error().text);

  // The guest loads the agent, which plans. It inherits the filters of the thread that makes it.
  const std::string socket = name_near(socket_path_, pid);
  Start start{{socket, agent_}, find_residue(*target), {}, {}, *refusals, locks_memory(pid), {}, {}};
  if (std::string trouble = start.residue ? renew_agent(*target, agent_, &start) : open_agent(*target, agent_, &start);
      !trouble.empty())
    return trouble;
  const std::string just_filtered = "has just installed a seccomp filter: try again";
  const auto start_it = [&](BorrowedThread& thread) {
    return count_call_filters(pid, thread.id()) > filters ? just_filtered : start_guest(*target, thread, &start);
  };
  if (const std::string trouble = with_borrowed_thread(*target, start_it); !trouble.empty()) return sentence(trouble);
  if (const std::string trouble = let_guest_go(*target, start); !trouble.empty()) return sentence(trouble);
  const Guest guest(start.place);
  patient.journal.emplace(open_journal(*target, guest.attachment()));
  if (const std::string trouble = await_guest(*target, guest); !trouble.empty()) return sentence(trouble);
  if (until_ == InjectUntil::kPlanned) return patient.journal.reset(), "";

  // What it has planned is written while all threads are stopped. The agent sees only the filters that are installed
  // once this is written. While the threads stand still, only the first is looked at: there may be thousands.
  if (!target->standalone) name_agent(pid, target->memory, agent_);
  const auto written = patient.journal->write_all(
      [&] { return count_call_filters(pid, pid) > filters ? sentence(just_filtered) : std::string(); });
  if (!written) return written.error().text;
  return most_call_filters(pid) > filters ? sentence(just_filtered) : "";
}

// The journal of one of the processes; for one that they have forked, that of the nearest ancestor.
std::optional<Journal> Patients::journal_of(pid_t pid) const {
  const auto has_journal = [&](pid_t one) {
    const auto found = patients_.find(one);
    return found != patients_.end() && found->second.journal;
  };
  if (const pid_t one = nearest_ancestor(pid, has_journal); one != 0) return patients_.at(one).journal->of(pid);
  for (const auto& [parent, patient] : patients_)  // it has ended
    if (patient.journal) {
      const auto state = patient.journal->of(pid).state();
      if (state && *state != Journal::State::kOtherProgram) return patient.journal->of(pid);
    }
  return {};
}

std::string Patients::bring_in(pid_t pid) {
  constexpr int kMostPrograms = 5;
  AttachedProcess& patient = patients_[pid] = {};
  std::string trouble;
  for (int i = 0; i < kMostPrograms; ++i) {
    const std::string before = program_mark(pid);
    trouble = bring_in_once(pid, patient);
    // If it has exec'd meanwhile, nothing of what we did is left.
    if (trouble.empty() || before == program_mark(pid)) break;
    patient = {};
  }
  if (trouble.empty()) return {};
  if (patient.turn && is_standalone(pid)) trouble += "; --via breakpoint can record it";
  Restored given_up;  // only the trouble is reported
  restore_family(pid, &given_up);
  patients_.erase(pid);
  return trouble;
}

std::string Patients::restore(pid_t pid) const {
  const auto journal = journal_of(pid);
  if (!journal) return fmt::format("process {} was not attached to", pid);
  auto restored = journal->put_back();
  if (!restored) return restored.error().text;
  for (const pid_t child : children_of(pid)) restore_family(child, &*restored);
  return fmt::format("{} {} {} {} {} {} {}", restored->places, restored->modules, restored->kept,
                     restored->other_programs, restored->stopped_ns, restored->waiting, restored->trouble);
}

CodePtr Patients::finisher_in(pid_t pid) const {
  const auto journal = journal_of(pid);
  const auto memory = RemoteMemory::open(pid);
  return journal && memory ? journal->finisher(*memory) : CodePtr();
}

// Restores what is still changed in the process and its descendants: those forked just now may not have connected to
// the recorder.
void Patients::restore_family(pid_t pid, Restored* all) const {
  if (const auto journal = journal_of(pid)) {
    const auto restored = journal->put_back();
    if (!restored && all->trouble.empty() && !executable_of(static_cast<uint32_t>(pid)).empty())
      all->trouble = restored.error().text;
    if (restored && restored->other_programs == 0) all->add(*restored);  // other programs are reported if recorded
  }
  for (const pid_t child : children_of(pid)) restore_family(child, all);
}

void Patients::put_all_back() const {
  Restored given_up;  // no one is left to report it to
  for (const auto& [pid, patient] : patients_)
    if (patient.journal) restore_family(pid, &given_up);
}

Result<Restored> parse_restored(const std::string& answer) {
  Restored restored;
  std::istringstream numbers(answer);
  if (numbers >> restored.places >> restored.modules >> restored.kept >> restored.other_programs >>
      restored.stopped_ns >> restored.waiting) {
    std::getline(numbers >> std::ws, restored.trouble);
    return restored;
  }
  return Error{answer};
}

Restored leave_all(const Carrier::Living& living, const std::function<Result<Restored>(pid_t)>& restore) {
  Restored all;
  std::set<uint32_t> met;
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const uint32_t number : living()) {
      if (!met.insert(number).second) continue;
      is_new = true;
      const auto restored = restore(static_cast<pid_t>(number));
      if (restored)
        all.add(*restored);
      else if (!executable_of(number).empty())  // else it has ended
        all.trouble = restored.error().text;
    }
  }
  return all;
}

}  // namespace penna
