// SPDX-License-Identifier: MIT
// Counters: the amount of activity over time, of all threads together: the curves above the timeline.
//
// Usage: as AllocationOptions::observer, and count() for other events; finish(); answer(). Times are nanoseconds since
// the recording's first event.
// Invariant: the sums over all steps are those of the recording; a step's `most` is the largest sum of live bytes
// during it, so no peak is missed.
// Memory: kSteps, however long the recording: a view that is shorter than a step has one value.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/blocks/allocations.h"
#include "view/tracks/packed_numbers.h"
#include "view/tracks/track_answers.h"

namespace penna {

class Counters : public AllocationObserver {
 public:
  static constexpr size_t kSteps = 1 << 16;
  enum Kind : uint8_t { kCalls, kAllocations, kWaits, kPoints, kKinds };

  // `length`: of the recording, in nanoseconds. `time_ns`: converts ticks.
  Counters(int64_t length, size_t processes, std::function<int64_t(uint64_t)> time_ns);

  void count(Kind kind, int64_t time) { ++counts_[kind][step_of(time)]; }
  void on_allocated(const Event& event, const HeapBlock&) override { count(kAllocations, time_ns_(event.time)); }
  void on_live(uint32_t process, uint64_t time, uint64_t bytes, uint64_t blocks) override;
  // The recording is at least this long from here on: steps are merged until there is room.
  void grow(int64_t length);
  // With the same steps, and nothing counted.
  Counters empty_copy() const { return Counters(step_ns_, process_bytes_.size(), time_ns_, 0); }
  // Adds the counts of another one of the same recording; live bytes are not counted in parts.
  void add(const Counters& other);
  // Call when everything so far has been counted, and before the first answer.
  void finish();

  // The form stored in an index. False: not the counters of such a recording.
  void write(NumberWriter& out) const;
  bool read(NumberReader& in);

  std::string answer(const PixelView& view) const;

 private:
  Counters(int64_t step_ns, size_t processes, std::function<int64_t(uint64_t)> time_ns, int);
  size_t step_of(int64_t time) const;

  int64_t step_ns_;
  std::function<int64_t(uint64_t)> time_ns_;
  std::array<std::vector<uint64_t>, kKinds> counts_;
  struct Live {
    uint64_t most = 0, at_end = 0;
    bool changed = false;
  };
  std::vector<Live> live_;
  std::vector<uint64_t> process_bytes_;
  uint64_t now_ = 0;
};

}  // namespace penna
