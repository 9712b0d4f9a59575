// SPDX-License-Identifier: MIT
// CallListing: the calls of one thread as a tree of names, each below its caller, in order.
//
// Folded, consecutive calls at the same place, of the same function and with the same calls inside, are shown once,
// followed by their number: "f (total: 5 times)". Otherwise every call has its line.
// Usage: enter() and leave() in the order of the calls, finally finish().
// Invariant: folding loses no call: the lines and their totals account for every call. A call gets its line at once,
// unless it may turn out to equal the one before it.
// Memory: O(depth) and what is held back, at most kMaxHeld lines; what would need more is not folded.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace penna {

struct ListedCall {
  uint32_t depth;     // 0 for the outermost
  uint32_t function;  // enter()'s argument
  uint64_t total;     // 0: a call; else: a run of this many equal ones ends here
};

class CallListing {
 public:
  static constexpr size_t kMaxHeld = 1 << 20;
  // False: the reader has gone.
  using OnLine = std::function<bool(const ListedCall&)>;
  CallListing(bool folded, OnLine on_line);

  bool enter(uint32_t function);
  bool leave();  // leaves the innermost call; does nothing if none is open
  bool finish();

  // For live readers: shows what is held back, except a single call in which nothing has happened yet.
  bool catch_up() { return held_.size() <= 1 || give_up(); }
  size_t held() const { return held_.size(); }
  size_t depth() const { return open_.size() - 1; }

 private:
  // A subtree as two 64-bit hashes: equal hashes are taken for equal subtrees, which is wrong once in 2^100 or so.
  struct Shape {
    uint64_t high = 0, low = 0;
    bool operator==(const Shape&) const = default;
    void add(const Shape& inner);
  };
  struct Open {
    uint32_t function = 0;
    Shape shape;            // of its callees so far
    bool has_last = false;  // a call inside it has ended
    uint32_t last = 0;      // its function
    Shape last_shape;
    uint64_t run = 0;  // number of consecutive equal calls so far, up to the last one
  };
  // A call of the same function as the one before it: its output is held back from `begin` on.
  struct Candidate {
    size_t depth, begin;
  };
  bool put(const ListedCall& line);
  bool end_run(const Open& open, size_t depth);
  bool give_up();
  bool flush();

  bool folded_;
  OnLine on_line_;
  std::vector<Open> open_;  // [0] stands for the thread
  std::vector<Candidate> candidates_;
  std::vector<ListedCall> held_;
};

}  // namespace penna
