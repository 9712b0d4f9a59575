// SPDX-License-Identifier: MIT
// KeptAnswers: sentences that were worked out from all events of a large recording, kept in its index for the next
// start.
//
// Why: reading 10^9 events takes a minute or more, and what stands out in them does not change.
// Invariant: a text is shown only for the recording, the names and the program that it was made with; the key says
// which. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace penna {

class KeptAnswers {
 public:
  // `paths`: of the index (IndexMaking::paths); none: nothing is kept. Reads what is there.
  KeptAnswers(std::vector<std::string> paths, uint64_t identity, const std::string& key);

  std::optional<std::string> find(const std::string& name) const;
  void keep(const std::string& name, const std::string& text);
  // The index has its name, maybe a new one in place of another: what is kept is written there from now on.
  void index_is_made();

 private:
  void write() const;

  const std::vector<std::string> paths_;
  const uint64_t identity_;
  const std::string key_;
  mutable std::mutex mutex_;  // guards the rest
  std::map<std::string, std::string> texts_;
  bool is_made_ = false;
};

}  // namespace penna
