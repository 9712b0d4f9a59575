// SPDX-License-Identifier: MIT
// Points: how often each static point was hit, and with which values.
//
// Usage:  Points points(recording); for_each_thread_event(recording, {.classes = kPointEvents}, points);
// Order between threads does not matter. A span's beginning counts as a hit, its end gives the duration. Sites that
// read the same in source (name, file, line, arguments) are one, however many copies inlining, fork or dlopen made.
// Memory: the stacks of the hits; for each text argument at most FrequentTexts::kMost texts; for each thread at most
// kMaxOpenSpans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "model/events/distribution.h"
#include "model/events/events.h"
#include "model/events/frequent_texts.h"
#include "recording/arguments.h"

namespace penna {

struct ArgumentStats {
  std::string name;    // "" without one
  uint8_t type = 0;    // penna_arg_type
  uint64_t count = 0;  // values seen
  // Numbers, pointers, bools, chars. min and max hold the bits of the value, to be interpreted by `type`.
  uint64_t min_bits = 0, max_bits = 0;
  double sum = 0, rest = 0;  // of numbers, bools and chars; `rest`: what rounding lost from the sum so far
  uint64_t not_finite = 0;   // floats that are NaN or infinite: not in min, max, sum
  double total() const { return sum + rest; }
  double average() const;
  ArgumentValue min() const;
  ArgumentValue max() const;
  // Strings, and arrays as displayed.
  uint64_t cut = 0;
  FrequentTexts texts;
};

// Hits of a point with one stack.
struct PointStack {
  uint32_t process = 0, stack = 0;
  uint64_t hits = 0;
};

struct PointStats {
  struct Copy {
    uint32_t process, id;
  };
  const Site* site = nullptr;  // null: hits of an id without a description
  std::vector<Copy> copies;    // sites that read the same, in order of first hit
  uint32_t id = 0;             // of the first hit
  uint64_t hits = 0;
  uint64_t malformed = 0;                  // hits whose values do not fit the site
  uint64_t first_time = 0, last_time = 0;  // ticks
  std::vector<ArgumentStats> arguments;
  std::vector<PointStack> stacks;  // from record --point-stacks, in order of first hit
  Distribution duration;           // ticks, for spans: from each beginning to its end
  // Hits per second between first and last; 0 with fewer than two hits, or when they lie within a millisecond: the rate
  // of one burst says nothing about a second.
  double rate(const Recording& recording) const;
};

class Points {
 public:
  static constexpr size_t kMaxOpenSpans = 10000;
  explicit Points(const Recording& recording) : recording_(recording) {}  // must outlive it

  void operator()(const Event& event) {
    if (event.record.kind == PENNA_KIND_POINT) add(event);
  }

  const std::vector<PointStats>& all() const { return points_; }  // in order of first hit
  std::vector<const PointStats*> by_hits() const;                 // most first
  uint64_t hits() const;
  uint64_t span_ends() const { return span_ends_; }  // records that are no hits
  uint64_t malformed() const;
  uint64_t without_site() const;  // hits

 private:
  struct OpenSpan {
    uint32_t point;
    uint64_t begin;
  };
  void add(const Event& event);
  void end_span(const Event& event, const Site& end);
  uint32_t index_of(uint32_t process, uint32_t id);

  const Recording& recording_;
  std::vector<PointStats> points_;
  uint64_t span_ends_ = 0;
  NumberMap<uint32_t> by_id_;                // process, id
  NumberMap<NumberMap<uint32_t>> by_stack_;  // of a point: process, stack -> its stacks
  TextMap<uint32_t> by_source_;              // name, file, line, arguments
  std::vector<std::vector<OpenSpan>> open_;  // by thread
  DecodedPoint decoded_;
};

}  // namespace penna
