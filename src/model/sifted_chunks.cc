// SPDX-License-Identifier: MIT
// See sifted_chunks.h.
#include "model/sifted_chunks.h"

#include <cstring>
#include <utility>

namespace penna {
namespace {

void append(std::vector<uint8_t>& bytes, uint64_t word) {
  const auto* from = reinterpret_cast<const uint8_t*>(&word);
  bytes.insert(bytes.end(), from, from + sizeof word);
}

}  // namespace

SiftedChunks::SiftedChunks(const Recording& recording, uint32_t thread, const CallRules& rules)
    : recording_(recording),
      rules_(rules),
      refs_(recording.chunks(thread)),
      sieve_(rules, recording.threads()[thread].process) {}

bool SiftedChunks::next(std::vector<uint8_t>& bytes) {
  while (decided_.empty()) {
    const bool more = at_ < refs_.size() && !sieve_.ended();
    if (!more) sieve_.finish();
    if (sieve_.ready()) {
      give_one();
    } else if (more) {
      read_one();
    } else {
      return false;
    }
  }
  bytes.swap(decided_.front());
  decided_.pop_front();
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
  const ChunkRef& ref = refs_[at_];
  const uint64_t expected = at_ == 0 ? 0 : refs_[at_ - 1].sequence + 1;
  ++at_;
  if (ref.sequence != expected) sieve_.lose();
  Waiting waiting{&ref, {}};
  if (!read(ref, waiting.bytes)) return sieve_.lose();
  ++chunks_;
  sieve_.add(waiting.bytes);
  if (waiting_.size() >= kMostHeld) waiting.bytes = {};
  waiting_.push_back(std::move(waiting));
}

void SiftedChunks::give_one() {
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop_front();
  SiftedChunk sifted = sieve_.take();
  if (waiting.bytes.empty() && !read(*waiting.ref, waiting.bytes)) return;
  if (waiting.bytes.size() >= sizeof header_) std::memcpy(&header_, waiting.bytes.data(), sizeof header_);
  std::vector<uint64_t> opened;
  for (size_t i = 0; i < sifted.opened.size(); ++i)
    if (!sifted.opened_out[i]) opened.push_back(sifted.opened[i]);
  give_calls(PENNA_KIND_CALL_ENTRY, rules_.begin, opened);
  if (sifted.cut.changes()) {
    sifted.cut.apply(waiting.bytes, decided_.emplace_back());
  } else {
    decided_.push_back(std::move(waiting.bytes));
  }
  give_calls(PENNA_KIND_CALL_EXIT, rules_.end, sifted.closed);
}

// Calls that are cut where the range begins or ends, in chunks of their own.
void SiftedChunks::give_calls(uint32_t kind, uint64_t time, std::span<const uint64_t> pcs) {
  constexpr size_t kMost = (PENNA_CHUNK_BYTES - sizeof(penna_chunk)) / (2 * sizeof(uint64_t));
  while (!pcs.empty()) {
    const size_t count = pcs.size() < kMost ? pcs.size() : kMost;
    std::vector<uint8_t>& bytes = decided_.emplace_back(sizeof header_);
    for (uint64_t pc : pcs.first(count)) {
      append(bytes, penna_full_header(kind, 2, time));
      append(bytes, pc);
    }
    penna_chunk header = header_;
    header.time_begin = time;
    header.content_bits = bytes.size() * 8;
    std::memcpy(bytes.data(), &header, sizeof header);
    pcs = pcs.subspan(count);
  }
}

}  // namespace penna
