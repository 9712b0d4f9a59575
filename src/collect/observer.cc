// SPDX-License-Identifier: MIT
// See observer.h.
#include "collect/observer.h"

#include <algorithm>
#include <cstring>

#include "recording/records.h"

namespace penna {

bool FreshRecords::open_chunk(std::span<const uint8_t> chunk, size_t end) {
  const penna_chunk header = header_of(chunk);
  const auto found = share_.state_of(positions_, header.thread_serial);
  if (found->first == 0) return false;
  Position& position = found->second;
  if (header.sequence != position.sequence) return false;
  pass_on(position, chunk.first(end));
  return true;
}

void FreshRecords::full_chunk(std::span<const uint8_t> chunk, size_t end) {
  const penna_chunk header = header_of(chunk);
  const auto found = share_.state_of(positions_, header.thread_serial);
  // Beyond the budget, all threads share serial 0: positions in chunks of different threads cannot be distinguished.
  if (found->first == 0) {
    std::vector<uint8_t> of_others(chunk.begin(), chunk.begin() + static_cast<ptrdiff_t>(end));
    reinterpret_cast<penna_chunk*>(of_others.data())->thread_serial = 0;  // observers keep states by serial too
    Position whole;
    pass_on(whole, of_others);
    return;
  }
  Position& position = found->second;
  if (header.sequence < position.sequence) return;  // a sequence never goes backwards, unless the target lies
  if (header.sequence > position.sequence) {
    wait(position, chunk.first(end));
    return;
  }
  pass_on(position, chunk.first(end));
  ++position.sequence;
  position.offset = 0;
  pass_on_waiting(position, false);
}

// Without room for it, waiting ends.
void FreshRecords::wait(Position& position, std::span<const uint8_t> chunk) {
  const uint64_t sequence = header_of(chunk).sequence;
  if (position.waiting.count(sequence) != 0) return;
  if (position.waiting.size() >= kMaxWaiting || !share_.take_waiting(chunk.size())) {
    pass_on_waiting(position, true);
    if (sequence < position.sequence) return;
    position.offset = 0;
    pass_on(position, chunk);
    position.sequence = sequence + 1;
    position.offset = 0;
    return;
  }
  waiting_bytes_ += chunk.size();
  position.waiting.try_emplace(sequence, chunk.begin(), chunk.end());
}

void FreshRecords::pass_on(Position& position, std::span<const uint8_t> chunk) {
  penna_chunk header = header_of(chunk);
  const size_t from = std::max(position.offset, sizeof header);
  if (chunk.size() <= from) return;
  position.offset = chunk.size();
  header.content_bits = (sizeof header + chunk.size() - from) * 8;
  fresh_.resize(header.content_bits / 8);
  std::memcpy(fresh_.data(), &header, sizeof header);
  std::memcpy(fresh_.data() + sizeof header, chunk.data() + from, chunk.size() - from);
  observer_.records(process_, fresh_);
}

// Passes on the chunks whose turn it is; or all, if the one that they wait for never arrives.
void FreshRecords::pass_on_waiting(Position& position, bool all) {
  while (!position.waiting.empty()) {
    const auto next = position.waiting.begin();
    if (next->first != position.sequence && !all) return;
    if (next->first != position.sequence) position.offset = 0;
    pass_on(position, next->second);
    position.sequence = next->first + 1;
    position.offset = 0;
    share_.give_waiting_back(next->second.size());
    waiting_bytes_ -= next->second.size();
    position.waiting.erase(next);
  }
}

void FreshRecords::finish() {
  for (auto& [serial, position] : positions_) pass_on_waiting(position, true);
}

}  // namespace penna
