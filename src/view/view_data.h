// SPDX-License-Identifier: MIT
// ViewData: a recording as the page looks at it, and what is worked out of it once.
//
// Invariant: all of it is of one recording, which does not change. Not thread-safe: one question at a time.
// Memory: that of the tracks (tracks.h), from the first question for them on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/events/summary.h"
#include "model/names/names.h"
#include "view/counters.h"
#include "view/name_ids.h"
#include "view/tracks.h"

namespace penna {

class ViewData {
 public:
  // Both must outlive it. `step`: called for each event that is read.
  ViewData(
      const Recording& recording, Names& names, std::function<void()> step = [] {});

  const Recording& recording() const { return recording_; }
  const Summary& summary() const { return summary_; }
  Names& names() { return names_; }
  NameIds& ids() { return ids_; }
  const std::vector<Track>& tracks();
  const Counters& counters();
  // What the walk over them could not read; empty before the first question for tracks.
  const WalkReport& walk() const { return walk_; }

 private:
  void look();

  const Recording& recording_;
  Names& names_;
  std::function<void()> step_;
  Summary summary_;
  NameIds ids_;
  WalkReport walk_;
  std::vector<Track> tracks_;
  std::optional<Counters> counters_;
};

}  // namespace penna
