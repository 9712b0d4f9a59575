// SPDX-License-Identifier: MIT
// Of which threads the events are wanted: --tid and --thread, while recording and when reading.
//
// Why here: both sides must mean the same threads by the same words.
// Invariant: a thread that is meant once stays so, whatever it is called later.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recording/records.h"
#include "recording/types.h"

namespace penna {

struct ThreadChoice {
  std::vector<std::string> tids, names;  // as they were typed; a name may be a number, too

  bool any() const { return !tids.empty() || !names.empty(); }
  bool means(uint32_t tid) const;
  bool means(const std::string& name) const;  // by a pattern
};

// As a recording says what it was made with: "tid=12", "thread=worker*".
std::vector<std::string> thread_words(const ThreadChoice& choice);
ThreadChoice recorded_threads(const Session& session);

// Which threads of a process are meant, as far as their names are known: for who sees them come.
class ThreadSelection {
 public:
  static constexpr size_t kMaxThreads = 1 << 16;  // that are known to be meant; further ones are taken for meant

  explicit ThreadSelection(std::shared_ptr<const ThreadChoice> choice) : choice_(std::move(choice)) {}

  // A THREAD record, in a chunk with this header.
  void learn(const Record& record, const penna_chunk& header);
  bool means(const penna_chunk& header) const {
    return meant_.size() >= kMaxThreads || meant_.count(header.thread_serial) != 0 || choice_->means(header.tid);
  }
  // A thread that is not meant may be, once it has another name.
  bool may_change() const { return !choice_->names.empty(); }

 private:
  std::shared_ptr<const ThreadChoice> choice_;
  std::unordered_set<uint32_t> meant_;  // serials
};

}  // namespace penna
