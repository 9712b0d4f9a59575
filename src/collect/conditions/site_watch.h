// SPDX-License-Identifier: MIT
// SiteWatch: a watch for points of some sites.
//
// Invariant: a point is passed on once, even if another thread describes its site later; of those whose site is never
// described, the first kMostWaiting are kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "collect/conditions/record_watch.h"

namespace penna {

// Whether the pattern, NAME or PROVIDER:NAME, matches; an empty one matches all.
bool matches_site(const std::string& pattern, const Site& site);

class SiteWatch : public RecordWatch {
 public:
  SiteWatch(const SnapshotCondition& condition, ConditionHelp help)
      : RecordWatch(condition, std::move(help), {PENNA_KIND_POINT, PENNA_KIND_SITE, PENNA_KIND_LOST}) {}

 protected:
  virtual bool wants(const Site& site) const = 0;
  virtual void pass(const OpenTimes::Thread& thread, const Site& site, const Record& record) = 0;
  virtual void lose(const OpenTimes::Thread&) {}
  virtual void forget_more(uint32_t) {}

 private:
  static constexpr size_t kMostSites = 1 << 20, kMostWaiting = 1024;  // of a process
  struct Waiting {
    OpenTimes::Thread thread;
    Record record;
    std::vector<uint8_t> payload;
  };
  struct OfProcess {
    NumberMap<std::optional<Site>> sites;  // by id; those that are not wanted are empty
    std::vector<Waiting> waiting;          // points whose site is unknown
  };
  void see(const OpenTimes::Thread& thread, const Record& record) override;
  void forget(uint32_t process) override;
  void learn(OfProcess& known, Site site);

  std::map<uint32_t, OfProcess> processes_;
};

}  // namespace penna
