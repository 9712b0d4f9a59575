// SPDX-License-Identifier: MIT
// What penna doctor examines: this system, a process, a program. Each finding has a verdict and, if it is not ok, a
// remedy.
//
// Invariant: nothing is changed, started or stopped; only files in /proc and /sys, our own memory, and BPF programs
// that run nowhere are used.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace penna {

enum class Diagnosis { kOk, kLimited, kNo };  // kLimited: something else works

struct DoctorFinding {
  std::string check;  // one or two words
  Diagnosis verdict = Diagnosis::kOk;
  std::string what;
  std::string remedy;  // a sentence without its period; empty: none, or none needed
};
using DoctorFindings = std::vector<DoctorFinding>;

DoctorFindings examine_system();
// Error: there is no such process.
Result<DoctorFindings> examine_process(pid_t pid);
// `path`: a program or library. Error: it cannot be read.
Result<DoctorFindings> examine_program(const std::string& path);

// Conclusions from these texts, so that all verdicts can be tested.
DoctorFinding clock_finding(const std::string& source, const std::string& cpu_flags);
DoctorFinding tracing_finding(int ptrace_scope, bool may_trace_all);
// `refusal`: why_no_uprobes().
DoctorFinding uprobes_finding(const std::string& refusal);
DoctorFinding disk_finding(const std::string& directory, uint64_t free_bytes, bool writable);
DoctorFinding address_space_finding(uint64_t limit);

}  // namespace penna
