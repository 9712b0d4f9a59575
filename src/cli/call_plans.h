// SPDX-License-Identifier: MIT
// What penna record asks a target to patch for calls, from its options, and what it says of functions that could not
// be.
//
// Invariant: every function that -F means and that cannot be entered is named in the recording, with its reason.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/nearest_name.h"
#include "cli/options/record_options.h"
#include "collect/collector.h"
#include "collect/server.h"
#include "plan/patch_planner.h"

namespace penna {

// Which functions options mean, of all that are defined in the program and its libraries, and which
// options mean none: a typing error that nothing else would show. The planner's questions come
// while processes start, and unmet() is asked when the recording has ended.
class AskedFunctions {
 public:
  void add(std::string option, const std::string& pattern) {
    list_.push_back({std::move(option), NearestName(pattern)});
  }
  // `number`: in the order of add().
  void see(size_t number, const std::string& name, bool is_meant);
  // The options that mean none: "-A 'pya' (is it pay?)". Empty, too, when nobody asked.
  std::vector<std::string> unmet() const;
  // Adds to those of `options` that met nothing the nearest name of all defined functions. A filter
  // has seen only names of functions that were called; a function that exists may just not have
  // been called.
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

// What to patch: with -F the functions that it means, and those that other filters must see to
// decide; without, all that compilers have prepared (-fpatchable-function-entry, -pg). The two
// lists are shared with closures in the result, which live as long as the planner.
PatchRequests patch_requests(const RecordOptions& options, const std::shared_ptr<AskedFunctions>& filters,
                             const std::shared_ptr<AskedFunctions>& values);

// Lets `server` answer its processes' questions with `planner`: about calls, and about allocators of their own.
void plan_calls(Server& server, PatchPlanner& planner, const RecordOptions& options);

// Puts into the recording's notes which waits for locks are told by time, and which options mean no function. One
// sentence about these; empty: there are none.
std::string note_locks(const PatchPlanner& planner, Collector& collector);

// The same of options that ask for values of functions, or for something to be done there.
std::string note_unmet(const AskedFunctions& values, Collector& collector);

// Puts the refused functions into the recording's notes, before it is closed. Gives one sentence about them; empty:
// there are none. `all`: functions were not asked for by name, so they are counted by reason.
std::string note_refused(const PatchPlanner& planner, Collector& collector, bool all);

// Of `unmet`, options of a filter that no recorded function met, those that mean no refused function either: of these
// nobody knows whether they were called, and they are named as refused.
std::vector<std::string> without_refused(std::vector<std::string> unmet, const std::vector<FunctionPattern>& patterns,
                                         const PatchPlanner& planner);

}  // namespace penna
