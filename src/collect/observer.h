// SPDX-License-Identifier: MIT
// Observer: sees events while they are being recorded; and FreshRecords, which passes every record on exactly once.
//
// Why: chunks reach the collector when they are full, which may take hours. An observer wants their contents now, and
// later only what was added. A thread's chunks are identified by their sequence number, records in a chunk by their
// offset.
// Invariant: each committed record of a thread is passed on at most once, in the order in which the thread wrote them.
// For threads beyond the budget only full chunks are passed on, as they arrive.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collect/budget.h"
#include "recording/types.h"

namespace penna {

// Called on the collector's thread, which targets may be waiting for: copy and return.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void began(const Process& process) = 0;
  // `chunk`: a penna_chunk that contains only the new records, for a RecordCursor. `process`: by its number.
  virtual void records(uint32_t process, std::span<const uint8_t> chunk) = 0;
  // Like RecordingWriter::write_stacks().
  virtual void stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes) = 0;
  virtual void ended(const ProcessEnd& end) = 0;
  // Everything available has been passed on.
  virtual void up_to_date() = 0;
};

// An observer that forwards everything to another one.
class ForwardingObserver : public Observer {
 public:
  // May be null. Call before the collector starts.
  void forward_to(Observer* next) { next_ = next; }

  void began(const Process& process) override {
    if (next_ != nullptr) next_->began(process);
  }
  void records(uint32_t process, std::span<const uint8_t> chunk) override {
    if (next_ != nullptr) next_->records(process, chunk);
  }
  void stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes) override {
    if (next_ != nullptr) next_->stacks(process, first, nodes);
  }
  void ended(const ProcessEnd& end) override {
    if (next_ != nullptr) next_->ended(end);
  }
  void up_to_date() override {
    if (next_ != nullptr) next_->up_to_date();
  }

 private:
  Observer* next_ = nullptr;
};

// For one process.
class FreshRecords {
 public:
  FreshRecords(uint32_t process, Observer& observer, std::shared_ptr<Budget> budget = nullptr)
      : process_(process), observer_(observer), share_(std::move(budget)) {}

  // A copy of a chunk that its thread is still filling, up to `end`. False: not passed on, because an earlier one has
  // not arrived yet.
  bool open_chunk(std::span<const uint8_t> chunk, size_t end);
  // A copy of a whole chunk that its thread has handed over.
  void full_chunk(std::span<const uint8_t> chunk, size_t end);
  // No more chunks come: those that wait for earlier ones stop waiting.
  void finish();

  size_t threads() const { return positions_.size(); }
  size_t waiting_bytes() const { return waiting_bytes_; }

 private:
  // Chunks that overtook an earlier one, in which a record is not committed yet.
  static constexpr size_t kMaxWaiting = 64;
  struct Position {
    uint64_t sequence = 0;  // of the next chunk
    size_t offset = 0;      // of its first record that has not been passed on
    std::map<uint64_t, std::vector<uint8_t>> waiting;
  };
  void pass_on(Position& position, std::span<const uint8_t> chunk);
  void wait(Position& position, std::span<const uint8_t> chunk);
  void pass_on_waiting(Position& position, bool all);

  uint32_t process_;
  Observer& observer_;
  Budget::Share share_;
  std::map<uint32_t, Position> positions_;  // by thread serial; serial 0 is unused
  size_t waiting_bytes_ = 0;                // of all threads
  std::vector<uint8_t> fresh_;              // one chunk
};

}  // namespace penna
