// SPDX-License-Identifier: MIT
// ViewSource: what questions are answered from: a recording, its summary and its tracks. There are two: a finished one
// (view_data.h), and one that is still being written (followed_data.h).
//
// Invariant: a returned summary does not change; a growing recording returns another one the next time. Not
// thread-safe, except for summary(), prepare(), is_ready(), state(), kept_answer() and keep_answer().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "model/events/summary.h"
#include "view/tracks/name_ids.h"
#include "view/tracks/track_store.h"

namespace penna {

class ViewSource {
 public:
  virtual ~ViewSource() = default;

  virtual const Recording& recording() const = 0;
  virtual std::shared_ptr<const Summary> summary() const = 0;
  NameIds& ids() { return ids_; }
  // Before the first question: those of a source that the page has been shown before this one.
  void adopt_ids(NameIds ids) { ids_ = std::move(ids); }
  virtual TrackStore& store() = 0;

  // More may come: nothing that was computed stays true.
  virtual bool is_growing() const { return false; }
  // It has no index, and reading all of it takes almost no time.
  virtual bool is_small() const { return true; }
  // Waits until store() may be used. A sentence says why it never may.
  virtual std::optional<std::string> prepare() { return {}; }
  // Whether it still is: renew() may have been called meanwhile.
  bool is_ready() const { return state().is_ready; }
  // After an answer from store(): true if its index turned out to be damaged, and prepare() must rebuild it.
  virtual bool renew() { return false; }
  // A text that only reading all events gives, kept from an earlier start; and keeps it for the next.
  virtual std::optional<std::string> kept_answer(const std::string& /* name */) const { return {}; }
  virtual void keep_answer(const std::string& /* name */, const std::string& /* text */) {}
  struct State {
    uint64_t events = 0;  // that were read for the index
    bool is_ready = true;
  };
  virtual State state() const { return {}; }

 protected:
  NameIds ids_;
};

}  // namespace penna
