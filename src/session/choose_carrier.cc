// SPDX-License-Identifier: MIT
// See choose_carrier.h.
#include "session/choose_carrier.h"

#include <fmt/core.h>

#include "base/in_proc.h"
#include "base/say.h"
#include "breakpoint/breakpoint_carrier.h"
#include "breakpoint/uprobe_ring.h"
#include "reach/inject/inject.h"
#include "reach/start/launch.h"
#include "reach/start/standalone_program.h"
#include "session/attach_refusal.h"
#include "session/record_notes.h"
#include "symbols/elf/elf_facts.h"

namespace penna {
namespace {

// Why the program cannot have an agent, although breakpoints can record it: "uses musl". Empty: it can have one, or
// cannot be recorded at all (32 bits, another machine, higher privileges than ours). *is_static: no dynamic linker
// loads it, so it needs the standalone agent.
std::string why_no_agent(const std::string& program, bool* is_static) {
  const auto facts = read_elf_facts(program);
  if (!facts || !facts->is_elf || facts->bits != 64 || facts->machine_name != "x86-64" || facts->setuid) return "";
  *is_static = facts->is_static;
  if (!facts->is_static) return is_of_musl(*facts) ? "uses musl" : "";
  const std::string why_not = why_no_standalone_agent(facts->elf_path());
  return why_not.empty() ? "" : fmt::format("is statically linked and {}", why_not);
}

// The first given option that breakpoints cannot support, because they have no code in the process; null: none.
const char* unserved_option(const RecordOptions& options) {
  if (options.all_functions) return "--all-functions";
  if (options.libcalls) return "--libcalls";
  if (!options.arguments.empty()) return "-A";
  if (!options.results.empty()) return "-R";
  if (options.auto_arguments) return "--auto-args";
  if (options.max_overhead) return "--max-overhead";
  if (options.sample_bytes != 0) return "--sample-bytes";
  if (options.lock_sample > 1) return "--sample-locks";
  if (options.long_hold_ns != 0) return "--holds";
  if (!options.lock_functions.empty()) return "--lock-functions";
  return nullptr;
}

// Why a running process is left to uprobes, which can record it: "process 7 is already traced by process 8". Empty: it
// is not.
std::string why_by_uprobes(const RecordOptions& options, bool by_breakpoints) {
  if (options.via != Via::kAuto || options.pids.size() != 1 || unserved_option(options) != nullptr) return "";
  const std::string refusal = why_left_to_uprobes(options.pids[0], by_breakpoints);
  return refusal.empty() || !why_no_uprobes().empty() ? "" : split_remedy(refusal).objection;
}

}  // namespace

// --via decides; without it the agent, and breakpoints only for one program that cannot have an agent. Breakpoints stop
// a thread for each event: they are never chosen silently.
Result<CarrierChoice> choose_carrier(const RecordOptions& options) {
  CarrierChoice choice;
  const bool is_one = options.pids.size() < 2;
  const std::string program =
      options.pids.empty() ? file_of_command(options.command[0]) : in_proc(options.pids[0], "exe");
  bool is_static = false;
  std::string reason =
      (options.via == Via::kAuto || options.via == Via::kInject) && is_one ? why_no_agent(program, &is_static) : "";
  choice.comes_alone = options.pids.empty() && is_static && reason.empty();
  if (options.via == Via::kInject) reason.clear();
  // A program that we start runs whether or not it can be recorded; the reason for an empty recording is given at its
  // end.
  if (options.pids.empty() && unserved_option(options) != nullptr) reason.clear();
  choice.by_breakpoints = options.via == Via::kBreakpoint || options.via == Via::kUprobe || !reason.empty();
  const std::string left = why_by_uprobes(options, choice.by_breakpoints);
  choice.by_uprobes = options.via == Via::kUprobe || !left.empty();
  choice.by_breakpoints |= choice.by_uprobes;
  const char* const way = choice.by_uprobes ? "uprobe" : "breakpoint";
  if (choice.by_breakpoints && !is_one)
    return Error{fmt::format("{}s record one process at a time: give one PID, or leave out --via {}", way, way)};
  if (std::string trouble = options.via == Via::kUprobe ? why_no_uprobes() : ""; !trouble.empty())
    return Error{std::move(trouble)};
  const std::string who = options.pids.empty() ? options.command[0] : fmt::format("process {}", options.pids[0]);
  if (!reason.empty())
    choice.reason = fmt::format("{} {}: recording it by breakpoints, at about 10 us an event", who, reason);
  if (!left.empty()) choice.reason = left + ": recording it by uprobes";
  if (const char* option = choice.by_breakpoints ? unserved_option(options) : nullptr)
    return Error{fmt::format("{} cannot be had with {}s{}: leave it out", option, way,
                             !reason.empty() ? fmt::format(", by which {} is recorded as it {}", who, reason) : "")};
  return choice;
}

Error last_after_others(std::vector<std::string> reasons) {
  Error last{std::move(reasons.back())};
  reasons.pop_back();
  for (const std::string& one : reasons) say(one);
  return last;
}

Result<std::vector<pid_t>> attachable(const std::vector<pid_t>& asked, const CarrierChoice& choice) {
  std::vector<pid_t> pids;
  std::vector<std::string> reasons;
  for (const pid_t pid : asked)
    if (std::string reason = choice.by_uprobes ? why_not_watched(pid) : why_not_attached(pid, choice.by_breakpoints);
        reason.empty())
      pids.push_back(pid);
    else
      reasons.push_back(std::move(reason));
  if (pids.empty() && !reasons.empty()) return last_after_others(std::move(reasons));
  for (const std::string& reason : reasons) say(reason);
  return pids;
}

// The only place that knows which carriers exist.
Result<std::unique_ptr<Carrier>> make_carrier(const CarrierChoice& choice, const RecordOptions& options,
                                              const std::vector<pid_t>& pids, const std::string& agent,
                                              GuardianPlan plan, const sigset_t& signals) {
  const auto by = choice.by_uprobes ? BreakpointCarrier::By::kUprobes : BreakpointCarrier::By::kBreakpoints;
  if (choice.by_breakpoints)
    return pids.empty() ? BreakpointCarrier::launch(options.command, by, std::move(plan), signals)
                        : BreakpointCarrier::attach(pids.front(), by, std::move(plan));
  if (!pids.empty()) {
    auto inject = PENNA_TRY(Inject::prepare(pids, agent, plan.socket_path));
    return std::unique_ptr<Carrier>(std::move(inject));
  }
  if (choice.comes_alone) {
    auto inject = PENNA_TRY(Inject::launch(options.command, agent, plan.socket_path, signals));
    return std::unique_ptr<Carrier>(std::move(inject));
  }
  auto launch =
      PENNA_TRY(Launch::prepare(options.command, preload_for(options.command[0], agent), plan.socket_path, signals));
  return std::unique_ptr<Carrier>(std::move(launch));
}

}  // namespace penna
