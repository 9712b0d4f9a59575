// SPDX-License-Identifier: MIT
// TreeLines: the calls of one thread as lines of a tree of names, from the lines of its timeline.
//
//   main                                       \-- main
//   |   Crumble_buy                            |   \-- Crumble_buy
//   |   Crumble_buy (total: 5 times)           |   \-- Crumble_buy ...       with `all`
//
// Invariant: one line per call, or folded as in CallListing; what is open at the end gets one more line.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/timeline/timeline.h"
#include "report/calls/call_listing.h"
#include "report/calls/replay.h"
#include "report/print.h"

namespace penna {

// Numbers for function names, shared by all trees.
class TreeNames {
 public:
  uint32_t number_of(const std::string& name);
  const std::string& name(uint32_t number) const { return *names_[number]; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  // Pointers to the keys of `numbers_`, which a rehash does not move.
  std::vector<const std::string*> names_;
};

class TreeLines {
 public:
  // All must outlive it.
  TreeLines(ReplayPrinter& printer, TreeNames& names, bool all, TextSink sink);

  // Each returns false if the sink did. Lines that are no calls are skipped.
  bool line(const TimelineLine& line);
  bool finish();  // no more lines come

  // For live readers: catch_up() shows what is held back for possible folding, except a single call.
  size_t held() const { return listing_.held(); }  // lines
  bool catch_up() { return listing_.catch_up(); }

  // This call is open, and already has its line.
  void is_open(const TimelineLine& call);

 private:
  bool print(const ListedCall& call);

  ReplayPrinter& printer_;
  TreeNames& names_;
  bool all_, silent_ = false;
  TextSink sink_;
  CallListing listing_;
  std::string open_, text_;
};

}  // namespace penna
