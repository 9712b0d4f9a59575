// SPDX-License-Identifier: MIT
// See columns.h. The encoder splits a chunk into steps; the decoder follows them.
#include "recording/columns.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "penna/event.h"
#include "recording/column_io.h"
#include "recording/column_model.h"
#include "recording/column_records.h"
#include "recording/records.h"

namespace penna {

using namespace columns;

namespace {

uint64_t word_at(const uint8_t* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Numbers in order of first appearance; most repetitions are left out.
class SeenNumbers {
 public:
  void clear() {
    all_.clear();
    last_.fill(0);
  }
  void add(uint64_t number) {
    uint64_t& last = last_[hash_bits(number, 8)];
    if (std::exchange(last, number) != number || number == 0) all_.push_back(number);
  }
  std::span<const uint64_t> all() const { return all_; }

 private:
  std::vector<uint64_t> all_;
  std::array<uint64_t, 256> last_{};
};

}  // namespace

// ---- Encoding

struct ColumnEncoder::State {
  ColumnModel model;
  ColumnWriter io;
  SeenNumbers call_pcs, lock_words;  // from records that are in no dictionary of the model

  void op(uint8_t value) { io.byte(Column::kOps, value); }
  size_t step(const uint8_t* at, size_t words);
  size_t full(uint64_t header, const uint8_t* at, size_t words);
  size_t zeros(const uint8_t* at, size_t words);
};

// Low bits that are zero in all times here: on many CPUs the TSC counts by 2 or more; or the times were rounded.
static uint32_t time_shift(std::span<const uint8_t> chunk, uint64_t time_begin) {
  uint64_t bits = time_begin | 1 << kMaxTimeShift;
  size_t end = std::min<size_t>(chunk.size() & ~size_t{7}, 2048);
  for (size_t at = sizeof(penna_chunk); at < end; at += 8) {
    uint64_t word = word_at(chunk.data() + at);
    uint32_t tag = penna_header_tag(word);
    if (tag == PENNA_TAG_ENTRY || tag == PENNA_TAG_EXIT) {
      bits |= static_cast<uint32_t>(word) >> 2;
    } else if ((word & 0xffff) == kAllocShape || (word & 0xffff) == kFreeShape) {
      bits |= word >> 16;
      at += 8 * (penna_header_words(word) - 1);
    }
  }
  return static_cast<uint32_t>(__builtin_ctzll(bits));
}

// The record at `at`, with `words` words left. Returns its length in words.
size_t ColumnEncoder::State::step(const uint8_t* at, size_t words) {
  uint64_t header = word_at(at);
  uint32_t tag = penna_header_tag(header);
  if (tag == PENNA_TAG_ENTRY) {
    Call call{header >> 32, static_cast<uint32_t>(header) >> 2};
    bool foreseen = model.calls.next_entry() == call.pc;
    op(foreseen ? kEntryForeseen : kEntry);
    code_entry(io, model, foreseen, call);
    return 1;
  }
  if (tag == PENNA_TAG_EXIT) {
    Call call{header >> 32, static_cast<uint32_t>(header) >> 2};
    bool foreseen = model.calls.next_exit() == call.pc;
    op(foreseen ? kExitForeseen : kExit);
    code_exit(io, model, foreseen, call);
    return 1;
  }
  return header == 0 ? zeros(at, words) : full(header, at, words);
}

size_t ColumnEncoder::State::full(uint64_t header, const uint8_t* at, size_t words) {
  uint64_t shape = header & 0xffff, time = header >> 16;
  if (shape == kAllocShape && words >= 3) {
    uint64_t address = word_at(at + 8), rest = word_at(at + 16);
    Alloc alloc{time, address & PENNA_ADDRESS_MASK, address >> 56, static_cast<uint32_t>(rest), rest >> 32};
    op(kAlloc);
    code_alloc(io, model, alloc);
    return 3;
  }
  if (shape == kFreeShape && words >= 2) {
    uint64_t address = word_at(at + 8);
    Free free{time, address & PENNA_ADDRESS_MASK, address >> 56};
    op(free.family == 0 ? kFree : kFreeFamily);
    if (free.family != 0) io.number(Column::kFamilies, free.family);
    code_free(io, model, free);
    return 2;
  }
  if ((shape == kLockShape || shape == kUnlockShape) && words >= 2) {
    Lock lock{time, word_at(at + 8)};
    bool takes = shape == kLockShape;
    bool foreseen = (takes ? model.use_locks().after(model.last_lock) : model.last_lock) == lock.lock;
    op(takes ? (foreseen ? kLockForeseen : kLock) : (foreseen ? kUnlockForeseen : kUnlock));
    code_lock(io, model, takes, foreseen, lock);
    return 2;
  }
  uint64_t count = penna_header_words(header);
  if (count == 0 || count > words) {
    op(kWord);
    io.number(Column::kWords, header);
    return 1;
  }
  uint64_t kind_busy = penna_header_kind(header) | (penna_header_tag(header) == PENNA_TAG_BUSY ? 64 : 0);
  uint64_t payload[PENNA_MAX_RECORD_WORDS];
  std::memcpy(payload, at + 8, (count - 1) * 8);
  op(kFull);
  code_full(io, model, kind_busy, count, time, payload);
  const uint32_t kind = penna_header_kind(header);
  if (const penna_event_class what = classify(kind); count >= 2 && (what == PENNA_LOCKS || what == PENNA_CALLS)) {
    (what == PENNA_LOCKS ? lock_words : call_pcs).add(payload[0]);
    if (kind == PENNA_KIND_COND_WAIT && count >= 3) lock_words.add(payload[1]);
  }
  return count;
}

size_t ColumnEncoder::State::zeros(const uint8_t* at, size_t words) {
  uint64_t count = 1;
  while (count < words && word_at(at + count * 8) == 0) ++count;
  op(kZeros);
  io.number(Column::kKinds, count);
  return count;
}

ColumnEncoder::ColumnEncoder() : state_(std::make_unique<State>()) {}
ColumnEncoder::ColumnEncoder(ColumnEncoder&&) noexcept = default;
ColumnEncoder& ColumnEncoder::operator=(ColumnEncoder&&) noexcept = default;
ColumnEncoder::~ColumnEncoder() = default;

bool ColumnEncoder::encode(std::span<const uint8_t> chunk, std::vector<uint8_t>& out) {
  State& state = *state_;
  if (chunk.size() < sizeof(penna_chunk) || chunk.size() > PENNA_CHUNK_BYTES) return false;
  uint64_t time_begin = word_at(chunk.data() + offsetof(penna_chunk, time_begin));
  state.io.begin();
  state.model.reset(time_begin);
  state.call_pcs.clear();
  state.lock_words.clear();
  auto shift = static_cast<uint8_t>(time_shift(chunk, time_begin));
  state.model.time_shift = shift;
  state.io.byte(Column::kRaw, shift);
  for (size_t i = 0; i < sizeof(penna_chunk); ++i) {
    uint8_t byte = chunk[i];
    state.io.byte(Column::kRaw, byte);
  }
  size_t at = sizeof(penna_chunk);
  while (chunk.size() - at >= 8) at += 8 * state.step(chunk.data() + at, (chunk.size() - at) / 8);
  for (; at < chunk.size(); ++at) {
    uint8_t byte = chunk[at];
    state.io.byte(Column::kRaw, byte);
  }
  state.io.pack(Column::kOps);
  state.io.finish(out);
  const uint64_t pc_high = uint64_t{header_of(chunk).pc_high} << 32;
  for (const uint64_t pc : state.model.pcs.all()) state.call_pcs.add(pc_high | static_cast<uint32_t>(pc));
  for (const uint64_t word : state.model.locks.all()) state.lock_words.add(word);
  return true;
}

std::span<const uint64_t> ColumnEncoder::call_pcs() const { return state_->call_pcs.all(); }
std::span<const uint64_t> ColumnEncoder::lock_words() const { return state_->lock_words.all(); }

// ---- Decoding

namespace {

// For chunks written in version `kVersion` of the format.
template <uint32_t kVersion>
class Decoder {
 public:
  bool decode(std::span<const uint8_t> columns, std::span<uint8_t> chunk) {
    if (chunk.size() < sizeof(penna_chunk) || !io_.begin(columns)) return false;
    uint8_t shift = 0;
    io_.byte(Column::kRaw, shift);
    if (shift > kMaxTimeShift) return false;
    for (size_t i = 0; i < sizeof(penna_chunk); ++i) io_.byte(Column::kRaw, chunk[i]);
    model_.reset(word_at(chunk.data() + offsetof(penna_chunk, time_begin)));
    model_.time_shift = shift;
    at_ = chunk.data() + sizeof(penna_chunk);
    words_ = (chunk.size() - sizeof(penna_chunk)) / 8;
    ops_ = OpLane(io_.lane(Column::kOps));
    while (words_ > 0 && io_.ok && ops_.left() != 0) {
      if (ops_.peek() <= kExit) calls();
      if (words_ == 0 || ops_.left() == 0) break;
      step(ops_.peek());
      ops_.pass();
    }
    if (words_ != 0) return false;
    for (size_t i = 0; i < chunk.size() % 8; ++i) io_.byte(Column::kRaw, *at_++);
    return io_.ok;
  }

 private:
  void put(uint64_t word) {
    std::memcpy(at_, &word, sizeof word);
    at_ += sizeof word;
    --words_;
  }

  static uint64_t word_of(const Call& call, penna_tag tag) { return penna_call_header(tag, call.pc, call.time); }

  // A run of calls, most of what most chunks hold, while they are many.
  void calls() {
    CallColumnReader io(io_);
    CallColumnModel model(model_);
    OpLane ops = ops_;
    uint8_t* at = at_;
    while (size_t count = std::min({io.safe_calls(), ops.left(), words_ - static_cast<size_t>(at - at_) / 8})) {
      for (; count > 0 && ops.peek() <= kExit; --count) {
        const uint8_t op = ops.peek();
        ops.pass();
        Call call;
        uint64_t word;
        if (op <= kEntry) {
          code_entry(io, model, op == kEntryForeseen, call);
          word = word_of(call, PENNA_TAG_ENTRY);
        } else {
          code_exit(io, model, op == kExitForeseen, call);
          word = word_of(call, PENNA_TAG_EXIT);
        }
        std::memcpy(at, &word, sizeof word);
        at += sizeof word;
      }
      if (count != 0 || !io.ok) break;
    }
    words_ -= static_cast<size_t>(at - at_) / 8;
    at_ = at;
    ops_ = ops;
    io.release(io_);
    model.release(model_);
  }

  void step(uint8_t op) {
    switch (op) {
      case kEntryForeseen:
      case kEntry: {
        Call call;
        code_entry(io_, model_, op == kEntryForeseen, call);
        return put(word_of(call, PENNA_TAG_ENTRY));
      }
      case kExitForeseen:
      case kExit: {
        Call call;
        code_exit(io_, model_, op == kExitForeseen, call);
        return put(word_of(call, PENNA_TAG_EXIT));
      }
      case kAlloc: return alloc();
      case kFree:
      case kFreeFamily: return free(op == kFreeFamily);
      case kLockForeseen:
      case kLock: return lock(true, op == kLockForeseen);
      case kUnlockForeseen:
      case kUnlock: return lock(false, op == kUnlockForeseen);
      case kFull: return full();
      case kWord: {
        uint64_t word = 0;
        io_.number(Column::kWords, word);
        return put(word);
      }
      case kZeros: return zeros();
      default: io_.fail();
    }
  }

  void alloc() {
    Alloc alloc;
    if (words_ < 3) return io_.fail();
    code_alloc(io_, model_, alloc);
    put(alloc.time << 16 | kAllocShape);
    put(alloc.address | alloc.family << 56);
    put(alloc.size << 32 | static_cast<uint32_t>(alloc.stack));
  }
  void free(bool has_family) {
    Free free;
    if (words_ < 2) return io_.fail();
    if (has_family) io_.number(Column::kFamilies, free.family);
    code_free(io_, model_, free);
    put(free.time << 16 | kFreeShape);
    put(free.address | free.family << 56);
  }
  void lock(bool takes, bool foreseen) {
    Lock lock;
    if (words_ < 2) return io_.fail();
    code_lock(io_, model_, takes, foreseen, lock);
    put(lock.time << 16 | (takes ? kLockShape : kUnlockShape));
    put(lock.lock);
  }
  void full() {
    uint64_t kind_busy = 0, count = 0, time = 0;
    uint64_t payload[PENNA_MAX_RECORD_WORDS] = {};
    code_full(io_, model_, kind_busy, count, time, payload);
    if (!io_.ok || count > words_) return io_.fail();
    uint64_t tag = kind_busy >= 64 ? PENNA_TAG_BUSY : PENNA_TAG_FULL;
    put(time << 16 | count << 8 | (kind_busy & 63) << 2 | tag);
    for (size_t i = 0; i + 1 < count; ++i) put(payload[i]);
  }
  void zeros() {
    uint64_t count = 0;
    io_.number(Column::kKinds, count);
    if (count == 0 || count > words_) return io_.fail();
    for (; count > 0; --count) put(0);
  }

  ColumnReader<kVersion> io_;
  OpLane ops_;
  ColumnModel model_;
  uint8_t* at_ = nullptr;
  size_t words_ = 0;  // of room
};

}  // namespace

template <uint32_t kVersion>
static bool decode(std::span<const uint8_t> columns, std::vector<uint8_t>& chunk) {
  thread_local auto decoder = std::make_unique<Decoder<kVersion>>();
  return decoder->decode(columns, chunk);
}

bool from_columns(std::span<const uint8_t> columns, size_t raw_bytes, std::vector<uint8_t>& chunk, uint32_t version) {
  if (raw_bytes > PENNA_CHUNK_BYTES) return false;
  chunk.resize(raw_bytes);
  return version == 1 ? decode<1>(columns, chunk) : decode<layout::kVersion>(columns, chunk);
}

}  // namespace penna
