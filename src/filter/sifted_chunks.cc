// SPDX-License-Identifier: MIT
// See sifted_chunks.h.
#include "filter/sifted_chunks.h"

#include <utility>

#include "filter/sifted_pieces.h"

namespace penna {
SiftedChunks::SiftedChunks(const Recording& recording, uint32_t thread, const CallRules& rules)
    : recording_(recording),
      rules_(rules),
      refs_(recording.chunks(thread)),
      inherited_(inherited_chunks(recording, thread)),
      sieve_(rules, recording.threads()[thread].process) {}

// Reads on until the first waiting chunk is decided. After the end of the range nothing more is read.
bool SiftedChunks::next(std::vector<uint8_t>& bytes, bool& inherited) {
  while (decided_.empty()) {
    const bool more = (!inherited_.empty() || at_ < refs_.size()) && !sieve_.ended();
    if (!more) sieve_.finish();
    if (sieve_.ready()) {
      return_one();
    } else if (more) {
      read_one();
    } else {
      return false;
    }
  }
  bytes.swap(decided_.front());
  decided_.pop_front();
  inherited = inherited_left_ != 0;
  inherited_left_ -= inherited;
  return true;
}

bool SiftedChunks::read(const ChunkRef& ref, std::vector<uint8_t>& bytes) {
  if (auto read = recording_.read_chunk(ref, bytes); !read) {
    if (unreadable_++ == 0) first_error_ = read.error().text;
    return false;
  }
  return true;
}

void SiftedChunks::read_one() {
  if (!inherited_.empty()) {
    add({nullptr, std::move(inherited_.front())});
    return inherited_.pop_front();
  }
  const ChunkRef& ref = refs_[at_];
  // Chunks are missing in between: the length of open calls is unknown.
  if (!comes_next(at_ == 0 ? nullptr : &refs_[at_ - 1], ref)) sieve_.lose();
  ++at_;
  Waiting waiting{&ref, {}};
  // An unreadable chunk is a gap as well.
  if (!read(ref, waiting.bytes)) return sieve_.lose();
  ++chunks_;
  add(std::move(waiting));
}

void SiftedChunks::add(Waiting waiting) {
  waiting.ref == nullptr ? sieve_.add_inherited(waiting.bytes) : sieve_.add(waiting.bytes);
  // Dropped, and read again once it is decided: one long call must not take the memory of a whole thread.
  if (waiting_.size() >= kMostHeld && waiting.ref != nullptr) waiting.bytes = {};
  waiting_.push_back(std::move(waiting));
}

void SiftedChunks::return_one() {
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop_front();
  const SiftedChunk sifted = sieve_.take();
  if (waiting.bytes.empty() && !read(*waiting.ref, waiting.bytes)) return;
  const size_t before = decided_.size();
  const size_t of_inherited = append_pieces(sifted, std::move(waiting.bytes), rules_, decided_);
  inherited_left_ += waiting.ref == nullptr ? decided_.size() - before : of_inherited;
}

}  // namespace penna
