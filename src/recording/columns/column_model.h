// SPDX-License-Identifier: MIT
// ColumnModel: the state that encoder and decoder of columns share after each record, and predict the next one from.
//
// Invariant: everything here is computed from records already coded, so both sides agree. All of it is reset with each
// chunk (reset()): a chunk can be read alone. Indices that come from a file are checked by their reader.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>

#include "penna/channel.h"

namespace penna {

inline constexpr size_t kMaxChunkWords = PENNA_CHUNK_BYTES / 8;

inline uint32_t hash_bits(uint64_t value, uint32_t bits) {
  return static_cast<uint32_t>((value * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits));
}

// Values seen in this chunk, in order of appearance. Only the encoder looks them up by value.
class Dictionary {
 public:
  void reset() { count_ = 0; }
  uint32_t count() const { return count_; }
  uint64_t at(uint32_t index) const { return values_[index]; }
  uint64_t newest() const { return count_ != 0 ? values_[count_ - 1] : 0; }
  bool full() const { return count_ == values_.size(); }
  void add(uint64_t value) { values_[count_++] = value; }
  std::span<const uint64_t> all() const { return {values_.data(), count_}; }

  // The index of `value`, or count(). Slots of earlier chunks need no clearing: they are checked.
  uint32_t find(uint64_t value) const {
    uint32_t index = slots_[hash_bits(value, kSlotBits)];
    return index < count_ && values_[index] == value ? index : count_;
  }
  void remember_newest() { slots_[hash_bits(newest(), kSlotBits)] = static_cast<uint16_t>(count_ - 1); }

 private:
  static constexpr uint32_t kSlotBits = 12;
  uint32_t count_ = 0;
  std::array<uint64_t, kMaxChunkWords> values_;
  std::array<uint16_t, 1 << kSlotBits> slots_{};
};

// Predicts a value from the context it followed last time.
class Foresight {
 public:
  void reset() { std::memset(next_.data(), 0, sizeof next_); }
  uint64_t& after(uint64_t context) { return next_[hash_bits(context, 11)]; }

 private:
  std::array<uint64_t, 1 << 11> next_;
};

// Which function calls which. A small view of its tables: a decoder's loop copies it into registers.
class CallModel {
 public:
  struct Tables {
    Foresight foresight;
    std::array<uint32_t, 1024> stack;  // deeper frames overwrite the outermost: mispredicted, but still coded
  };
  explicit CallModel(Tables& tables) : tables_(&tables) {}

  void reset() {
    tables_->foresight.reset();
    depth_ = 0;
    last_exit_ = 0;
    top_ = 0;
  }
  uint32_t next_entry() { return static_cast<uint32_t>(tables_->foresight.after(context())); }
  uint32_t next_exit() const { return top_; }

  void entered(uint32_t pc) {
    tables_->foresight.after(context()) = pc;
    tables_->stack[depth_++ & kMask] = top_ = pc;
    last_exit_ = 0;
  }
  void exited(uint32_t pc) {
    if (depth_ != 0) --depth_;
    top_ = depth_ != 0 ? tables_->stack[(depth_ - 1) & kMask] : 0;
    last_exit_ = pc;
  }

 private:
  static constexpr uint32_t kMask = std::tuple_size_v<decltype(Tables::stack)> - 1;
  uint64_t context() const { return uint64_t{top_} << 32 | last_exit_; }

  Tables* tables_;
  uint32_t depth_ = 0, top_ = 0, last_exit_ = 0;
};

// Allocator behavior: the block freed last is handed out first, new blocks lie one after the other.
class AllocModel {
 public:
  static constexpr uint32_t kRing = 16;
  static constexpr uint32_t kNowhere = UINT32_MAX;
  // The most recently freed blocks; a place counts back from the newest. `tags` holds a one-byte hash of each entry, so
  // that most failing searches end after two words.
  struct Ring {
    uint32_t head = 0;
    uint64_t newest = 0;  // most recently allocated block of this class
    std::array<uint64_t, kRing> entries{};
    std::array<uint64_t, kRing / 8> tags{};

    uint64_t at(uint32_t place) const { return entries[(head - 1 - place) % kRing]; }
    void set(uint32_t slot, uint64_t address) {
      entries[slot] = address;
      uint32_t shift = slot % 8 * 8;
      tags[slot / 8] = (tags[slot / 8] & ~(uint64_t{0xff} << shift)) | uint64_t{hash_bits(address, 8)} << shift;
    }
    void push(uint64_t address) { set(head++ % kRing, address); }
    void take(uint32_t place) {
      for (; place > 0; --place) set((head - 1 - place) % kRing, entries[(head - place) % kRing]);
      set(--head % kRing, 0);
    }
    uint32_t find(uint64_t address) const {
      constexpr uint64_t kOnes = UINT64_C(0x0101010101010101);
      if (at(0) == address) return 0;
      const uint64_t tag = hash_bits(address, 8) * kOnes;
      for (uint32_t first = 0; first < kRing; first += 8) {
        const uint64_t other = tags[first / 8] ^ tag;
        uint64_t hits = (other - kOnes) & ~other & (kOnes << 7);  // bytes that are equal, and some after them
        for (; hits != 0; hits &= hits - 1) {
          const uint32_t slot = first + static_cast<uint32_t>(__builtin_ctzll(hits)) / 8;
          if (entries[slot] == address) return (head - 1 - slot) % kRing;
        }
      }
      return kNowhere;
    }
  };
  struct Habit {  // per allocating stack
    uint32_t size;
    uint32_t family;
  };

  void reset() {
    for (Ring& ring : rings_) ring = {};
    std::memset(habits_.data(), 0, sizeof habits_);
    count_ = 0;
    last_stack_ = before_last_ = 0;
    last_freed_ = 0;
    last_freed_address_ = 0;
    bump_ = 0;
    after_alloc = false;
    foresight_.reset();
  }

  uint64_t& next_stack() { return foresight_.after(last_stack_ << 32 | before_last_); }
  Habit& habit(uint32_t stack) { return habits_[hash_bits(stack, 10)]; }
  uint64_t next_bump() const { return bump_; }
  // Freed blocks of this size; freed blocks of unknown size.
  Ring& ring(uint32_t size) { return rings_[class_of(size)]; }
  Ring& unknown() { return rings_[0]; }

  void allocated(uint64_t address, uint32_t size, uint32_t stack) {
    before_last_ = static_cast<uint32_t>(last_stack_);
    last_stack_ = stack;
    bump_ = address + ((uint64_t{size} + 23) & ~uint64_t{15});
    if (bump_ - address < 32) bump_ = address + 32;
    ring(size).newest = address;
    blocks_[count_] = {address, size, true};
    ++count_;
    after_alloc = true;
  }
  // A block of this chunk, by its number.
  void freed(uint32_t number) {
    Block& block = blocks_[number];
    block.alive = false;
    ring(block.size).push(block.address);
    last_freed_ = number;
    last_freed_address_ = block.address;
    after_alloc = false;
  }
  void freed_unknown(uint64_t address) {
    unknown().push(address);
    last_freed_address_ = address;
    after_alloc = false;
  }

  uint32_t count() const { return count_; }
  bool full() const { return count_ == blocks_.size(); }
  bool alive(uint32_t number) const { return blocks_[number].alive; }
  uint64_t address(uint32_t number) const { return blocks_[number].address; }
  uint32_t last_freed() const { return last_freed_; }
  uint64_t last_freed_address() const { return last_freed_address_; }

  // Encoder only.
  void remember_newest() {
    slots_[hash_bits(blocks_[count_ - 1].address, kSlotBits)] = static_cast<uint16_t>(count_ - 1);
  }
  uint32_t find_block(uint64_t address) const {
    uint32_t number = slots_[hash_bits(address, kSlotBits)];
    return number < count_ && blocks_[number].alive && blocks_[number].address == address ? number : kNowhere;
  }

  bool after_alloc = false;

 private:
  struct Block {
    uint64_t address;
    uint32_t size;
    bool alive;
  };
  static constexpr uint32_t kSlotBits = 12;
  static uint32_t class_of(uint32_t size) {
    return static_cast<uint32_t>(std::min<uint64_t>((uint64_t{size} + 23) >> 4, 127));
  }

  Foresight foresight_;
  std::array<Ring, 128> rings_;
  std::array<Habit, 1 << 10> habits_;
  std::array<Block, kMaxChunkWords / 3 + 1> blocks_;
  std::array<uint16_t, 1 << kSlotBits> slots_{};
  uint32_t count_ = 0;
  uint64_t last_stack_ = 0;
  uint32_t before_last_ = 0;
  uint32_t last_freed_ = 0;
  uint64_t last_freed_address_ = 0;
  uint64_t bump_ = 0;
};

// Records without dedicated columns: the previous payload of a record of this kind, length and first word.
class WordModel {
 public:
  using Words = std::array<uint64_t, 16>;
  void reset() { std::memset(this, 0, sizeof *this); }
  uint64_t& first(uint32_t kind) { return first_[kind]; }
  Words& rest(uint32_t kind, uint32_t words, uint64_t first_word) {
    return rest_[hash_bits(first_word << 14 | kind << 8 | words, 6)];
  }

 private:
  std::array<uint64_t, 64> first_;
  std::array<Words, 64> rest_;
};

struct ColumnModel {
  uint64_t time = 0;
  uint32_t time_shift = 0;
  CallModel::Tables call_tables;
  CallModel calls{call_tables};
  AllocModel allocs;
  WordModel words;
  Foresight next_lock;
  uint64_t last_lock = 0;
  Dictionary pcs, stacks, locks;
  bool allocs_used = false, words_used = false, locks_used = false;

  ColumnModel() = default;
  ColumnModel(const ColumnModel&) = delete;  // `calls` points into it
  ColumnModel& operator=(const ColumnModel&) = delete;
  void reset(uint64_t time_begin) {
    time = time_begin;
    time_shift = 0;
    calls.reset();
    pcs.reset();
    stacks.reset();
    locks.reset();
    last_lock = 0;
    allocs_used = words_used = locks_used = false;
  }
  // The rest is cleared on first use: most chunks hold one kind of event.
  AllocModel& use_allocs() {
    if (!allocs_used) allocs.reset();
    allocs_used = true;
    return allocs;
  }
  WordModel& use_words() {
    if (!words_used) words.reset();
    words_used = true;
    return words;
  }
  Foresight& use_locks() {
    if (!locks_used) next_lock.reset();
    locks_used = true;
    return next_lock;
  }
};

}  // namespace penna
