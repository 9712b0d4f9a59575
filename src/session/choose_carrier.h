// SPDX-License-Identifier: MIT
// How a program is recorded: by an agent in it, or by breakpoints.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "breakpoint/guardian_plan.h"
#include "options/record_options.h"
#include "reach/carrier.h"

namespace penna {

struct CarrierChoice {
  bool by_breakpoints = false;  // without an agent
  bool by_uprobes = false;      // and those of the kernel
  bool comes_alone = false;     // the standalone agent, for a started program that nothing can be preloaded into
  std::string reason;           // a sentence for the user; empty: the usual way, or requested
};

// Error: the request cannot be recorded that way.
Result<CarrierChoice> choose_carrier(const RecordOptions& options);

// Of the reasons, at least one, why no process is left: the last, to be returned; prints the others.
Error last_after_others(std::vector<std::string> reasons);
// Those of `asked` that can be attached to. Prints the reason for each other one. Error: none is left.
Result<std::vector<pid_t>> attachable(const std::vector<pid_t>& asked, const CarrierChoice& choice);

// `pids`: to attach to; none: the command is started. `signals`: the command's signal mask.
Result<std::unique_ptr<Carrier>> make_carrier(const CarrierChoice& choice, const RecordOptions& options,
                                              const std::vector<pid_t>& pids, const std::string& agent,
                                              GuardianPlan plan, const sigset_t& signals);

}  // namespace penna
