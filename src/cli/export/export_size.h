// SPDX-License-Identifier: MIT
// ExportSize: predicts an export's size if it will exceed 100 MB.
//
// How: from the bytes written so far and the share of the events that they represent. If filters leave events out, that
// share is unknown, and the sentence comes with the hundredth megabyte.
// Invariant: at most one sentence, on stderr, and only while events remain to be read.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/progress.h"
#include "export/text/text_sink.h"

namespace penna {

class ExportSize {
 public:
  // `output`: its name. `advice`: how to make it smaller. `progress` counts the events that are read, must outlive it,
  // and counts `events` of them in the pass that writes; 0 with filters.
  ExportSize(std::string output, std::string advice, const Progress& progress, uint64_t events)
      : output_(std::move(output)), advice_(std::move(advice)), progress_(progress), events_(events) {}

  // Earlier passes write nothing: the one that begins with the first byte does, and reads `events`.
  void writes_later(uint64_t events) {
    later_ = true;
    if (events_ != 0) events_ = events;
  }

  // A sink that counts the bytes passing through.
  TextSink through(TextSink sink);

 private:
  void count(size_t bytes);
  // Of the whole export; 0: unknown.
  double estimate() const;

  std::string output_, advice_;
  const Progress& progress_;
  uint64_t events_;
  uint64_t bytes_ = 0;
  bool later_ = false;
  uint64_t begun_at_ = 0, begun_with_ = 0;  // with later_: events and bytes at the first write
  bool said_ = false;
};

}  // namespace penna
