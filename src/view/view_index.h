// SPDX-License-Identifier: MIT
// ViewIndex: the index of a recording, opened where there is one, else made by all processors and kept for another
// time.
//
// Usage:  ViewIndex::open_or_make(recording, {stop, events, say}); index->tracks, index->counters, index->nodes.
// Invariant: it is that of this recording as its options choose parts of it. An index of a part is never kept.
// Memory: the names of all threads; while it is made a few megabytes for each processor, and the live blocks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/events/summary.h"
#include "view/counters.h"
#include "view/index_file.h"
#include "view/track_index.h"

namespace penna {

struct IndexMaking {
  const std::atomic<bool>& stop;                     // early; the error then says so
  std::atomic<uint64_t>& events;                     // that were read so far
  std::function<void(const std::string&)> say = {};  // a sentence: where it is not where it is looked for
  // Where it may lie, the best first; it is made without a name where none will do.
  std::vector<std::string> paths = {};
  bool anew = false;  // whatever lies there
  // More of them: a smaller index, and more to read for a view that is finer than it.
  static constexpr size_t kSpansOfLeaf = 16'000;
  size_t spans_of_leaf = kSpansOfLeaf;
};

class ViewIndex {
 public:
  static Result<std::unique_ptr<ViewIndex>> open_or_make(const Recording& recording, const Summary& summary,
                                                         const IndexMaking& making);

  const std::vector<TrackIndex>& tracks() const { return tracks_; }
  const Counters& counters() const { return counters_; }
  const WalkReport& walk() const { return walk_; }
  const IndexFile& file() const { return *file_; }

 private:
  ViewIndex(const Recording& recording, const Summary& summary);
  bool open(const std::string& path);
  Result<> make(const IndexMaking& making, const std::string& path);
  bool read(std::span<const uint8_t> tables);
  std::vector<uint8_t> tables() const;

  const Recording& recording_;
  const Summary& summary_;
  std::optional<IndexFile> file_;
  std::vector<TrackIndex> tracks_;
  Counters counters_;
  WalkReport walk_;
};

// Nothing is left out by options.
bool reads_all(const Recording& recording);

}  // namespace penna
