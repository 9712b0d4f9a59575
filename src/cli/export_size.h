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
#include "export/text_sink.h"

namespace penna {

class ExportSize {
 public:
  // `output`: its name. `advice`: how to make it smaller. `progress` runs to `total` events, 0 with filters, and must
  // outlive it.
  ExportSize(std::string output, std::string advice, const Progress& progress, uint64_t total)
      : output_(std::move(output)), advice_(std::move(advice)), progress_(progress), total_(total) {}

  // A sink that counts the bytes passing through.
  TextSink through(TextSink sink);

 private:
  void count(size_t bytes);

  std::string output_, advice_;
  const Progress& progress_;
  uint64_t total_;
  uint64_t bytes_ = 0;
  bool said_ = false;
};

}  // namespace penna
