// SPDX-License-Identifier: MIT
// See directory.h.
#include "view/data/directory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "export/text/json_writer.h"

namespace penna {
namespace {

constexpr size_t kMostMatches = 200;

struct Sums {
  uint64_t count = 0;
  int64_t total_ns = 0;
};
using SumsByName = std::map<uint32_t, Sums>;

void add(const SumsByName& sums, const char* kind, std::vector<DirectoryEntry>* entries) {
  for (const auto& [id, sum] : sums) entries->push_back({kind, id, sum.count, sum.total_ns});
}

bool holds(std::string_view name, std::string_view text) {
  const auto same = [](char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == std::tolower(static_cast<unsigned char>(other));
  };
  return std::search(name.begin(), name.end(), text.begin(), text.end(), same) != name.end();
}

// Not thread_label(): that identifies threads by tid, which several may have had.
std::string thread_name(const ThreadSummary& one) {
  return one.name.empty() ? fmt::format("tid {}", one.tid) : fmt::format("{} (tid {})", one.name, one.tid);
}

}  // namespace

Directory::Directory(ViewSource& data) {
  SumsByName functions, locks, points;
  data.store().each_name([&](TrackStore::Named kind, uint32_t name, uint64_t count, int64_t total) {
    Sums& sums = (kind == TrackStore::Named::kFunction ? functions
                  : kind == TrackStore::Named::kLock   ? locks
                                                       : points)[name];
    sums.count += count;
    sums.total_ns += total;
  });
  add(functions, "function", &entries_);
  add(locks, "lock", &entries_);
  add(points, "point", &entries_);
  const std::shared_ptr<const Summary> held = data.summary();
  const Summary& summary = *held;
  for (uint32_t i = 0; i < summary.threads.size(); ++i) {
    threads_.push_back(thread_name(summary.threads[i]));
    entries_.push_back({"thread", i, summary.threads[i].total_events(), 0});
  }
  std::stable_sort(entries_.begin(), entries_.end(), [](const DirectoryEntry& one, const DirectoryEntry& other) {
    return one.total_ns != other.total_ns ? one.total_ns > other.total_ns : one.count > other.count;
  });
}

const std::string& Directory::name_of(const DirectoryEntry& entry, const NameIds& ids) const {
  return std::string_view(entry.kind) == "thread" ? threads_[entry.id] : ids.name(entry.id);
}

std::string Directory::find(std::string_view text, const NameIds& ids) const {
  return json_text([&](JsonWriter& json) {
    json.key("matches");
    json.begin_array();
    size_t matches = 0;
    for (const DirectoryEntry& entry : entries_) {
      const std::string& name = name_of(entry, ids);
      if (!holds(name, text) || ++matches > kMostMatches) continue;
      json.begin_object();
      json.field("kind", entry.kind);
      json.field("name", name);
      json.field("id", entry.id);
      json.field("count", entry.count);
      json.field("total_ns", entry.total_ns);
      json.end_object();
    }
    json.end_array();
    json.field("left_out", uint64_t{matches > kMostMatches ? matches - kMostMatches : 0});
  });
}

}  // namespace penna
