// SPDX-License-Identifier: MIT
// ViewSource: what questions are answered from: a recording, its summary and its tracks. Two there are: a finished one
// (view_data.h), and one that is still written (followed_data.h).
//
// Invariant: a summary that was given stays as it is; a recording that grows has another one the next time. Not
// thread-safe, but for summary(), prepare(), is_ready() and state().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/events/summary.h"
#include "view/name_ids.h"
#include "view/track_store.h"

namespace penna {

class ViewSource {
 public:
  virtual ~ViewSource() = default;

  virtual const Recording& recording() const = 0;
  virtual std::shared_ptr<const Summary> summary() const = 0;
  NameIds& ids() { return ids_; }
  virtual TrackStore& store() = 0;

  // More may come: nothing that was worked out stays true.
  virtual bool is_growing() const { return false; }
  // It has no index, and all of it is read in no time.
  virtual bool is_small() const { return true; }
  // Waits until store() may be asked. The sentence says why it never may.
  virtual std::optional<std::string> prepare() { return {}; }
  // Still so: renew() may have come between.
  bool is_ready() const { return state().is_ready; }
  // After an answer from store(): true, when its index turned out to be damaged, and is to be made again by prepare().
  virtual bool renew() { return false; }
  struct State {
    uint64_t events = 0;  // that were read for the index
    bool is_ready = true;
  };
  virtual State state() const { return {}; }

 protected:
  NameIds ids_;
};

}  // namespace penna
