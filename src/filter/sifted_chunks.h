// SPDX-License-Identifier: MIT
// SiftedChunks: the chunks of a thread as filtered by the call rules (filter/call_sieve.h).
//
// Why: it comes before everything that reads events, so that no reader knows about filters. If a call's length decides,
// it reads ahead until the call has ended or is long enough.
// Invariant: chunks come in order. Memory: kMostHeld chunks, and 1 KiB for each further one that is read ahead.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "filter/call_sieve.h"
#include "recording/reader.h"

namespace penna {

class SiftedChunks {
 public:
  static constexpr size_t kMostHeld = 64;

  SiftedChunks(const Recording& recording, uint32_t thread, const CallRules& rules);

  // The next chunk in `bytes` (reused); false at the end. `inherited`: it has calls that the thread did not enter
  // (inherited_calls.h).
  bool next(std::vector<uint8_t>& bytes, bool& inherited);

  uint64_t chunks() const { return chunks_; }  // number read
  uint64_t unreadable() const { return unreadable_; }
  const std::string& first_error() const { return first_error_; }  // of the first unreadable one

 private:
  struct Waiting {
    const ChunkRef* ref;         // null: inherited
    std::vector<uint8_t> bytes;  // empty: must be read again
  };
  void read_one();
  void add(Waiting waiting);
  bool read(const ChunkRef& ref, std::vector<uint8_t>& bytes);
  void return_one();

  const Recording& recording_;
  const CallRules& rules_;
  std::span<const ChunkRef> refs_;
  size_t at_ = 0;                               // next of refs_
  std::deque<std::vector<uint8_t>> inherited_;  // before those
  CallSieve sieve_;
  std::deque<Waiting> waiting_;               // not decided yet
  std::deque<std::vector<uint8_t>> decided_;  // to be returned
  size_t inherited_left_ = 0;                 // of decided_, at its front
  uint64_t chunks_ = 0, unreadable_ = 0;
  std::string first_error_;
};

}  // namespace penna
