// SPDX-License-Identifier: MIT
// Chunks in which anything may follow anything: every kind of event, regular and surprising ones. Test-only.
//
// Invariant: the same generator gives the same chunk with every compiler: at most one random number in an expression
// without an order of evaluation (arguments, sums), so that a failure with one can be examined with the other.
#pragma once

#include <random>

#include "chunk_builder.h"

namespace penna {

class RandomChunk {
 public:
  // Programs in miniature; `random` decides what comes next. At most `limit` bytes.
  RandomChunk(std::mt19937_64& random, size_t limit, uint32_t serial, uint64_t sequence)
      : random_(random), time_(first_time(random)), chunk_(time_, serial, sequence) {
    while (chunk_.size() + kRoom < limit) step();
  }
  // As its thread gave it away.
  std::vector<uint8_t> take() {
    auto bytes = chunk_.close(time_);
    bytes.resize(chunk_.size());
    return bytes;
  }

 private:
  static constexpr size_t kRoom = 72;  // for the largest record that a step adds

  static uint64_t first_time(std::mt19937_64& random) {
    const uint64_t bits = random(), shift = random() % 40;
    const bool coarse = random() % 2 != 0;
    return coarse ? bits >> shift & ~uint64_t{3} : bits >> shift;
  }
  uint64_t below(uint64_t limit) { return random_() % limit; }
  bool once_in(uint64_t times) { return random_() % times == 0; }

  uint64_t later() {
    uint64_t by = below(60) * 2;
    if (once_in(8)) by >>= 6;
    if (once_in(64)) by <<= 20;
    return time_ = (time_ + (by << grid_)) >> grid_ << grid_;
  }
  void step() {
    switch (below(16)) {
      case 0:
      case 1:
      case 2: return enter();
      case 3:
      case 4: return leave();
      case 5:
      case 6: return allocate();
      case 7: return free();
      case 8:
      case 9: return lock();
      case 10: return wait();
      case 11: return point();
      case 12: return rare();
      case 13: return torn();
      case 14: return surprise();
      default: return large();
    }
  }
  void enter() {
    stack_.push_back(0x5555'0000'1000 + below(30) * 16);
    chunk_.entry(stack_.back(), later());
  }
  void leave() {
    if (stack_.empty() || once_in(50)) stack_.push_back(random_());
    chunk_.exit(stack_.back(), later());
    stack_.pop_back();
  }
  void allocate() {
    uint64_t size = below(5) * 24;
    if (once_in(20)) size = random_() & 0xffffffff;
    uint64_t address = once_in(3) ? top_ += 48 : 0x1000 + below(40) * 48;
    if (once_in(30)) address = random_();
    const uint64_t family = once_in(6) ? below(PENNA_FAMILY_COUNT) << 56 : 0;
    const auto stack = static_cast<uint32_t>(below(6));
    chunk_.full(PENNA_KIND_ALLOC, later(), penna_alloc{address | family, stack, static_cast<uint32_t>(size)});
    blocks_.push_back(address);
  }
  void large() {
    if (!once_in(8)) return;
    const uint64_t address = random_() >> 16;
    const auto stack = static_cast<uint32_t>(below(6));
    chunk_.full(PENNA_KIND_ALLOC_LARGE, later(), penna_alloc_large{address, stack, 0, uint64_t{1} << (32 + below(16))});
    blocks_.push_back(address);
  }
  void free() {
    if (blocks_.empty() || once_in(20)) {
      const uint64_t address = random_();
      blocks_.push_back(address >> below(32));
    }
    std::swap(blocks_[below(blocks_.size())], blocks_.back());
    const uint64_t family = once_in(10) ? uint64_t{PENNA_FAMILY_REALLOC} << 56 : 0;
    chunk_.full(PENNA_KIND_FREE, later(), penna_free{blocks_.back() | family});
    if (family != 0 && once_in(2))
      chunk_.full(PENNA_KIND_REALLOC_FAILED, later(), penna_free{blocks_.back() | family});
    else if (!once_in(10))
      blocks_.pop_back();
  }
  void lock() {
    const uint64_t address = 0x7000 + below(3) * 40;
    const uint64_t what = below(9);
    const uint32_t kind = what < 4 ? PENNA_KIND_LOCK : what < 8 ? PENNA_KIND_UNLOCK : PENNA_KIND_LOCK_BUSY;
    chunk_.full(kind, later(), penna_lock{address});
  }
  void wait() {
    const uint64_t begin = time_, address = 0x7000 + below(3) * 40;
    const auto end = static_cast<uint32_t>(below(4)), stack = static_cast<uint32_t>(below(6));
    const uint64_t now = later();
    if (once_in(3))
      chunk_.full(PENNA_KIND_COND_WAIT, now, penna_cond_wait{address, address + 8, begin, stack, end});
    else
      chunk_.full(PENNA_KIND_LOCK_WAIT, now, penna_lock_wait{address, begin, stack, 4001 + stack, end, 0});
  }
  void point() {
    const auto site = static_cast<uint32_t>(below(3));
    const std::string text(below(24), 'p');
    chunk_.full(PENNA_KIND_POINT, later(), penna_point{site, 0}, text);
  }
  void rare() {
    if (!once_in(4)) return;
    const auto count = static_cast<uint32_t>(below(100));
    if (once_in(2))
      chunk_.full(PENNA_KIND_LOST, later(), penna_lost{{count, 0, count / 2, 1}});
    else
      chunk_.full(PENNA_KIND_BLOCKED, later(), penna_blocked{uint64_t{count} * 1000});
  }
  void torn() {
    if (!once_in(8)) return;
    const uint64_t address = random_();
    chunk_.full(PENNA_KIND_ALLOC, later(), penna_alloc{address, 3, 4}, "", PENNA_TAG_BUSY);
  }
  void surprise() {
    if (once_in(8)) chunk_.word(0).word(0);
    if (once_in(40)) chunk_.word(random_());
    if (once_in(8)) time_ -= below(100);  // a nested handler
  }

  std::mt19937_64& random_;
  uint64_t time_;
  uint32_t grid_ = random_() % 3 == 0 ? 5 : 0;  // times are multiples of 2^grid_
  ChunkBuilder chunk_;
  std::vector<uint64_t> stack_, blocks_;
  uint64_t top_ = 0x5555'0000'1000;
};

inline std::vector<uint8_t> random_chunk(std::mt19937_64& random, size_t limit, uint32_t serial = 1,
                                         uint64_t sequence = 0) {
  return RandomChunk(random, limit, serial, sequence).take();
}

}  // namespace penna
