// SPDX-License-Identifier: MIT
// IndexedTracks: answers for the tracks of a large recording, from its index and, if a view is finer than that, from
// its chunks.
//
// Memory: the index's tables, the nodes read most recently, the names that were requested.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "export/text/event_words.h"
#include "view/tracks/chunk_spans.h"
#include "view/tracks/name_ids.h"
#include "view/tracks/track_store.h"
#include "view/tracks/view_index.h"

namespace penna {

class IndexedTracks : public TrackStore {
 public:
  // All of them must outlive it.
  IndexedTracks(const Recording& recording, Names& names, NameIds& ids, std::unique_ptr<const ViewIndex> index);

  uint64_t waits(uint32_t thread) override { return track(thread).counts[TrackIndex::kWaits]; }
  uint32_t rows(uint32_t thread) override { return track(thread).rows; }
  std::string slices_answer(uint32_t thread, const PixelView& view) override;
  std::string waits_answer(uint32_t thread, const PixelView& view) override;
  std::string points_answer(uint32_t thread, const PixelView& view) override;
  std::optional<Instance> find(uint32_t thread, const InstanceChoice& choice) override;
  const Counters& counters() override { return index_->counters(); }
  bool is_damaged() const override { return nodes_.damaged() != 0; }
  void each_name(const VisitName& visit) override;

 private:
  struct Reading {  // for one thread
    ChunkSpans chunks;
    std::vector<uint32_t> ids;  // NameIds by the track's numbers; 0 if not requested yet
  };
  const TrackIndex& track(uint32_t thread) const { return index_->tracks()[thread]; }
  Reading& reading(uint32_t thread);
  uint32_t id(uint32_t thread, uint32_t number);
  SpanTree tree(uint32_t thread, TrackIndex::Kind kind);
  TrackWait wait(uint32_t thread, const Span& span);
  std::vector<SpanSum> by_pixel(const PixelView& view, std::vector<SpanSum> sums) const;
  void add_densities(uint32_t thread, const PixelView& view, std::vector<SpanSum> sums, class SlicesMade* made);
  uint32_t most_time(uint32_t thread, const SpanSum* from, const SpanSum* to);
  std::map<int64_t, uint32_t> values_at(uint32_t thread, const std::set<int64_t>& times);

  const Recording& recording_;
  Names& names_;
  NameIds& ids_;
  EventWords words_;
  std::unique_ptr<const ViewIndex> index_;
  NodeReader nodes_;
  LeafSpans leaves_;
  NumberMap<uint32_t> threads_;  // pair_key of process and tid -> index
  std::vector<std::unique_ptr<Reading>> readings_;
  size_t texts_ = 0;  // values converted to names
};

}  // namespace penna
