// SPDX-License-Identifier: MIT
// FleetIds: what the numbers of one recording's tables are called among those of all.
//
// Why 128 bits: nobody hands out numbers to machines that do not know one another. A recording has its identity, a
// random one; its threads, processes and calls a hash of that and the number that `penna sql` shows. A stack is called
// by its contents (build-ids, addresses in the files, names), so that the same one of any number of recordings is one
// row.
// Invariant: the same recording gives the same ids, whenever and wherever it is asked.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "sql/source.h"

namespace penna {

struct FleetId {
  uint64_t high = 0, low = 0;
  auto operator<=>(const FleetId&) const = default;
};
std::string fleet_id_text(const FleetId& id);  // "01234567-89ab-cdef-0123-456789abcdef"

class FleetIds {
 public:
  // Walks all stacks of the source, and names their frames.
  explicit FleetIds(SqlSource& source);

  FleetId recording() const { return recording_; }
  // A thread, process or call.
  FleetId of(int64_t number) const { return {high_, static_cast<uint64_t>(number)}; }
  // Null: there is no such stack.
  const FleetId* stack(int64_t number) const;
  std::vector<FleetId> stacks() const;  // each once, sorted

 private:
  FleetId recording_;
  uint64_t high_;
  NumberMap<FleetId> stacks_;  // by the number of `penna sql`
};

}  // namespace penna
