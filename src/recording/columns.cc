// SPDX-License-Identifier: MIT
// See columns.h.
//
// One description of each record (code_call, code_alloc, ...) serves both directions: a Writer puts the values that it is
// given into columns, a Reader fills them in. So encoder and decoder cannot disagree about the order of things.
#include "recording/columns.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "penna/event.h"
#include "recording/column_model.h"

namespace penna {
namespace {

// What stands in kOps: the next record, or what else is there. "Foreseen": as the model says, without a number.
enum Op : uint8_t {
  kEntryForeseen = 0,
  kEntry = 1,
  kExitForeseen = 2,
  kExit = 3,
  kAlloc = 4,
  kFree = 5,        // of family malloc
  kFreeFamily = 6,  // of another one
  kLockForeseen = 7,
  kLock = 8,
  kUnlockForeseen = 9,
  kUnlock = 10,
  kFull = 11,   // any other full record, also a busy one
  kWord = 12,   // a word that begins no record
  kZeros = 13,  // a run of zero words
};

// Numbers: a code byte, then low bits.
//   0..31         the number
//   32 + 4*k + m  k = 0..26: 2^(k+5) * (1 + m/4) and k+3 low bits
//   140 + k       k = 0..31: 2^(k+32) and k+32 low bits
// 255 in a column of times or addresses: the number behind it is coded without prediction or shift.
constexpr uint8_t kEscape = 255;

uint64_t zigzag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}
uint64_t unzigzag(uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }
uint64_t mask_of(uint32_t bits) { return (uint64_t{1} << bits) - 1; }

class Writer {
 public:
  static constexpr bool kWrites = true;

  Writer() {
    size_t total = 0;
    for (size_t i = 0; i < kColumnCount; ++i) total += capacity(i);
    memory_.resize(total);
  }
  void begin() {
    uint8_t* at = memory_.data();
    for (size_t i = 0; i < kColumnCount; ++i) {
      begin_[i] = end_[i] = at;
      at += capacity(i);
    }
    bits_ = 0;
    bit_count_ = 0;
  }

  void byte(Column column, uint8_t& value) { *end_[index(column)]++ = value; }
  [[gnu::always_inline]] void number(Column column, uint64_t& value) { put(end_[index(column)], value); }
  bool escape(Column column, bool wanted) {
    if (wanted) *end_[index(column)]++ = kEscape;
    return wanted;
  }
  void fail() {
    constexpr bool kEncoderMakesNumbersInRange = false;
    PENNA_CHECK(kEncoderMakesNumbersInRange);
  }
  bool ok() const { return true; }

  void finish(std::vector<uint8_t>& out) {
    std::memcpy(end_[index(Column::kBits)], &bits_, sizeof bits_);
    end_[index(Column::kBits)] += (bit_count_ + 7) / 8;
    out.resize(kColumnTable);
    for (size_t i = 0; i < kColumnCount; ++i) {
      auto size = static_cast<uint32_t>(end_[i] - begin_[i]);
      PENNA_CHECK(size <= capacity(i));
      std::memcpy(out.data() + i * sizeof size, &size, sizeof size);
      out.insert(out.end(), begin_[i], end_[i]);
    }
  }

 private:
  static size_t index(Column column) { return static_cast<size_t>(column); }
  // A word of the chunk gives at most 2 codes to one column, and at most 80 bits.
  static size_t capacity(size_t i) { return (i == index(Column::kBits) ? 10 : 2) * kMaxChunkWords + 256; }

  [[gnu::always_inline]] void put(uint8_t*& to, uint64_t value) {
    if (value >> 32 != 0) [[unlikely]] {
      auto high = static_cast<uint32_t>(31 - __builtin_clz(static_cast<uint32_t>(value >> 32)));
      *to++ = static_cast<uint8_t>(140 + high);
      put_bits(value & mask_of(32), 32);
      put_bits(value >> 32 & mask_of(high), high);
      return;
    }
    // No branch on small or not: the clock decides that, and no processor foresees it.
    auto number = static_cast<uint32_t>(value);
    auto low = static_cast<uint32_t>(29 - __builtin_clz(number | 32));
    uint32_t code = low * 4 + 16 + (number >> low);
    bool small = number < 32;
    *to++ = static_cast<uint8_t>(small ? number : code);
    low = small ? 0 : low;
    put_bits(number & mask_of(low), low);
  }

  // At most 32 bits.
  [[gnu::always_inline]] void put_bits(uint64_t value, uint32_t count) {
    bits_ |= value << bit_count_;
    bit_count_ += count;
    uint8_t*& to = end_[index(Column::kBits)];
    std::memcpy(to, &bits_, sizeof bits_);
    to += bit_count_ / 8;
    bits_ >>= bit_count_ & ~7u;
    bit_count_ &= 7;
  }

  std::vector<uint8_t> memory_;
  std::array<uint8_t*, kColumnCount> begin_{}, end_{};
  uint64_t bits_ = 0;
  uint32_t bit_count_ = 0;
};

// The bytes are untrusted: whatever is missing reads as zero and makes ok() false.
class Reader {
 public:
  static constexpr bool kWrites = false;

  bool begin(std::span<const uint8_t> columns) {
    bit_at_ = 0;
    ok_ = true;
    if (columns.size() < kColumnTable || columns.size() > kMaxColumnBytes) return false;
    const uint8_t* table = columns.data();
    auto rest = columns.subspan(kColumnTable);
    for (size_t i = 0; i < kColumnCount; ++i) {
      uint32_t size;
      std::memcpy(&size, table + i * sizeof size, sizeof size);
      if (size > rest.size()) return false;
      at_[i] = rest.data();
      end_[i] = rest.data() + size;
      rest = rest.subspan(size);
    }
    return rest.empty();
  }

  void byte(Column column, uint8_t& value) { value = take(index(column)); }
  void number(Column column, uint64_t& value) { value = get(index(column)); }
  bool escape(Column column, bool) {
    size_t i = index(column);
    if (at_[i] == end_[i] || *at_[i] != kEscape) return false;
    ++at_[i];
    return true;
  }
  void fail() { ok_ = false; }
  bool ok() const { return ok_; }

 private:
  static size_t index(Column column) { return static_cast<size_t>(column); }

  uint8_t take(size_t i) {
    if (at_[i] == end_[i]) [[unlikely]] {
      ok_ = false;
      return 0;
    }
    return *at_[i]++;
  }
  uint64_t get(size_t i) {
    uint32_t code = take(i);
    if (code < 32) return code;
    if (code < 140) {
      uint32_t low = (code - 32) / 4 + 3;
      return uint64_t{4 + (code & 3)} << low | get_bits(low);
    }
    if (code >= 172) {
      ok_ = false;
      return 0;
    }
    uint32_t high = code - 140;
    uint64_t value = get_bits(32);
    return value | (uint64_t{1} << high | get_bits(high)) << 32;
  }
  uint64_t get_bits(uint32_t count) {
    const uint8_t*& at = at_[index(Column::kBits)];
    auto left = static_cast<size_t>(end_[index(Column::kBits)] - at);
    uint64_t word = 0;
    if (left >= sizeof word) [[likely]]
      std::memcpy(&word, at, sizeof word);
    else
      std::memcpy(&word, at, left);
    uint64_t value = word >> bit_at_ & mask_of(count);
    bit_at_ += count;
    size_t bytes = bit_at_ / 8;
    if (bytes + ((bit_at_ & 7) != 0) > left) [[unlikely]] {
      ok_ = false;
      return 0;
    }
    at += bytes;
    bit_at_ &= 7;
    return value;
  }

  std::array<const uint8_t*, kColumnCount> at_{}, end_{};
  uint32_t bit_at_ = 0;
  bool ok_ = true;
};

// ---- Values

// The low `width` bits of a time, as the difference to the time before.
template <typename Io>
[[gnu::always_inline]] inline void code_time(Io& io, ColumnModel& model, Column column, uint32_t width, uint64_t& low) {
  uint64_t difference = 0;
  if constexpr (Io::kWrites) {
    uint64_t unused = 64 - width;
    difference = static_cast<uint64_t>(static_cast<int64_t>((low - model.time) << unused) >> unused);
  }
  uint32_t shift = model.time_shift;
  bool plain = static_cast<int64_t>(difference) < 0 || (difference & mask_of(shift)) != 0;
  if (io.escape(column, plain)) [[unlikely]] {
    uint64_t number = zigzag(difference);
    io.number(column, number);
    difference = unzigzag(number);
  } else {
    uint64_t number = difference >> shift;
    io.number(column, number);
    difference = number << shift;
  }
  model.time += difference;
  if constexpr (!Io::kWrites) low = model.time & mask_of(width);
}

// A value that is often one of those seen before in this chunk: index + 1, or 0 and the difference to the newest.
template <typename Io>
void code_symbol(Io& io, Dictionary& seen, Column column, uint64_t& value) {
  uint64_t index_1 = 0;
  if constexpr (Io::kWrites) index_1 = (seen.find(value) + 1) % (seen.count() + 1);
  io.number(column, index_1);
  if (index_1 != 0) {
    if constexpr (!Io::kWrites) {
      if (index_1 > seen.count()) return io.fail();
      value = seen.at(static_cast<uint32_t>(index_1 - 1));
    }
    return;
  }
  uint64_t difference = zigzag(value - seen.newest());
  io.number(column, difference);
  if constexpr (!Io::kWrites) value = seen.newest() + unzigzag(difference);
  if (seen.full()) return io.fail();
  seen.add(value);
  if constexpr (Io::kWrites) seen.remember_newest();
}

// An address near `base`, most often at a distance of a multiple of 16.
template <typename Io>
void code_address(Io& io, Column column, uint64_t base, uint64_t& address) {
  uint64_t difference = address - base;
  if (io.escape(column, (difference & 15) != 0)) {
    io.number(column, address);
    return;
  }
  uint64_t number = zigzag(static_cast<uint64_t>(static_cast<int64_t>(difference) >> 4));
  io.number(column, number);
  if constexpr (!Io::kWrites) address = base + (unzigzag(number) << 4);
}

// ---- Records. A Writer finds the fields filled in, a Reader fills them in.

struct Call {
  uint64_t pc = 0, time = 0;  // low bits, as in the header
};

template <typename Io>
[[gnu::always_inline]] inline void code_entry(Io& io, ColumnModel& model, bool foreseen, Call& call) {
  if (!foreseen)
    code_symbol(io, model.pcs, Column::kPcs, call.pc);
  else if constexpr (!Io::kWrites)
    call.pc = model.calls.next_entry();
  code_time(io, model, Column::kEntryTimes, PENNA_CALL_TIME_BITS, call.time);
  model.calls.entered(static_cast<uint32_t>(call.pc));
}

template <typename Io>
[[gnu::always_inline]] inline void code_exit(Io& io, ColumnModel& model, bool foreseen, Call& call) {
  if (!foreseen)
    code_symbol(io, model.pcs, Column::kPcs, call.pc);
  else if constexpr (!Io::kWrites)
    call.pc = model.calls.next_exit();
  code_time(io, model, Column::kExitTimes, PENNA_CALL_TIME_BITS, call.time);
  model.calls.exited(static_cast<uint32_t>(call.pc));
}

struct Alloc {
  uint64_t time = 0, address = 0, family = 0, stack = 0, size = 0;
};

// Bits of the flags in kAllocs; then where the address comes from.
enum AllocFlag : uint8_t { kStackForeseen = 1, kSizeForeseen = 2, kFamilyForeseen = 4 };
enum AllocFrom : uint8_t {
  kFromNewest = 0,   // the block of this size that was freed last
  kFromRing = 1,     // one freed before it: which
  kFromBump = 2,     // right behind the block allocated last
  kFromUnknown = 3,  // a freed block of unknown size: which
  kFromNear = 4,     // an address: difference to kFromBump
};

uint8_t alloc_flags(AllocModel& model, const Alloc& alloc, uint64_t& place) {
  auto size = static_cast<uint32_t>(alloc.size);
  auto& habit = model.habit(static_cast<uint32_t>(alloc.stack));
  unsigned flags = (model.next_stack() == alloc.stack ? kStackForeseen : 0) | (habit.size == size ? kSizeForeseen : 0) |
                   (habit.family == alloc.family ? kFamilyForeseen : 0);
  unsigned from = kFromNear;
  if (uint32_t found = model.ring(size).find(alloc.address); found != AllocModel::kNowhere) {
    place = found;
    from = found == 0 ? kFromNewest : kFromRing;
  } else if (model.next_bump() == alloc.address) {
    from = kFromBump;
  } else if (found = model.unknown().find(alloc.address); found != AllocModel::kNowhere) {
    place = found;
    from = kFromUnknown;
  }
  return static_cast<uint8_t>(flags | from << 3);
}

template <typename Io>
void code_place(Io& io, AllocModel& model, uint32_t size, uint8_t from, uint64_t& place, uint64_t& address) {
  if (from == kFromBump) {
    address = model.next_bump();
    return;
  }
  if (from >= kFromNear) return code_address(io, Column::kAddresses, model.next_bump(), address);
  auto& ring = from == kFromUnknown ? model.unknown() : model.ring(size);
  if (from == kFromNewest)
    place = 0;
  else
    io.number(Column::kAddresses, place);
  if (place >= AllocModel::kRing) return io.fail();
  address = ring.at(static_cast<uint32_t>(place));
  ring.take(static_cast<uint32_t>(place));
}

template <typename Io>
void code_alloc(Io& io, ColumnModel& all, Alloc& alloc) {
  AllocModel& model = all.use_allocs();
  uint8_t flags = 0;
  uint64_t place = 0;
  if constexpr (Io::kWrites) flags = alloc_flags(model, alloc, place);
  io.byte(Column::kAllocs, flags);
  if ((flags & kStackForeseen) == 0)
    code_symbol(io, all.stacks, Column::kStacks, alloc.stack);
  else
    alloc.stack = model.next_stack();
  auto& habit = model.habit(static_cast<uint32_t>(alloc.stack));
  if ((flags & kSizeForeseen) == 0)
    io.number(Column::kSizes, alloc.size);
  else
    alloc.size = habit.size;
  if ((flags & kFamilyForeseen) == 0)
    io.number(Column::kSizes, alloc.family);
  else
    alloc.family = habit.family;
  habit = {static_cast<uint32_t>(alloc.size), static_cast<uint32_t>(alloc.family)};
  code_place(io, model, static_cast<uint32_t>(alloc.size), flags >> 3, place, alloc.address);
  code_time(io, all, Column::kOtherTimes, PENNA_FULL_TIME_BITS, alloc.time);
  if (model.full()) return io.fail();
  model.allocated(alloc.address, static_cast<uint32_t>(alloc.size), static_cast<uint32_t>(alloc.stack));
  if constexpr (Io::kWrites) model.remember_newest();
}

struct Free {
  uint64_t time = 0, address = 0, family = 0;
};

// Which block of this chunk, + 1; 0 = one from before it.
uint64_t block_code(const AllocModel& model, uint32_t number) {
  if (number == AllocModel::kNowhere) return 0;
  return 1 + (model.after_alloc ? model.count() - 1 - number
                                : zigzag(static_cast<uint64_t>(int64_t{number} - int64_t{model.last_freed()})));
}

uint32_t block_of(const AllocModel& model, uint64_t code) {
  uint64_t number = model.after_alloc ? model.count() - code : model.last_freed() + unzigzag(code - 1);
  return number < model.count() && model.alive(static_cast<uint32_t>(number)) ? static_cast<uint32_t>(number)
                                                                              : AllocModel::kNowhere;
}

template <typename Io>
void code_free(Io& io, ColumnModel& all, Free& free) {
  AllocModel& model = all.use_allocs();
  uint32_t number = AllocModel::kNowhere;
  uint64_t code = 0;
  if constexpr (Io::kWrites) {
    number = model.find_block(free.address);
    code = block_code(model, number);
  }
  io.number(model.after_alloc ? Column::kFreesAfterAlloc : Column::kFreesAfterFree, code);
  if (code == 0) {
    code_address(io, Column::kFreesUnknown, model.last_freed_address(), free.address);
    model.freed_unknown(free.address);
  } else {
    if constexpr (!Io::kWrites) number = block_of(model, code);
    if (number == AllocModel::kNowhere) return io.fail();
    free.address = model.address(number);
    model.freed(number);
  }
  code_time(io, all, Column::kOtherTimes, PENNA_FULL_TIME_BITS, free.time);
}

struct Lock {
  uint64_t time = 0, lock = 0;
};

template <typename Io>
void code_lock(Io& io, ColumnModel& model, bool takes, bool foreseen, Lock& lock) {
  uint64_t& expected = takes ? model.use_locks().after(model.last_lock) : model.last_lock;
  if (!foreseen)
    code_symbol(io, model.locks, Column::kLocks, lock.lock);
  else
    lock.lock = expected;
  code_time(io, model, Column::kOtherTimes, PENNA_FULL_TIME_BITS, lock.time);
  expected = lock.lock;
  model.last_lock = lock.lock;
}

// Any other record: `words` with the header in front. A Reader has room for PENNA_MAX_RECORD_WORDS.
template <typename Io>
void code_full(Io& io, ColumnModel& all, uint64_t& kind_busy, uint64_t& count, uint64_t& time, uint64_t* payload) {
  io.number(Column::kKinds, kind_busy);
  io.number(Column::kKinds, count);
  if (kind_busy >= 128 || count == 0 || count > PENNA_MAX_RECORD_WORDS) return io.fail();
  code_time(io, all, Column::kOtherTimes, PENNA_FULL_TIME_BITS, time);
  WordModel& model = all.use_words();
  auto kind = static_cast<uint32_t>(kind_busy & 63);
  WordModel::Words* before = nullptr;
  for (size_t i = 0; i + 1 < count; ++i) {
    uint64_t none = 0;
    uint64_t& base = i == 0 ? model.first(kind) : i <= before->size() ? (*before)[i - 1] : none;
    uint64_t number = zigzag(payload[i] - base);
    io.number(Column::kWords, number);
    if constexpr (!Io::kWrites) payload[i] = base + unzigzag(number);
    base = payload[i];
    if (i == 0) before = &model.rest(kind, static_cast<uint32_t>(count), payload[0]);
  }
}

constexpr uint64_t kAllocShape = uint64_t{3} << 8 | PENNA_KIND_ALLOC << 2;
constexpr uint64_t kFreeShape = uint64_t{2} << 8 | PENNA_KIND_FREE << 2;
constexpr uint64_t kLockShape = uint64_t{2} << 8 | PENNA_KIND_LOCK << 2;
constexpr uint64_t kUnlockShape = uint64_t{2} << 8 | PENNA_KIND_UNLOCK << 2;

uint64_t word_at(const uint8_t* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

}  // namespace

// ---- Encoding

struct ColumnEncoder::State {
  ColumnModel model;
  Writer io;
  uint8_t op_before = 0;
  bool op_waits = false;

  void op(uint8_t value) {
    if (op_waits) {
      uint8_t both = static_cast<uint8_t>(op_before | value << 4);
      io.byte(Column::kOps, both);
    }
    op_before = value;
    op_waits = !op_waits;
  }
  size_t step(const uint8_t* at, size_t words);
  size_t full(uint64_t header, const uint8_t* at, size_t words);
  size_t zeros(const uint8_t* at, size_t words);
};

// Low bits that no clock value here has: on many CPUs the TSC counts by 2 or more.
static uint32_t time_shift(std::span<const uint8_t> chunk, uint64_t time_begin) {
  uint64_t bits = time_begin | 1 << 4;
  size_t end = std::min<size_t>(chunk.size() & ~size_t{7}, 2048);
  for (size_t at = sizeof(penna_chunk); at < end; at += 8) {
    uint64_t word = word_at(chunk.data() + at);
    uint32_t tag = penna_header_tag(word);
    if (tag == PENNA_TAG_ENTRY || tag == PENNA_TAG_EXIT) {
      bits |= static_cast<uint32_t>(word) >> 2;
    } else if ((word & 0xffff) == kAllocShape || (word & 0xffff) == kFreeShape) {
      bits |= word >> 16;
      at += 8;
    }
  }
  return static_cast<uint32_t>(__builtin_ctzll(bits));
}

// The record at `at`, in `words` words that are left. Returns its length in words.
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
    if (free.family != 0) io.number(Column::kSizes, free.family);
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
  state.op_waits = false;
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
  if (state.op_waits) state.op(0);
  state.io.finish(out);
  return true;
}

// ---- Decoding

namespace {

class Decoder {
 public:
  bool decode(std::span<const uint8_t> columns, std::span<uint8_t> chunk) {
    if (chunk.size() < sizeof(penna_chunk) || !io_.begin(columns)) return false;
    uint8_t shift = 0;
    io_.byte(Column::kRaw, shift);
    if (shift > 4) return false;
    for (size_t i = 0; i < sizeof(penna_chunk); ++i) io_.byte(Column::kRaw, chunk[i]);
    model_.reset(word_at(chunk.data() + offsetof(penna_chunk, time_begin)));
    model_.time_shift = shift;
    at_ = chunk.data() + sizeof(penna_chunk);
    words_ = (chunk.size() - sizeof(penna_chunk)) / 8;
    uint8_t ops = 0;
    for (uint32_t i = 0; words_ > 0 && io_.ok(); ++i) {
      if (i % 2 == 0) io_.byte(Column::kOps, ops);
      step(i % 2 == 0 ? ops & 15 : ops >> 4);
    }
    for (size_t i = 0; i < chunk.size() % 8; ++i) io_.byte(Column::kRaw, *at_++);
    return io_.ok();
  }

 private:
  void put(uint64_t word) {
    std::memcpy(at_, &word, sizeof word);
    at_ += sizeof word;
    --words_;
  }

  void step(uint8_t op) {
    switch (op) {
      case kEntryForeseen:
      case kEntry: {
        Call call;
        code_entry(io_, model_, op == kEntryForeseen, call);
        return put(penna_call_header(PENNA_TAG_ENTRY, call.pc, call.time));
      }
      case kExitForeseen:
      case kExit: {
        Call call;
        code_exit(io_, model_, op == kExitForeseen, call);
        return put(penna_call_header(PENNA_TAG_EXIT, call.pc, call.time));
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
    if (has_family) io_.number(Column::kSizes, free.family);
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
    if (!io_.ok() || count > words_) return io_.fail();
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

  Reader io_;
  ColumnModel model_;
  uint8_t* at_ = nullptr;
  size_t words_ = 0;  // of room
};

}  // namespace

bool from_columns(std::span<const uint8_t> columns, size_t raw_bytes, std::vector<uint8_t>& chunk) {
  thread_local auto decoder = std::make_unique<Decoder>();
  if (raw_bytes > PENNA_CHUNK_BYTES) return false;
  chunk.resize(raw_bytes);
  return decoder->decode(columns, chunk);
}

}  // namespace penna
