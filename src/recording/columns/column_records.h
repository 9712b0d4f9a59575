// SPDX-License-Identifier: MIT
// The records of a chunk as steps and columns.
//
// Why templates: one description of each record serves both directions. With a ColumnWriter the fields are given and it
// puts them into columns; a ColumnReader fills them in. So the two cannot disagree about the order.
// Invariant: a step predicts from the ColumnModel only, before it changes the model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "penna/event.h"
#include "recording/columns/column_io.h"
#include "recording/columns/column_model.h"

namespace penna::columns {

// Contents of kOps: the next record, or other content. "Foreseen": as the model predicts, without a number.
enum Op : uint8_t {
  kEntryForeseen = 0,
  kEntry = 1,
  kExitForeseen = 2,
  kExit = 3,
  kAlloc = 4,
  kFree = 5,        // of the malloc family
  kFreeFamily = 6,  // of another family
  kLockForeseen = 7,
  kLock = 8,
  kUnlockForeseen = 9,
  kUnlock = 10,
  kFull = 11,   // any other full record, including busy ones
  kWord = 12,   // a word that does not begin a record
  kZeros = 13,  // a run of zero words
};

inline uint64_t word_at(const uint8_t* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// ---- Values

// The low `width` bits of a time, as the difference from the previous time.
template <typename Io, typename Model>
[[gnu::always_inline]] inline void code_time(Io& io, Model& model, Column column, uint32_t width, uint64_t& low) {
  uint64_t difference = 0;
  if constexpr (Io::kWrites) {
    uint64_t unused = 64 - width;
    difference = static_cast<uint64_t>(static_cast<int64_t>((low - model.time) << unused) >> unused);
  }
  uint32_t shift = model.time_shift;
  // Neither below zero nor with low bits that the shift would lose.
  const bool plain = (difference & (mask_of(shift) | uint64_t{1} << 63)) != 0;
  uint64_t number = 0;
  if (io.short_number(column, number)) [[likely]] {  // a reader that checks only once
    difference = number << shift;
  } else if (io.escape(column, plain)) [[unlikely]] {
    number = zigzag(difference);
    io.number(column, number);
    difference = unzigzag(number);
  } else {
    number = difference >> shift;
    io.number(column, number);
    difference = number << shift;
  }
  model.time += difference;
  if constexpr (!Io::kWrites) low = model.time & mask_of(width);
}

// A value that is often one of those seen before in this chunk: index + 1, or 0 and the difference from the newest.
template <typename Io>
[[gnu::always_inline]] inline void code_symbol(Io& io, Dictionary& seen, Column column, uint64_t& value) {
  uint64_t index_1 = 0;
  if constexpr (Io::kWrites) {
    const uint32_t index = seen.find(value);
    index_1 = index != seen.count() ? index + 1 : 0;
  }
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

// An address near `base`, usually at a multiple of 16 from it.
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

// ---- Records. A Writer is given the fields; a Reader fills them in.

struct Call {
  uint64_t pc = 0, time = 0;  // low bits, as in the header
};

// The part of a ColumnModel that calls need, for a loop to keep in registers: constructed from it, written back by
// release() at the end.
struct CallColumnModel {
  explicit CallColumnModel(ColumnModel& all)
      : time(all.time), time_shift(all.time_shift), calls(all.calls), pcs(all.pcs) {}
  void release(ColumnModel& all) const {
    all.time = time;
    all.calls = calls;
  }

  uint64_t time;
  uint32_t time_shift;
  CallModel calls;
  Dictionary& pcs;
};

// Entry and exit are coded alike but not by one function: this is the innermost loop, and each has its own columns.
template <typename Io, typename Model>
[[gnu::always_inline]] inline void code_entry(Io& io, Model& model, bool foreseen, Call& call) {
  if (!foreseen)
    code_symbol(io, model.pcs, Column::kPcs, call.pc);
  else if constexpr (!Io::kWrites)
    call.pc = model.calls.next_entry();
  code_time(io, model, Column::kEntryTimes, PENNA_CALL_TIME_BITS, call.time);
  model.calls.entered(static_cast<uint32_t>(call.pc));
}

template <typename Io, typename Model>
[[gnu::always_inline]] inline void code_exit(Io& io, Model& model, bool foreseen, Call& call) {
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

// Flag bits in kAllocs; above them the origin of the address.
enum AllocFlag : uint8_t { kStackForeseen = 1, kSizeForeseen = 2, kFamilyForeseen = 4 };
enum AllocFrom : uint8_t {
  kFromNewest = 0,   // the most recently freed block of this size
  kFromRing = 1,     // one freed before it: which
  kFromBump = 2,     // right after the block allocated last
  kFromUnknown = 3,  // a freed block of unknown size: which
  kFromNear = 4,     // an address: difference from kFromBump
  kFromClass = 5,    // an address: difference from the most recently allocated block of this size
};

inline uint8_t alloc_flags(AllocModel& model, const Alloc& alloc, uint64_t next_stack, uint64_t& place) {
  auto size = static_cast<uint32_t>(alloc.size);
  auto& habit = model.habit(static_cast<uint32_t>(alloc.stack));
  unsigned flags = (next_stack == alloc.stack ? kStackForeseen : 0) | (habit.size == size ? kSizeForeseen : 0) |
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
  } else if (zigzag(alloc.address - model.ring(size).newest) < zigzag(alloc.address - model.next_bump()) / 4) {
    from = kFromClass;
  }
  return static_cast<uint8_t>(flags | from << 3);
}

template <typename Io>
void code_place(Io& io, AllocModel& model, uint32_t size, uint8_t from, uint64_t& place, uint64_t& address) {
  if (from == kFromBump) {
    address = model.next_bump();
    return;
  }
  if (from >= kFromNear)
    return code_address(io, Column::kAddresses, from == kFromClass ? model.ring(size).newest : model.next_bump(),
                        address);
  auto& ring = from == kFromUnknown ? model.unknown() : model.ring(size);
  if (from == kFromNewest)
    place = 0;
  else
    io.number(Column::kAddresses, place);
  if (place >= AllocModel::kRing) return io.fail();
  address = ring.at(static_cast<uint32_t>(place));
  ring.take(static_cast<uint32_t>(place));
}

// Most are below 256, and the same ones recur.
template <typename Io>
void code_size(Io& io, uint64_t& size) {
  if constexpr (Io::kWholeSizes) return io.number(Column::kSizes, size);
  auto low = static_cast<uint8_t>(size);
  uint64_t high = size >> 8;
  io.byte(Column::kSizes, low);
  io.number(Column::kSizesHigh, high);
  if constexpr (!Io::kWrites) size = high << 8 | low;
}

template <typename Io>
void code_alloc(Io& io, ColumnModel& all, Alloc& alloc) {
  AllocModel& model = all.use_allocs();
  uint64_t& next_stack = model.next_stack();
  uint8_t flags = 0;
  uint64_t place = 0;
  if constexpr (Io::kWrites) flags = alloc_flags(model, alloc, next_stack, place);
  io.byte(Column::kAllocs, flags);
  if ((flags & kStackForeseen) == 0)
    code_symbol(io, all.stacks, Column::kStacks, alloc.stack);
  else
    alloc.stack = next_stack;
  auto& habit = model.habit(static_cast<uint32_t>(alloc.stack));
  if ((flags & kSizeForeseen) == 0)
    code_size(io, alloc.size);
  else
    alloc.size = habit.size;
  if ((flags & kFamilyForeseen) == 0)
    io.number(Column::kFamilies, alloc.family);
  else
    alloc.family = habit.family;
  habit = {static_cast<uint32_t>(alloc.size), static_cast<uint32_t>(alloc.family)};
  code_place(io, model, static_cast<uint32_t>(alloc.size), flags >> 3, place, alloc.address);
  code_time(io, all, Column::kAllocTimes, PENNA_FULL_TIME_BITS, alloc.time);
  if (model.full()) return io.fail();
  model.allocated(alloc.address, static_cast<uint32_t>(alloc.size), static_cast<uint32_t>(alloc.stack));
  next_stack = static_cast<uint32_t>(alloc.stack);
  if constexpr (Io::kWrites) model.remember_newest();
}

struct Free {
  uint64_t time = 0, address = 0, family = 0;
};

// Which block of this chunk, + 1; 0 = a block from before it.
inline uint64_t block_code(const AllocModel& model, uint32_t number) {
  if (number == AllocModel::kNowhere) return 0;
  return 1 + (model.after_alloc ? model.count() - 1 - number
                                : zigzag(static_cast<uint64_t>(int64_t{number} - int64_t{model.last_freed()})));
}

inline uint32_t block_of(const AllocModel& model, uint64_t code) {
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

// Any other record: `count` words with the header in front, whose payload a writer only reads. To a reader, `count`
// says for how many there is room.
template <typename Io, typename Byte>
void code_full(Io& io, ColumnModel& all, uint64_t& kind_busy, uint64_t& count, uint64_t& time, Byte* payload) {
  const uint64_t room = std::min<uint64_t>(count, PENNA_MAX_RECORD_WORDS);
  io.number(Column::kKinds, kind_busy);
  io.number(Column::kKinds, count);
  if (kind_busy >= 128 || count == 0 || count > room) return io.fail();
  code_time(io, all, Column::kOtherTimes, PENNA_FULL_TIME_BITS, time);
  WordModel& model = all.use_words();
  auto kind = static_cast<uint32_t>(kind_busy & 63);
  WordModel::Words* before = nullptr;
  for (size_t i = 0; i + 1 < count; ++i) {
    uint64_t none = 0;
    uint64_t& base = i == 0 ? model.first(kind) : i <= before->size() ? (*before)[i - 1] : none;
    uint64_t word = 0, number = 0;
    if constexpr (Io::kWrites) {
      word = word_at(payload + 8 * i);
      number = zigzag(word - base);
    }
    io.number(Column::kWords, number);
    if constexpr (!Io::kWrites) {
      word = base + unzigzag(number);
      std::memcpy(payload + 8 * i, &word, sizeof word);
    }
    base = word;
    if (i == 0) before = &model.rest(kind, static_cast<uint32_t>(count), word);
  }
}

inline constexpr uint64_t kAllocShape = uint64_t{3} << 8 | PENNA_KIND_ALLOC << 2;
inline constexpr uint64_t kFreeShape = uint64_t{2} << 8 | PENNA_KIND_FREE << 2;
inline constexpr uint64_t kLockShape = uint64_t{2} << 8 | PENNA_KIND_LOCK << 2;
inline constexpr uint64_t kUnlockShape = uint64_t{2} << 8 | PENNA_KIND_UNLOCK << 2;

}  // namespace penna::columns
