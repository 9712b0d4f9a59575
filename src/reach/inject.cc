// SPDX-License-Identifier: MIT
// See inject.h. The steps, in bring_in() at the end: examine, borrow a thread, start the guest, await it, write.
#include "reach/inject.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <sstream>

#include "base/command_line.h"
#include "base/file.h"
#include "base/memory_ranges.h"
#include "base/proc_stat.h"
#include "penna/patch_plan.h"
#include "reach/alone_agent.h"
#include "reach/call_filters.h"
#include "reach/guest.h"
#include "reach/held_start.h"
#include "reach/residue.h"
#include "reach/stop_thread.h"
#include "reach/target.h"
#include "reach/turn.h"

namespace penna {
namespace {

constexpr char kWatch = 'w', kBringIn = 'b', kGiveBack = 'g', kCall = 'c';  // orders
constexpr useconds_t kAwaitGuestUs = 200;
constexpr const char* kCannotGiveAgent = "could not be given the agent: has it ended?";

// Never empty.
std::vector<std::string> name_of(pid_t pid) {
  std::vector<std::string> command = command_of(static_cast<uint32_t>(pid));
  if (command.empty() || command[0].empty()) {
    const std::string name = comm_of(static_cast<uint32_t>(pid));
    command.assign(1, !name.empty() ? name : "process");
  }
  return command;
}

// Identifies the program that the process runs now. AT_RANDOM and AT_BASE differ between execs if addresses are
// randomized.
std::string program_mark(pid_t pid) {
  const auto auxv = read_file(fmt::format("/proc/{}/auxv", pid), 4096);
  return auxv ? *auxv : std::string();
}

// The memfd that the process has made as descriptor `fd`, opened again. Verified, because the process may have closed
// it and opened another file as the same descriptor. The guest closes that descriptor once the agent is loaded.
Fd open_memory_file(pid_t pid, int fd) {
  Fd file(::open(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), O_WRONLY | O_CLOEXEC));
  struct stat status {};
  struct statfs system {};
  const bool is_ours = file && ::fstat(file.get(), &status) == 0 && ::fstatfs(file.get(), &system) == 0 &&
                       system.f_type == TMPFS_MAGIC && status.st_nlink == 0 && status.st_size == 0;
  return is_ours ? std::move(file) : Fd();
}

// The data for starting the guest.
struct Start {
  GuestTexts texts;
  std::optional<Residue> residue;
  std::string agent;                // loadable bytes of its file; empty: it is already loaded
  GuestPlace place;                 // found or made
  uint32_t refusals = 0;            // penna_attachment::refusals
  Fd agent_file;                    // if made: where `agent` goes
  std::optional<AloneAgent> alone;  // the stand-alone agent, if we must load it
  uint64_t base = 0, frames = 0;    // stand-alone: its address; map_frames()
  uint64_t attach() const { return residue ? residue->attach : alone->attach_at(base); }
};

bool may_map(const std::optional<int64_t>& got) { return got && (*got > 0 || *got < -4095); }  // 0 cannot be mapped

// A memfd of the process, opened by us too. Returns text to follow "process N "; empty: it was made.
std::string make_agent_file(const Target& target, BorrowedThread& thread, Start* start, int* made) {
  // In memory that is zero and will be the guest's.
  if (!target.memory.write(start->place.memory, AloneAgent::kMemoryFile, sizeof AloneAgent::kMemoryFile))
    return "has ended meanwhile";
  const auto fd = thread.call(SYS_memfd_create, {start->place.memory, MFD_CLOEXEC, 0, 0, 0, 0});
  if (!fd || *fd < 0) return "may not make a memfd, by which the agent would come";
  *made = static_cast<int>(*fd);
  start->agent_file = open_memory_file(target.pid, *made);
  return start->agent_file ? "" : kCannotGiveAgent;
}

// The agent's memory, if no dynamic linker will map it. Returns text to follow "process N "; empty on success.
std::string map_alone(const Target& target, BorrowedThread& thread, Start* start) {
  start->frames = map_frames(thread, *target.alone, memory_ranges(target.pid));
  if (start->frames == 0 && target.alone->told.frame_bytes != 0)
    return "has no free memory near its code for its unwind information";
  int made = -1;
  std::string trouble = make_agent_file(target, thread, start, &made);
  if (trouble.empty()) trouble = start->alone->map(thread, made, &start->base);
  if (made >= 0) thread.call(SYS_close, {static_cast<uint64_t>(made), 0, 0, 0, 0, 0});
  return trouble;
}

// Memory for the guest, and a memfd for the agent if that is not loaded yet. Returns text to follow "process N "; empty
// on success.
std::string bring_guest(const Target& target, BorrowedThread& thread, Start* start) {
  constexpr uint64_t kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  const auto code = thread.call(SYS_mmap, {0, Guest::kCodeBytes, PROT_READ | PROT_EXEC, kPrivate, ~uint64_t{0}, 0});
  if (!may_map(code)) return "may not map memory that can be executed";
  start->place.code = static_cast<uint64_t>(*code);
  const auto memory = thread.call(
      SYS_mmap, {0, Guest::kMemoryBytes, PROT_READ | PROT_WRITE, kPrivate | MAP_NORESERVE, ~uint64_t{0}, 0});
  if (!may_map(memory)) return "has too little memory left for the agent";
  start->place.memory = static_cast<uint64_t>(*memory);
  int agent_fd = -1;
  if (!start->residue && target.alone) {
    if (std::string trouble = map_alone(target, thread, start); !trouble.empty()) return trouble;
  } else if (!start->residue) {
    if (std::string trouble = make_agent_file(target, thread, start, &agent_fd); !trouble.empty()) return trouble;
  }
  const uint64_t attach = start->residue ? start->residue->attach : 0;
  const bool prepared = Guest(start->place)
                            .prepare(target.memory, target.libraries, target.needs, thread.state().thread_pointer(),
                                     agent_fd, attach, start->texts);
  return prepared ? "" : "could not be prepared: has it ended?";
}

// By the criterion by which a stand-alone agent recognizes threads.
bool is_known_thread(const Target& target, const BorrowedThread& thread) {
  const uint64_t pointer = thread.state().thread_pointer();
  return target.memory.word(pointer) == pointer &&
         target.memory.get<uint32_t>(pointer + target.needs.tid_at).value_or(0) != 0;
}

// The thread is borrowed for a moment. Returns text to follow "process N "; empty: the guest runs.
std::string start_guest(const Target& target, BorrowedThread& thread, Start* start) {
  if (target.alone && !is_known_thread(target, thread)) return "has threads that its libc does not know of";
  if (start->place.memory == 0) {
    if (std::string trouble = bring_guest(target, thread, start); !trouble.empty()) return trouble;
  } else if (!Guest(start->place).prepare_again(target.memory, start->residue->attach, start->texts)) {
    return "could not be prepared: has it ended?";
  }
  const Guest guest(start->place);
  if (!guest.say_refusals(target.memory, start->refusals)) return "could not be prepared: has it ended?";
  say_not_single_threaded(target);
  constexpr uint64_t kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                              CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  const auto tid = thread.call(
      SYS_clone, {kFlags, guest.stack(), guest.tid(target.needs), guest.ended(), guest.thread_pointer(), 0});
  return tid && *tid > 0 ? "" : "may not start a thread";
}

// Lets the guest begin. Here, because copying the agent takes milliseconds: the borrowed thread is already released.
std::string let_guest_go(const Target& target, const Start& start) {
  const std::string& agent = start.alone ? start.alone->image_at(start.base) : start.agent;
  if (start.agent_file && !write_all(start.agent_file, agent)) return kCannotGiveAgent;
  if (target.alone && (!tell_alone_agent(target.memory, start.base, *target.alone, start.frames) ||
                       !Guest(start.place).say_attach(target.memory, start.attach())))
    return "has ended";
  return Guest(start.place).go(target.memory) ? "" : "has ended";
}

}  // namespace

Result<std::unique_ptr<Inject>> Inject::prepare(const std::vector<pid_t>& pids, const std::string& agent,
                                                const std::string& socket_path, InjectUntil until) {
  std::unique_ptr<Inject> inject(new Inject);
  for (const pid_t pid : pids) {
    Patient patient;
    patient.pid = pid;
    patient.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!patient.pidfd) {
      inject->refused_.push_back(fmt::format("there is no process {}", pid));
      continue;
    }
    patient.command = name_of(pid);
    inject->patients_.push_back(std::move(patient));
  }
  if (inject->patients_.empty()) return Error{inject->refused_.back()};
  inject->agent_ = agent;
  inject->socket_path_ = socket_path;
  inject->until_ = until;
  return inject;
}

Result<std::unique_ptr<Inject>> Inject::launch(const std::vector<std::string>& command, const std::string& agent,
                                               const std::string& socket_path, const sigset_t& signals) {
  std::unique_ptr<Inject> inject(new Inject);
  inject->launched_ = PENNA_TRY(Launch::prepare(command, "", socket_path, signals));
  Patient patient;
  patient.pid = inject->launched_->pid();
  patient.command = command;
  inject->patients_.push_back(std::move(patient));
  inject->agent_ = agent;
  inject->socket_path_ = socket_path;
  PENNA_TRY(inject->start_surgeon());
  inject->launched_->allow_tracer(inject->surgeon_->pid());
  return inject;
}

// Returns a sentence; empty: the process is recorded.
std::string Inject::bring_in(Patient& patient) {
  const pid_t pid = patient.pid;
  const auto sentence = [pid](const std::string& words) { return fmt::format("process {} {}", pid, words); };
  // Milestones: 1. no other recorder is attaching, 2. the process is understood, 3. its filters allow it, 4. an earlier
  // recorder's residue is renewed, 5. the guest loads the agent, which plans, 6. the plan is written while all threads
  // are stopped.
  patient.turn = take_turn(pid);
  if (!patient.turn) return sentence(kNotOurTurn);
  auto target = examine(pid);
  if (!target) return sentence(target.error().text);
  const auto refusals = judge_call_filters(pid, target->code.system_call);
  if (!refusals) return sentence(refusals.error().text);
  Start start{{socket_path_, agent_}, find_residue(*target), {}, {}, *refusals, {}, {}};
  const auto journal_of = [&](uint64_t attachment) {
    Journal journal(pid, attachment, target->code.sigreturn, target->system_code);
    if (target->alone) journal.set_unwinder(target->alone->unwinder);
    return journal;
  };
  if (start.residue && start.residue->attachment != 0) {
    const Guest before = Guest::of(target->memory, start.residue->attachment);
    if (before.is_running(target->memory)) return sentence("is just being attached to by another recorder");
    const auto renewed = renew(pid, target->memory, *start.residue, journal_of(start.residue->attachment),
                               target->alone ? alone_agent_file(agent_) : agent_, target->needs.tls_offset_at);
    if (!renewed) return renewed.error().text;
    start.place = before.place();
  }
  if (start.residue && target->alone) start.base = start.residue->agent.bias;
  if (!start.residue && target->alone) {
    auto agent = AloneAgent::load(agent_);
    if (!agent) return agent.error().text;
    start.alone = std::move(*agent);
  } else if (!start.residue) {
    auto agent = loaded_part(agent_);
    if (!agent) return agent.error().text;
    start.agent = std::move(*agent);
  }
  const auto start_it = [&](BorrowedThread& thread) { return start_guest(*target, thread, &start); };
  if (const std::string trouble = with_borrowed_thread(*target, start_it); !trouble.empty()) return sentence(trouble);
  if (const std::string trouble = let_guest_go(*target, start); !trouble.empty()) return sentence(trouble);
  const Guest guest(start.place);
  patient.journal.emplace(journal_of(guest.attachment()));
  // The recorder answers the agent's questions meanwhile, and may read debug files for them.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(PENNA_PLAN_SECONDS);
  for (;; ::usleep(kAwaitGuestUs)) {
    if (const auto outcome = guest.outcome(target->memory); outcome && outcome->empty())
      break;
    else if (outcome)
      return sentence(*outcome);
    if (std::chrono::steady_clock::now() > end) return sentence("does not let the agent be loaded: a lock is held");
  }
  if (until_ == InjectUntil::kPlanned) return patient.journal.reset(), "";
  if (!target->alone) name_agent(pid, target->memory, agent_);
  const auto written = patient.journal->write_all();
  return written ? "" : written.error().text;
}

// For one of the processes, or for one that these have forked: then that of the nearest ancestor.
std::optional<Journal> Inject::journal_of(pid_t pid) const {
  constexpr int kMostParents = 64;
  pid_t one = pid;
  for (int i = 0; i < kMostParents && one > 1; ++i, one = parent_of(one))
    for (const Patient& patient : patients_)
      if (patient.pid == one && patient.journal) return patient.journal->of(pid);
  for (const Patient& patient : patients_)  // its parent has ended
    if (patient.journal) {
      const auto state = patient.journal->of(pid).state();
      if (state && *state != Journal::State::kOtherProgram) return patient.journal->of(pid);
    }
  return {};
}

// Into whatever program the process runs by then. Returns bring_in()'s result.
std::string Inject::bring_in_first(Patient& patient) {
  constexpr int kMostPrograms = 5;
  std::string trouble;
  for (int i = 0; i < kMostPrograms; ++i) {
    const std::string before = program_mark(patient.pid);
    trouble = bring_in(patient);
    // By exec, meanwhile: none of our changes is left.
    if (trouble.empty() || before == program_mark(patient.pid)) break;
    patient.journal.reset();
    patient.turn.reset();
  }
  if (!trouble.empty()) {
    if (patient.turn && is_alone(patient.pid)) trouble += "; --via breakpoint can record it";
    Restored given_up;  // only the trouble is reported
    put_back_family(patient.pid, &given_up);
    patient.journal.reset();
  }
  return trouble;
}

// Into a program that is starting. If we are killed meanwhile, the surgeon completes this before it notices.
std::string Inject::bring_in_held(Patient& patient) {
  const auto held = HeldStart::hold(patient.pid);
  if (!held) return fmt::format("process {} {}", patient.pid, held.error().text);
  std::string trouble = bring_in_first(patient);
  if (!held->let_go() && trouble.empty()) trouble = fmt::format("process {} has ended", patient.pid);
  return trouble;
}

// The surgeon's answer: for a process that was given back, numbers; else a sentence, or nothing.
std::string Inject::carry_out(const Surgeon::Order& order) {
  const auto patient =
      std::find_if(patients_.begin(), patients_.end(), [&](const Patient& one) { return one.pid == order.pid; });
  if (order.what == kWatch) {
    const auto watched = HeldStart::watch(order.pid);
    return watched ? "" : watched.error().text;
  }
  if (order.what == kBringIn) return launched_ ? bring_in_held(*patient) : bring_in_first(*patient);
  if (order.what == kCall) {
    const auto& [entry, end, stack, channel] = order.words;
    const auto called = call_in(order.pid, {RemotePtr<const uint8_t>(entry), RemotePtr<const uint8_t>(end),
                                            RemoteBytes(stack), static_cast<ino_t>(channel)});
    return called ? "" : called.error().text;
  }
  const auto journal = journal_of(order.pid);
  if (!journal) return fmt::format("process {} was not attached to", order.pid);
  auto restored = journal->put_back();
  if (!restored) return restored.error().text;
  for (const pid_t child : children_of(order.pid)) put_back_family(child, &*restored);
  return fmt::format("{} {} {} {} {} {}", restored->places, restored->modules, restored->kept, restored->other_programs,
                     restored->stopped_ns, restored->waiting);
}

// Restores what is still changed in the process and in all its descendants: the recorder may not have met those that
// were forked just now.
void Inject::put_back_family(pid_t pid, Restored* all) const {
  if (const auto journal = journal_of(pid)) {
    const auto restored = journal->put_back();
    if (restored && restored->other_programs == 0) all->add(*restored);  // recorded other programs are reported
  }
  for (const pid_t child : children_of(pid)) put_back_family(child, all);
}

// The recorder that was to do it is dead.
void Inject::put_all_back() const {
  Restored given_up;  // there is no one to report it to
  for (const Patient& patient : patients_)
    if (patient.journal) put_back_family(patient.pid, &given_up);
}

// In the surgeon, until an order arrives: a thread that has ended while we traced it, and with it its process, is only
// gone once we have waited for it. Its exit status still goes to its parent.
static void note_ends(int socket) {
  constexpr int kLookAgainMs = 10;
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL) != 0) return;  // there is none
    pollfd order{socket, POLLIN, 0};
    if (info.si_pid == 0 && ::poll(&order, 1, kLookAgainMs) != 0) return;
  }
}

Result<> Inject::start_surgeon() {
  surgeon_.emplace(PENNA_TRY(Surgeon::start(
      {[this](const Surgeon::Order& order) { return carry_out(order); }, [this] { put_all_back(); }, note_ends})));
  return ok();
}

// If it cannot be recorded it still runs.
bool Inject::start_program(CarrierError* error) {
  const auto tell = [&](char what) {
    const auto answer = surgeon_->tell({what, pid(), {}}, serve_);
    return answer ? *answer : answer.error().text;
  };
  std::string trouble = tell(kWatch);
  launched_->begin();
  if (trouble.empty()) trouble = tell(kBringIn);
  if (!launched_->has_begun(error)) return false;
  if (!trouble.empty()) refused_.push_back(std::move(trouble));
  return true;
}

bool Inject::start(CarrierError* error) {
  constexpr int kOurTrouble = 125;
  if (launched_) return start_program(error);
  if (const auto started = start_surgeon(); !started) return *error = {kOurTrouble, started.error().text}, false;
  std::vector<Patient> recorded;
  for (Patient& patient : patients_) {
    const auto trouble = surgeon_->tell({kBringIn, patient.pid}, serve_);
    if (trouble && trouble->empty())
      recorded.push_back(std::move(patient));
    else
      refused_.push_back(trouble ? *trouble : trouble.error().text);
  }
  if (recorded.empty()) return *error = {kOurTrouble, refused_.back()}, refused_.pop_back(), false;
  patients_ = std::move(recorded);
  return true;
}

static bool is_over(const Fd& pidfd) {
  pollfd ended{pidfd.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

int Inject::pidfd() const {
  if (launched_) return launched_->pidfd();
  for (const Patient& patient : patients_)
    if (!is_over(patient.pidfd)) return patient.pidfd.get();
  return patients_.front().pidfd.get();
}

bool Inject::has_ended() const {
  return launched_ ||
         std::all_of(patients_.begin(), patients_.end(), [](const Patient& one) { return is_over(one.pidfd); });
}

int Inject::wait() {
  if (launched_) return launched_->wait();
  for (const Patient& patient : patients_) {
    pollfd ended{patient.pidfd.get(), POLLIN, 0};
    while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
  }
  return 0;
}

Result<Restored> Inject::give_back(pid_t pid) const {
  const std::string answer = PENNA_TRY(surgeon_->tell({kGiveBack, pid}, serve_));
  Restored restored;
  std::istringstream numbers(answer);
  if (numbers >> restored.places >> restored.modules >> restored.kept >> restored.other_programs >>
      restored.stopped_ns >> restored.waiting)
    return restored;
  return Error{answer};
}

Result<> Inject::call(pid_t pid, const RemoteCode& code) const {
  const Surgeon::Order order{
      kCall, pid, {code.entry.number(), code.end.number(), code.stack_top.number(), code.channel}};
  const std::string trouble = PENNA_TRY(surgeon_->tell(order, {}));
  if (!trouble.empty()) return Error{trouble};
  return ok();
}

Restored Inject::leave(const Living& living) {
  Restored all;
  std::set<uint32_t> met;
  // Until a round meets no new process: a process may fork right before we reach it, and its child then has our
  // changes.
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const uint32_t number : living()) {
      if (!met.insert(number).second) continue;
      is_new = true;
      const auto pid = static_cast<pid_t>(number);
      const auto restored = give_back(pid);
      if (restored)
        all.add(*restored);
      else if (!executable_of(number).empty())  // else it has ended
        all.trouble = restored.error().text;
    }
  }
  return all;
}

}  // namespace penna
