// SPDX-License-Identifier: MIT
// See call_digest.h. Calls are paired as model/calls/call_matcher.h does.
#include "recording/call_digest.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/free_memory.h"

namespace penna {
namespace {

struct CallRecord {
  uint64_t header, pc;
};

}  // namespace

void CallDigest::add(std::span<const uint8_t> chunk, bool is_stored) {
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) add(record, is_stored);
}

void CallDigest::add(const Record& record, bool is_stored) {
  now_ = std::max(now_, record.time);
  if (record.is_call())
    call(record, is_stored);
  else if (record.kind == PENNA_KIND_JUMP)
    jump(record.as<penna_jump>(), is_stored);
}

void CallDigest::inherit(std::span<const uint64_t> pcs) {
  for (uint64_t pc : pcs) stack_.push_back({pc, now_, State::kOut});
}

std::vector<uint64_t> CallDigest::open_calls() const {
  std::vector<uint64_t> pcs(stack_.size());
  std::transform(stack_.begin(), stack_.end(), pcs.begin(), [](const Open& open) { return open.pc; });
  return pcs;
}

void CallDigest::call(const Record& record, bool is_stored) {
  if (record.kind == PENNA_KIND_CALL_ENTRY) {
    if (stack_.size() >= kMaxDepth)
      ++beyond_;
    else
      stack_.push_back({record.pc, now_, is_stored ? State::kStored : State::kOut});
    return;
  }
  if (beyond_ != 0) {
    --beyond_;
    return;
  }
  const auto found =
      std::find_if(stack_.rbegin(), stack_.rend(), [&](const Open& open) { return open.pc == record.pc; });
  if (found == stack_.rend()) return;
  // The calls inside have no exit records: they end with this one, for a reader too.
  const auto at = static_cast<size_t>(stack_.rend() - found);
  stack_.resize(at);
  pop(is_stored);
  if (stack_.empty()) stacks_.on_empty(stack_);
}

void CallDigest::pop(bool is_stored) {
  if (!is_stored && stack_.back().state == State::kStored)
    exits_.push_back({PENNA_KIND_CALL_EXIT, stack_.back().pc, now_});
  stack_.pop_back();
}

void CallDigest::jump(const penna_jump& jump, bool is_stored) {
  switch (jump.what) {
    case PENNA_JUMP_SAVE: return stacks_.save(jump.buffer, stack_.size());
    case PENNA_JUMP_MAKE: return stacks_.make(jump.buffer, jump.other);
    case PENNA_JUMP_SWITCH:
      if (!is_stored) end_stored();
      stacks_.suspend(jump.other, stack_);
      break;
    case PENNA_JUMP_GO: break;
    default: return;
  }
  if (const auto depth = stacks_.saved_depth(jump.buffer)) {
    while (stack_.size() > *depth) pop(is_stored);
  } else {
    if (!is_stored) end_stored();
    stacks_.resume(jump.buffer, stack_);
  }
}

// On the running stack: a reader would take subsequent calls as nested in these.
void CallDigest::end_stored() {
  for (auto open = stack_.rbegin(); open != stack_.rend(); ++open) {
    if (open->state == State::kStored) exits_.push_back({PENNA_KIND_CALL_EXIT, open->pc, now_});
    open->state = State::kEnded;
  }
}

void CallDigest::lose() {
  end_stored();
  stack_.clear();
  stacks_ = {};
  beyond_ = 0;
}

// Calls that were given an end for the sake of a reader are as open as the others.
void CallDigest::begin_file() {
  exits_.clear();
  for (Open& open : stack_) open.state = State::kOut;
  stacks_.each_waiting([](Open& open) { open.state = State::kOut; });
}

void CallDigest::forget() {
  free_memory(stack_);
  stacks_ = {};
  free_memory(exits_);
  beyond_ = 0;
}

size_t CallDigest::bytes() const {
  return stack_.capacity() * sizeof(Open) + stacks_.bytes() + exits_.capacity() * sizeof(Entry);
}

std::vector<std::vector<uint8_t>> CallDigest::take(const penna_chunk& next, uint64_t most) {
  std::vector<Entry> entries = std::exchange(exits_, {});
  for (Open& open : stack_) {
    if (open.state != State::kOut) continue;
    entries.push_back({PENNA_KIND_CALL_ENTRY, open.pc, open.begin});
    open.state = State::kStored;
  }
  return make_chunks(next, entries, most);
}

std::vector<std::vector<uint8_t>> CallDigest::take_exits(const penna_chunk& last, uint64_t most) {
  penna_chunk next = last;
  ++next.sequence;
  return make_chunks(next, std::exchange(exits_, {}), most);
}

// Each record in its full form, because its time may lie long before its chunk begins.
std::vector<std::vector<uint8_t>> CallDigest::make_chunks(const penna_chunk& next, const std::vector<Entry>& entries,
                                                          uint64_t most) {
  constexpr uint64_t kLongest = uint64_t{1} << (PENNA_FULL_TIME_BITS - 1);
  constexpr size_t kRoom = (PENNA_CHUNK_BYTES - sizeof(penna_chunk)) / sizeof(CallRecord);
  std::vector<std::vector<uint8_t>> chunks;
  for (size_t at = 0; at < entries.size() && chunks.size() < most;) {
    penna_chunk header = next;
    header.time_begin = entries[at].time;
    std::vector<CallRecord> records;
    for (; at < entries.size() && records.size() < kRoom && entries[at].time - header.time_begin < kLongest; ++at) {
      records.push_back({penna_full_header(entries[at].kind, 2, entries[at].time), entries[at].pc});
      header.time_end = entries[at].time;
    }
    std::vector<uint8_t>& chunk = chunks.emplace_back(sizeof header + records.size() * sizeof(CallRecord));
    header.content_bits = uint64_t{chunk.size()} * 8;
    std::memcpy(chunk.data(), &header, sizeof header);
    std::memcpy(chunk.data() + sizeof header, records.data(), records.size() * sizeof(CallRecord));
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    const uint64_t number = next.sequence - (chunks.size() - i);
    std::memcpy(chunks[i].data() + offsetof(penna_chunk, sequence), &number, sizeof number);
  }
  return chunks;
}

}  // namespace penna
