// SPDX-License-Identifier: MIT
// See started_programs.h.
#include "collect/started_programs.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace penna {
namespace {

constexpr size_t kMost = 1 << 16;  // starts, and connections

struct Why {
  const char *one, *many;  // "it is ...": of one program; a word before "programs"
};
static_assert(PENNA_ANSWER_SECONDS == 10);
constexpr std::array<Why, PENNA_START_WHYS + 1> kWhys{{
    {"it ended before it reached the recorder, or could not reach it (a sandbox)", "that never reached the recorder"},
    {"it did not start", "that did not start"},
    {"it is statically linked, and the agent could not come to it", "statically linked"},
    {"it is a 32-bit program, and the agent is for x86-64", "32-bit"},
    {"it is for another processor than x86-64", "for another processor"},
    {"its libc is musl, and the agent is for glibc", "with musl as libc"},
    {"its dynamic linker is not glibc's, which would preload the agent", "with another dynamic linker"},
    {"it is setuid or setgid, has capabilities or another real than effective user, so nothing can be preloaded",
     "setuid or with other privileges"},
    {"the agent's file is not there for it (another root, a sandbox)", "behind another root or in a sandbox"},
    {"its user may not read the agent's file", "whose user may not read the agent's file"},
    {"its resource limits (ulimit) leave no memory for recording", "whose resource limits (ulimit) leave no memory"},
    {"it is a tool of valgrind, which would run the agent as a part of what it looks at", "tools of valgrind"},
    {"its environment is too large to be copied", "with too large an environment"},
    {"its seccomp filter forbids system calls that recording needs", "with a filter (seccomp)"},
    {"it was forked and could not reach the recorder (another root, a sandbox)",
     "forked without a way to the recorder"},
    {"it ended, or timed out after 10 s, before the recorder answered: the recorder was stopped or starved",
     "that the recorder answered too late"},
}};

const Why& why_of(uint32_t why) { return kWhys[why < kWhys.size() ? why : 0]; }

// Reported without a path, it is a forked child.
bool may_be_fork(uint32_t why) { return why == PENNA_START_UNREACHED || why == PENNA_START_NO_ROOM; }

// It may not have started a program of its own.
bool is_process(const UnrecordedProgram& one) {
  return one.path.empty() && (may_be_fork(one.why) || one.why == kUnanswered);
}

}  // namespace

void StartedPrograms::add(const penna_start& start, uint32_t pid) {
  if (start.path_bytes == 0 && may_be_fork(start.why)) {
    if (forked_.size() < kMost)
      forked_.push_back({"", pid, start.why});
    else
      add_unreported(1);
    return;
  }
  if (start.why == PENNA_START_FAILED) {
    const auto found = starts_.find(pid);
    if (found == starts_.end()) return;
    found->second.pop_back();
    if (found->second.empty()) starts_.erase(found);
    --count_;
    return;
  }
  if (auto early = early_meetings_.find(pid); early != early_meetings_.end()) {
    // The connection came before the report: chunks and reports travel separately.
    auto met = std::find_if(early->second.begin(), early->second.end(), [&](uint64_t t) { return t >= start.ticks; });
    if (met != early->second.end()) {
      early->second.erase(met);
      if (early->second.empty()) early_meetings_.erase(early);
      --early_count_;
      return;
    }
  }
  if (count_ == kMost) {
    add_unreported(1);
    return;
  }
  ++count_;
  const size_t bytes = std::min<size_t>(start.path_bytes, sizeof start.path);
  const uint32_t why = start.why < PENNA_START_WHYS ? start.why : uint32_t{PENNA_START_EXPECTED};
  starts_[pid].push_back({start.ticks, {std::string(start.path, bytes), pid, why}});
}

void StartedPrograms::met(uint32_t pid, uint64_t ticks) {
  if (auto found = starts_.find(pid); found != starts_.end()) {
    std::vector<Start>& starts = found->second;
    // A process may exec several times before one of its programs connects: that is the last one started before.
    auto last = std::find_if(starts.rbegin(), starts.rend(), [&](const Start& start) { return start.ticks <= ticks; });
    if (last != starts.rend()) {
      starts.erase(std::next(last).base());
      --count_;
      if (starts.empty()) starts_.erase(found);
      return;
    }
  }
  if (early_count_ == kMost) return;
  ++early_count_;
  early_meetings_[pid].push_back(ticks);
}

void StartedPrograms::left_unanswered(uint32_t pid, bool is_recorded) {
  if (unanswered_.size() < kMost)
    unanswered_.emplace(pid, is_recorded);
  else
    add_unreported(1);
}

std::vector<UnrecordedProgram> StartedPrograms::unrecorded() const {
  std::vector<const Start*> all;
  for (const auto& [pid, starts] : starts_)
    for (const Start& start : starts) all.push_back(&start);
  std::stable_sort(all.begin(), all.end(), [](const Start* a, const Start* b) { return a->ticks < b->ticks; });
  std::vector<UnrecordedProgram> programs;
  programs.reserve(all.size() + forked_.size());
  for (const Start* start : all) programs.push_back(start->program);
  programs.insert(programs.end(), forked_.begin(), forked_.end());
  std::map<uint32_t, bool> left = unanswered_;
  for (UnrecordedProgram& program : programs)
    if ((program.why == PENNA_START_EXPECTED || program.why == PENNA_START_UNREACHED) && left.erase(program.pid) != 0)
      program.why = kUnanswered;
  for (const auto& [pid, is_recorded] : left)
    if (!is_recorded) programs.push_back({"", pid, kUnanswered});  // it has exec'd another program, or was forked
  return programs;
}

std::string unrecorded_sentence(const UnrecordedProgram& program) {
  const std::string who = !program.path.empty() ? program.path : is_process(program) ? "a process" : "a program";
  return fmt::format("{}{} was not recorded: {}", who,
                     program.pid == 0 ? std::string{} : fmt::format(" (pid {})", program.pid), why_of(program.why).one);
}

std::string unrecorded_summary(const std::vector<UnrecordedProgram>& programs, uint64_t unreported) {
  std::array<size_t, kWhys.size()> counts{};
  for (const UnrecordedProgram& program : programs) ++counts[program.why < counts.size() ? program.why : 0];
  std::vector<std::string> parts;
  for (uint32_t why = 0; why < counts.size(); ++why)
    if (counts[why] != 0) parts.push_back(fmt::format("{} {}", counts[why], why_of(why).many));
  if (unreported != 0)
    parts.push_back(count_text(static_cast<int64_t>(bounded_count(unreported))) + " of which nothing else is known");
  return fmt::format(
      "{} programs{} were not recorded: {}", count_text(static_cast<int64_t>(add_counts(programs.size(), unreported))),
      std::any_of(programs.begin(), programs.end(), is_process) ? " and processes" : " that were started",
      fmt::join(parts, ", "));
}

}  // namespace penna
