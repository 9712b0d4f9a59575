// SPDX-License-Identifier: MIT
// ViewIndex: a recording's index: opened if it exists, else built by all processors and kept for later.
//
// Usage:  ViewIndex::open_or_make(recording, {stop, events, say}); index->tracks, index->counters, index->nodes.
// Invariant: it matches this recording with the parts selected by its options. An index of a part is never kept.
// Memory: the names of all threads; while it is built a few megabytes per processor, and the live blocks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/events/summary.h"
#include "view/tracks/counters.h"
#include "view/tracks/index_file.h"
#include "view/tracks/track_index.h"

namespace penna {

struct IndexMaking {
  const std::atomic<bool>& stop;                     // early; the error then says so
  std::atomic<uint64_t>& events;                     // read so far
  std::function<void(const std::string&)> say = {};  // a sentence, if it is not in the usual place
  // Where it may be, best first; it is built unnamed if none will do.
  std::vector<std::string> paths = {};
  bool anew = false;  // ignore existing ones
  // More: a smaller index, and more to read for a view that is finer than it.
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

// Options leave nothing out.
bool reads_all(const Recording& recording);

}  // namespace penna
