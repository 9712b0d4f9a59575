// SPDX-License-Identifier: MIT
// See columns.h. The encoder splits a chunk into steps; the decoder follows them.
#include "recording/columns/columns.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "penna/event.h"
#include "recording/columns/column_io.h"
#include "recording/columns/column_model.h"
#include "recording/columns/column_records.h"
#include "recording/records.h"

namespace penna {

using namespace columns;

namespace {

// Numbers in order of appearance; most repetitions are left out.
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
  ColumnMemory memory;
  SeenNumbers call_pcs, lock_words;  // of records in no dictionary of the model

  void see(uint64_t header, const uint8_t* payload);
  std::array<uint8_t*, kColumnCount> take_apart(std::span<const uint8_t> chunk);
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

// Puts one record after the other into columns: each function takes the record at `at`, with `words` words left, and
// returns its length in words. All of them are inlined into one loop, for the sake of ColumnWriter.
namespace {

class Taking {
 public:
  [[gnu::always_inline]] Taking(ColumnModel& model, ColumnMemory& memory) : io(memory), model_(model) {}

  // The calls from here on.
  [[gnu::always_inline]] size_t calls(const uint8_t* at, size_t words) {
    CallColumnModel here(model_);
    size_t taken = 0;
    for (; taken < words; ++taken) {
      const uint64_t header = word_at(at + taken * 8);
      const uint32_t tag = penna_header_tag(header);
      Call call{header >> 32, static_cast<uint32_t>(header) >> 2};
      if (tag == PENNA_TAG_ENTRY) {
        const bool foreseen = here.calls.next_entry() == call.pc;
        op(foreseen ? kEntryForeseen : kEntry);
        code_entry(io, here, foreseen, call);
      } else if (tag == PENNA_TAG_EXIT) {
        const bool foreseen = here.calls.next_exit() == call.pc;
        op(foreseen ? kExitForeseen : kExit);
        code_exit(io, here, foreseen, call);
      } else {
        break;
      }
    }
    here.release(model_);
    return taken;
  }
  [[gnu::always_inline]] size_t alloc(uint64_t header, const uint8_t* at) {
    const uint64_t address = word_at(at + 8), rest = word_at(at + 16);
    Alloc alloc{header >> 16, address & PENNA_ADDRESS_MASK, address >> 56, static_cast<uint32_t>(rest), rest >> 32};
    op(kAlloc);
    code_alloc(io, model_, alloc);
    return 3;
  }
  [[gnu::always_inline]] size_t free(uint64_t header, const uint8_t* at) {
    const uint64_t address = word_at(at + 8);
    Free free{header >> 16, address & PENNA_ADDRESS_MASK, address >> 56};
    op(free.family == 0 ? kFree : kFreeFamily);
    if (free.family != 0) io.number(Column::kFamilies, free.family);
    code_free(io, model_, free);
    return 2;
  }
  [[gnu::always_inline]] size_t lock(uint64_t header, const uint8_t* at, bool takes) {
    Lock lock{header >> 16, word_at(at + 8)};
    const bool foreseen = (takes ? model_.use_locks().after(model_.last_lock) : model_.last_lock) == lock.lock;
    op(takes ? (foreseen ? kLockForeseen : kLock) : (foreseen ? kUnlockForeseen : kUnlock));
    code_lock(io, model_, takes, foreseen, lock);
    return 2;
  }
  [[gnu::always_inline]] size_t full(uint64_t header, const uint8_t* at, uint64_t count) {
    uint64_t kind_busy = penna_header_kind(header) | (penna_header_tag(header) == PENNA_TAG_BUSY ? 64 : 0);
    uint64_t time = header >> 16;
    op(kFull);
    code_full(io, model_, kind_busy, count, time, at + 8);
    return count;
  }
  [[gnu::always_inline]] size_t word(uint64_t header) {
    op(kWord);
    io.number(Column::kWords, header);
    return 1;
  }
  [[gnu::always_inline]] size_t zeros(const uint8_t* at, size_t words) {
    uint64_t count = 1;
    while (count < words && word_at(at + count * 8) == 0) ++count;
    op(kZeros);
    io.number(Column::kKinds, count);
    return count;
  }

  ColumnWriter io;

 private:
  [[gnu::always_inline]] void op(uint8_t value) { io.byte(Column::kOps, value); }

  ColumnModel& model_;
};

}  // namespace

// For a record without dedicated columns.
[[gnu::noinline]] void ColumnEncoder::State::see(uint64_t header, const uint8_t* payload) {
  const uint32_t kind = penna_header_kind(header);
  (classify(kind) == PENNA_LOCKS ? lock_words : call_pcs).add(word_at(payload));
  if (kind == PENNA_KIND_COND_WAIT && penna_header_words(header) >= 3) lock_words.add(word_at(payload + 8));
}

// Returns where each column ends.
[[gnu::flatten]] std::array<uint8_t*, kColumnCount> ColumnEncoder::State::take_apart(std::span<const uint8_t> chunk) {
  Taking taking(model, memory);
  auto shift = static_cast<uint8_t>(model.time_shift);
  taking.io.byte(Column::kRaw, shift);
  taking.io.bytes(Column::kRaw, chunk.first(sizeof(penna_chunk)));
  const uint8_t* at = chunk.data() + sizeof(penna_chunk);
  for (size_t words = (chunk.size() - sizeof(penna_chunk)) / 8, taken; words > 0; words -= taken, at += taken * 8) {
    const uint64_t header = word_at(at), count = penna_header_words(header);
    const uint32_t tag = penna_header_tag(header), shape = header & 0xffff;
    if (tag == PENNA_TAG_ENTRY || tag == PENNA_TAG_EXIT) {
      taken = taking.calls(at, words);
    } else if (header == 0) {
      taken = taking.zeros(at, words);
    } else if (count == 0 || count > words) {
      taken = taking.word(header);
    } else if (shape == kAllocShape) {
      taken = taking.alloc(header, at);
    } else if (shape == kFreeShape) {
      taken = taking.free(header, at);
    } else if (shape == kLockShape || shape == kUnlockShape) {
      taken = taking.lock(header, at, shape == kLockShape);
    } else {
      taken = taking.full(header, at, count);
      const penna_event_class what = classify(penna_header_kind(header));
      if (count >= 2 && (what == PENNA_LOCKS || what == PENNA_CALLS)) see(header, at + 8);
    }
  }
  taking.io.bytes(Column::kRaw, chunk.last(chunk.size() % 8));
  return taking.io.finish();
}

ColumnEncoder::ColumnEncoder() : state_(std::make_unique<State>()) {}
ColumnEncoder::ColumnEncoder(ColumnEncoder&&) noexcept = default;
ColumnEncoder& ColumnEncoder::operator=(ColumnEncoder&&) noexcept = default;
ColumnEncoder::~ColumnEncoder() = default;

bool ColumnEncoder::encode(std::span<const uint8_t> chunk, std::vector<uint8_t>& out) {
  State& state = *state_;
  if (chunk.size() < sizeof(penna_chunk) || chunk.size() > PENNA_CHUNK_BYTES) return false;
  uint64_t time_begin = word_at(chunk.data() + offsetof(penna_chunk, time_begin));
  state.model.reset(time_begin);
  state.model.time_shift = time_shift(chunk, time_begin);
  state.call_pcs.clear();
  state.lock_words.clear();
  auto ends = state.take_apart(chunk);
  constexpr auto kOps = static_cast<size_t>(Column::kOps);
  ends[kOps] = pack_nibbles(state.memory.begin_of(kOps), ends[kOps]);
  state.memory.join(ends, out);
  const uint64_t pc_high = uint64_t{header_of(chunk).pc_high} << 32;
  for (const uint64_t pc : state.model.pcs.all()) state.call_pcs.add(pc_high | static_cast<uint32_t>(pc));
  for (const uint64_t word : state.model.locks.all()) state.lock_words.add(word);
  return true;
}

std::span<const uint64_t> ColumnEncoder::call_pcs() const { return state_->call_pcs.all(); }
std::span<const uint64_t> ColumnEncoder::lock_words() const { return state_->lock_words.all(); }

// ---- Decoding

namespace {

// Puts one record after the other back into the chunk, for chunks written in version `kVersion` of the format. Like
// Taking: all of it is inlined into one loop, so that the positions in all columns stay in registers or on the stack,
// where no byte that is written may alias them.
template <uint32_t kVersion>
class Giving {
 public:
  [[gnu::always_inline]] explicit Giving(ColumnModel& model) : model_(model) {}

  [[gnu::always_inline]] bool give(std::span<const uint8_t> columns, std::span<uint8_t> chunk) {
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
  [[gnu::always_inline]] void put(uint64_t word) {
    std::memcpy(at_, &word, sizeof word);
    at_ += sizeof word;
    --words_;
  }

  static uint64_t word_of(const Call& call, penna_tag tag) { return penna_call_header(tag, call.pc, call.time); }

  // A run of calls, as long as enough are left: they are most of what most chunks hold.
  [[gnu::always_inline]] void calls() {
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

  [[gnu::always_inline]] void step(uint8_t op) {
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

  [[gnu::always_inline]] void alloc() {
    Alloc alloc;
    if (words_ < 3) return io_.fail();
    code_alloc(io_, model_, alloc);
    put(alloc.time << 16 | kAllocShape);
    put(alloc.address | alloc.family << 56);
    put(alloc.size << 32 | static_cast<uint32_t>(alloc.stack));
  }
  [[gnu::always_inline]] void free(bool has_family) {
    Free free;
    if (words_ < 2) return io_.fail();
    if (has_family) io_.number(Column::kFamilies, free.family);
    code_free(io_, model_, free);
    put(free.time << 16 | kFreeShape);
    put(free.address | free.family << 56);
  }
  [[gnu::always_inline]] void lock(bool takes, bool foreseen) {
    Lock lock;
    if (words_ < 2) return io_.fail();
    code_lock(io_, model_, takes, foreseen, lock);
    put(lock.time << 16 | (takes ? kLockShape : kUnlockShape));
    put(lock.lock);
  }
  [[gnu::always_inline]] void full() {
    uint64_t kind_busy = 0, count = words_, time = 0;
    code_full(io_, model_, kind_busy, count, time, at_ + 8);
    if (!io_.ok) return;
    uint64_t tag = kind_busy >= 64 ? PENNA_TAG_BUSY : PENNA_TAG_FULL;
    put(time << 16 | count << 8 | (kind_busy & 63) << 2 | tag);
    at_ += (count - 1) * 8;
    words_ -= count - 1;
  }
  [[gnu::always_inline]] void zeros() {
    uint64_t count = 0;
    io_.number(Column::kKinds, count);
    if (count == 0 || count > words_) return io_.fail();
    for (; count > 0; --count) put(0);
  }

  ColumnReader<kVersion> io_;
  OpLane ops_;
  ColumnModel& model_;
  uint8_t* at_ = nullptr;
  size_t words_ = 0;  // of room
};

}  // namespace

template <uint32_t kVersion>
[[gnu::flatten]] static bool decode(ColumnModel& model, std::span<const uint8_t> columns, std::span<uint8_t> chunk) {
  Giving<kVersion> giving(model);
  return giving.give(columns, chunk);
}

bool from_columns(std::span<const uint8_t> columns, size_t raw_bytes, std::vector<uint8_t>& chunk, uint32_t version) {
  if (raw_bytes > PENNA_CHUNK_BYTES) return false;
  chunk.resize(raw_bytes);
  thread_local auto model = std::make_unique<ColumnModel>();
  return version == 1 ? decode<1>(*model, columns, chunk) : decode<layout::kVersion>(*model, columns, chunk);
}

}  // namespace penna
