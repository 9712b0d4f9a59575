// SPDX-License-Identifier: MIT
// See condition.h.
#include "collect/conditions/condition.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "collect/conditions/watches.h"

namespace penna {

std::unique_ptr<ForwardingObserver> watch_for(const SnapshotCondition& condition, ConditionHelp help) {
  using Kind = SnapshotCondition::Kind;
  switch (condition.kind) {
    case Kind::kWait: return watch_waits(condition, std::move(help));
    case Kind::kSpan: return watch_spans(condition, std::move(help));
    case Kind::kCall: return watch_calls(condition, std::move(help));
    case Kind::kPoint: return watch_points(condition, std::move(help));
    case Kind::kRss: return watch_rss(condition, std::move(help));
    case Kind::kLive: return watch_live(condition, std::move(help));
    case Kind::kCrash: return watch_crashes(condition, std::move(help));
    case Kind::kEnd: break;
  }
  PENNA_CHECK(false);
  return nullptr;
}

// statm: total, resident, ... in pages.
std::optional<uint64_t> resident_bytes(uint32_t pid) {
  const Result<std::string> text = read_file(in_proc(pid, "statm"), 256);
  const size_t second = text ? text->find(' ') : std::string::npos;
  if (second == std::string::npos) return {};
  return std::strtoull(text->c_str() + second, nullptr, 10) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace penna
