// SPDX-License-Identifier: MIT
// The plan for the calls that penna record asks a target to patch, from its options, and the messages about functions
// that could not be patched.
//
// Invariant: every function that matches -F and cannot be hooked is named in the recording, with its reason.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/nearest_name.h"
#include "collect/collector.h"
#include "collect/server.h"
#include "options/record_options.h"
#include "plan/patch_planner.h"

namespace penna {

// Which functions the options match, among all those defined in the program and its libraries, and which options match
// none: typing errors that would otherwise go unnoticed. The planner's queries come while processes start; unmet() is
// called when the recording has ended.
class RequestedFunctions {
 public:
  void add(std::string option, const std::string& pattern) {
    list_.push_back({std::move(option), NearestName(pattern)});
  }
  // `number`: in order of add().
  void see(size_t number, const std::string& name, bool is_meant);
  // The options that match none: "-A 'pya' (is it pay?)". Also empty if there were no queries.
  std::vector<std::string> unmet() const;
  // Adds the nearest name of all defined functions to those of `options` that matched nothing. A filter has seen only
  // names of functions that were called; an existing function may just not have been called.
  std::vector<std::string> with_nearest(std::vector<std::string> options) const;

 private:
  struct Asked {
    std::string option;
    NearestName nearest;
    bool met = false;
  };
  static std::string text_of(const Asked& asked);
  std::vector<Asked> list_;
  bool was_asked_ = false;
};

// What to patch: with -F the functions that it matches, and those that other filters must see to decide; without, all
// that compilers have prepared (-fpatchable-function-entry, -pg). The two lists are shared with closures in the result,
// which live as long as the planner.
PatchRequests patch_requests(const RecordOptions& options, const std::shared_ptr<RequestedFunctions>& filters,
                             const std::shared_ptr<RequestedFunctions>& values);

// Lets `server` answer its processes' questions with `planner`: about calls, and about their own allocators.
void plan_calls(Server& server, PatchPlanner& planner, const RecordOptions& options);

// While an agent is on its way into the process: it will ask about libc first.
void read_ahead(PatchPlanner& planner, pid_t pid);

// Notes in the recording which lock waits are detected by time, and which options match no function. Returns one
// sentence about these; empty: none.
std::string note_locks(const PatchPlanner& planner, Collector& collector);

// The same for options that request values of functions, or actions there.
std::string note_unmet(const RequestedFunctions& values, Collector& collector);

// Notes the refused functions in the recording, before it is closed. Returns one sentence about them; empty: none.
// `all`: functions were not requested by name, so they are counted by reason.
std::string note_refused(const PatchPlanner& planner, Collector& collector, bool all);

// Those of `unmet`, filter options that no recorded function matched, that match no refused function either: whether
// refused ones were called is unknown, and they are named as refused.
std::vector<std::string> without_refused(std::vector<std::string> unmet, const std::vector<FunctionPattern>& patterns,
                                         const PatchPlanner& planner);

}  // namespace penna
