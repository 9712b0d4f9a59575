// SPDX-License-Identifier: MIT
// ChunkSpans: the calls and points that a leaf of the index leaves in the recording's chunks, read again from there.
//
// Invariant: they are the same as when the index was made (track_index.h), each once; even if the index is not this
// recording's, only its chunks are read. Not thread-safe.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <tuple>
#include <vector>

#include "view/tracks/name_numbers.h"
#include "view/tracks/span_query.h"

namespace penna {

class ChunkSpans {
 public:
  // All must outlive it. `begin`: ticks of the recording's first event.
  ChunkSpans(const Recording& recording, uint32_t thread, uint64_t begin, const CodeMap& map,
             const std::vector<TrackName>& names);

  void calls(const SpanNode::Chunks& chunks, const SpanVisitor& visit);
  // kWaits or kHolds. `threads`: pair_key of process and tid -> index.
  void locks(const SpanNode::Chunks& chunks, TrackIndex::Kind kind, const NumberMap<uint32_t>& threads,
             const SpanVisitor& visit);
  // With the point's line, from which its values can be read; valid during the visit.
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

// The spans of the leaves read most recently: a user who pans sees the same ones again. Not thread-safe.
class LeafSpans {
 public:
  using Leaf = std::tuple<uint32_t, TrackIndex::Kind, uint32_t>;  // thread, tree, first chunk
  // `read`: provides all spans of the leaf if they are not cached.
  void visit(const Leaf& leaf, const std::function<void(const SpanVisitor&)>& read, const SpanVisitor& visit);

 private:
  static constexpr size_t kMostSpans = size_t{64} << 20 >> 5;  // 64 MB
  struct Known {
    Leaf leaf;
    std::vector<Span> spans;
  };
  std::list<Known> known_;  // newest first
  std::map<Leaf, std::list<Known>::iterator> by_leaf_;
  size_t spans_ = 0;
};

}  // namespace penna
