// SPDX-License-Identifier: MIT
// See settings.h.
#include "collect/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/nearest_name.h"
#include "base/pattern.h"
#include "collect/clocks.h"
#include "filter/where.h"
#include "penna/version.h"

namespace penna {
namespace {

// "db:*" becomes "+db:*", "!db:*" becomes "-db:*".
std::string signed_pattern(const std::string& pattern) {
  return pattern[0] == '!' ? "-" + pattern.substr(1) : "+" + pattern;
}

// Patterns of stacks come last: the beginning of the list determines its default.
std::vector<std::string> encoded_patterns(const RecordSettings& settings) {
  std::vector<std::string> patterns;
  for (const std::string& pattern : settings.point_patterns) patterns.push_back(signed_pattern(pattern));
  for (const std::string& pattern : settings.stacked_points) patterns.push_back("@" + pattern);
  return patterns;
}

// Including its slots in the hash table.
constexpr uint64_t kNodeBytes = sizeof(penna_stack_node) + 2 * sizeof(uint32_t);

// A target uses no more memory than its stacks need, and at most an eighth of the machine's memory.
uint32_t most_stack_nodes() {
  constexpr uint32_t kLeast = 1 << 20, kMost = 1 << 25;
  const auto memory = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L)) *
                      static_cast<uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
  uint32_t nodes = kLeast;
  while (nodes < kMost && nodes * 2 * kNodeBytes <= memory / 8) nodes *= 2;
  return nodes;
}

}  // namespace

Result<uint32_t> classes_of(const std::vector<std::string>& names) {
  uint32_t classes = 0;
  for (const std::string& name : names) {
    const auto* found = std::find(std::begin(kClassNames), std::end(kClassNames), name);
    if (found == std::end(kClassNames))
      return Error{there_is_no("kind", name, std::vector<std::string>(std::begin(kClassNames), std::end(kClassNames)))};
    classes |= 1u << (found - std::begin(kClassNames));
  }
  return classes;
}

Result<> check_settings(const RecordSettings& settings) {
  size_t room = sizeof(penna_config::point_patterns) - 1;  // the empty pattern that ends the list
  for (const std::string& pattern : settings.point_patterns) {
    if (pattern.empty() || pattern == "!")
      return Error{"an --event pattern is empty: write PROVIDER:NAME, where * stands for anything"};
    PENNA_TRY(check_pattern(pattern.substr(pattern[0] == '!')));
  }
  for (const std::string& pattern : encoded_patterns(settings)) {
    if (pattern.size() + 1 > room)
      return Error{"the patterns of points (-e, -T) are too long: together they have room for 469 characters"};
    room -= pattern.size() + 1;
  }
  return ok();
}

uint32_t time_shift_of(const RecordSettings& settings) { return settings.classes == 1u << PENNA_ALLOC ? 5 : 0; }

penna_config config_for(const RecordSettings& settings) {
  constexpr uint64_t kUsualTicksPerNs = 3;  // measuring takes a moment, and few programs need it
  penna_config config{};
  config.magic = PENNA_CHANNEL_MAGIC;
  config.version = PENNA_ABI_VERSION;
  config.classes = settings.classes;
  config.on_full = settings.on_full;
  const uint32_t pool = settings.pool_mib * ((1 << 20) / PENNA_CHUNK_BYTES);
  config.backlog_limit = pool;
  // Besides the chunks in transit every thread holds one, most of which is never touched: room for 3,000 threads.
  config.chunk_count = std::min<uint32_t>((pool + 3072 + 63) & ~63u, PENNA_MAX_CHUNKS);
  config.max_nodes = most_stack_nodes();
  config.stack_depth = settings.stack_depth;
  config.sample_bytes = settings.sample_bytes;
  config.lock_sample = settings.lock_sample;
  config.timed_wait = kTimedWaitNs * kUsualTicksPerNs;
  if (settings.min_wait_ns != 0 || settings.long_hold_ns != 0 || settings.timed_locks) {
    const double ticks = measure_ticks_per_ns(std::chrono::milliseconds(5));
    config.min_wait = static_cast<uint64_t>(static_cast<double>(settings.min_wait_ns) * ticks);
    config.long_hold = static_cast<uint64_t>(static_cast<double>(settings.long_hold_ns) * ticks);
    config.timed_wait = static_cast<uint64_t>(static_cast<double>(kTimedWaitNs) * ticks);
  }
  config.options = settings.free_stacks ? static_cast<uint32_t>(PENNA_OPTION_FREE_STACKS) : 0;
  size_t at = 0;
  for (const std::string& pattern : encoded_patterns(settings)) {
    if (at + pattern.size() + 2 > sizeof config.point_patterns) break;  // check_settings() has rejected it
    std::memcpy(config.point_patterns + at, pattern.c_str(), pattern.size() + 1);
    at += pattern.size() + 1;
  }
  return config;
}

// The chunks in transit get least, because a program can wait for these; nobody waits for a thread's, or for stacks.
// Before a program has begun, all is free, and is needed later: hence the parts of the limit.
void fit_into(const GroupMemory& memory, penna_config& config) {
  constexpr uint32_t kLeastInTransit = 4, kLeastChunks = 64, kLeastNodes = 1024;  // as rendezvous.cc takes them
  const auto part = [&](uint64_t of_limit, uint64_t of_free) {
    return std::min(memory.limit / of_limit, memory.free / of_free);
  };
  const uint64_t in_transit = std::max<uint64_t>(part(32, 8) / PENNA_CHUNK_BYTES, kLeastInTransit);
  const uint64_t chunks = (in_transit + part(8, 4) / PENNA_CHUNK_BYTES) & ~uint64_t{63};
  const uint64_t nodes = std::max<uint64_t>(part(16, 8) / kNodeBytes, kLeastNodes);
  config.backlog_limit = static_cast<uint32_t>(std::min<uint64_t>(config.backlog_limit, in_transit));
  config.chunk_count =
      static_cast<uint32_t>(std::min<uint64_t>(config.chunk_count, std::max<uint64_t>(chunks, kLeastChunks)));
  while (config.max_nodes > nodes) config.max_nodes /= 2;
}

Session describe_session(const RecordSettings& settings, const std::vector<std::string>& command) {
  Session session = describe_host();
  session.penna_version = PENNA_VERSION;
  session.command = command;
  session.classes = settings.classes;
  session.time_shift = time_shift_of(settings);
  std::error_code unknown;
  session.cwd = std::filesystem::current_path(unknown).string();
  session.options.push_back(fmt::format("on-full={}", settings.on_full == PENNA_ON_FULL_BLOCK ? "block" : "drop"));
  session.options.push_back(fmt::format("pool={} MiB", settings.pool_mib));
  session.options.push_back(fmt::format("stack-depth={}", settings.stack_depth));
  if (settings.sample_bytes != 0) session.options.push_back(fmt::format("sample-bytes={}", settings.sample_bytes));
  if (settings.free_stacks) session.options.emplace_back("free-stacks");
  if (settings.lock_sample > 1) session.options.push_back(fmt::format("sample-locks={}", settings.lock_sample));
  if (settings.min_wait_ns != 0) session.options.push_back(fmt::format("min-wait={}ns", settings.min_wait_ns));
  if (settings.long_hold_ns != 0) session.options.push_back(fmt::format("holds={}ns", settings.long_hold_ns));
  for (const std::string& pattern : settings.point_patterns) session.options.push_back("event=" + pattern);
  for (const Where& condition : settings.conditions) session.options.push_back("where=" + condition.text());
  session.options.insert(session.options.end(), settings.filter_words.begin(), settings.filter_words.end());
  return session;
}

}  // namespace penna
