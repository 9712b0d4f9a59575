// SPDX-License-Identifier: MIT
// Onlooker: who sees what is recorded while it is recorded; and FreshRecords, which gives him every record once.
//
// Why: chunks reach the collector when they are full, which may take hours. An onlooker wants what they hold now, and
// later only what came since. Chunks of one thread are told apart by their sequence, records in a chunk by their place.
// Invariant: of a thread, each committed record is given at most once, in the order in which the thread wrote them. Of
// threads beyond the budget only what is in full chunks is given, each as it comes.
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

// All on the collector's thread, which targets may be waiting for: copy and return.
class Onlooker {
 public:
  virtual ~Onlooker() = default;
  virtual void began(const Process& process) = 0;
  // `chunk`: a penna_chunk whose content are only the new records, for a RecordCursor. The process by its number.
  virtual void records(uint32_t process, std::span<const uint8_t> chunk) = 0;
  // As RecordingWriter::write_stacks().
  virtual void stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes) = 0;
  virtual void ended(const ProcessEnd& end) = 0;
  // All that there was has been given.
  virtual void up_to_date() = 0;
};

// An onlooker in front of another, who sees all that he sees.
class PassingOnlooker : public Onlooker {
 public:
  // May be null. Before the collector starts.
  void forward_to(Onlooker* next) { next_ = next; }

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
  Onlooker* next_ = nullptr;
};

// Of one process.
class FreshRecords {
 public:
  FreshRecords(uint32_t process, Onlooker& onlooker, std::shared_ptr<Budget> budget = nullptr)
      : process_(process), onlooker_(onlooker), share_(std::move(budget)) {}

  // A copy of a chunk that its thread still fills, up to `end`. False: not given, because one in front of it has not
  // come yet.
  bool open_chunk(std::span<const uint8_t> chunk, size_t end);
  // A copy of a chunk that its thread has given away, whole.
  void full_chunk(std::span<const uint8_t> chunk, size_t end);
  // No more chunks come: what waits for others does so in vain.
  void finish();

  size_t threads() const { return positions_.size(); }
  size_t waiting_bytes() const { return waiting_bytes_; }

 private:
  // Chunks that overtook an older one, which waits for a record to be committed.
  static constexpr size_t kMaxWaiting = 64;
  struct Position {
    uint64_t sequence = 0;  // of the chunk that comes next
    size_t offset = 0;      // of its first record that was not given
    std::map<uint64_t, std::vector<uint8_t>> waiting;
  };
  void give(Position& position, std::span<const uint8_t> chunk);
  void wait(Position& position, std::span<const uint8_t> chunk);
  void give_waiting(Position& position, bool all);

  uint32_t process_;
  Onlooker& onlooker_;
  Budget::Share share_;
  std::map<uint32_t, Position> positions_;  // by thread serial; that of 0 is unused
  size_t waiting_bytes_ = 0;                // of all of them
  std::vector<uint8_t> fresh_;              // one chunk
};

}  // namespace penna
