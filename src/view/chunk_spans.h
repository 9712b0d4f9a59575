// SPDX-License-Identifier: MIT
// ChunkSpans: the calls and points that a leaf of the index leaves in the recording's chunks, read from there again.
//
// Invariant: they are those that the index was made of (track_index.h), each once; whatever an index says that is not
// of this recording, no more than its chunks is read. Not thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "view/name_numbers.h"
#include "view/span_query.h"

namespace penna {

class ChunkSpans {
 public:
  // All must outlive it. `begin`: ticks of the recording's first event.
  ChunkSpans(const Recording& recording, uint32_t thread, uint64_t begin, const CodeMap& map,
             const std::vector<TrackName>& names);

  void calls(const SpanNode::Chunks& chunks, const SpanVisitor& visit);
  // With the point's line, which its values can be told from; valid during the visit.
  void points(const SpanNode::Chunks& chunks, const std::function<void(const Span&, const TimelineLine&)>& visit);

 private:
  template <typename Visit>
  void each_event(const SpanNode::Chunks& chunks, Visit&& visit);
  bool enter_open(const SpanNode::Chunks& chunks, Timeline& timeline);
  int64_t ns(uint64_t ticks) const { return recording_.time().duration_ns(begin_, ticks); }

  const Recording& recording_;
  const uint32_t thread_, process_;
  const uint64_t begin_;
  const std::vector<TrackName>& known_;
  NameNumbers names_;
  std::vector<uint8_t> bytes_;
};

}  // namespace penna
