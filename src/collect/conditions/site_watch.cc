// SPDX-License-Identifier: MIT
// See site_watch.h; and point(PROVIDER:NAME, WHERE).
#include "collect/conditions/site_watch.h"

#include <memory>

#include "collect/conditions/watches.h"
#include "penna/detail/regex.h"
#include "recording/arguments.h"

namespace penna {

bool matches_site(const std::string& pattern, const Site& site) {
  const std::string whole = site.provider + ":" + site.name;
  return pattern.empty() || penna_text_matches(pattern.c_str(), whole.c_str()) != 0 ||
         penna_text_matches(pattern.c_str(), site.name.c_str()) != 0;
}

void SiteWatch::see(const OpenTimes::Thread& thread, const Record& record) {
  if (record.kind == PENNA_KIND_LOST) return lose(thread);
  OfProcess& known = processes_[thread.process];
  if (record.kind == PENNA_KIND_SITE) {
    if (auto site = decode_site(record)) learn(known, std::move(*site));
    return;
  }
  const auto found = known.sites.find(record.as<penna_point>().site);
  if (found != known.sites.end()) {
    if (found->second) pass(thread, *found->second, record);
  } else if (known.waiting.size() < kMostWaiting) {
    known.waiting.push_back({thread, record, {record.payload, record.payload + record.payload_bytes}});
  }
}

void SiteWatch::learn(OfProcess& known, Site site) {
  if (known.sites.size() >= kMostSites) return;
  const uint32_t id = site.id;
  const bool is_wanted = wants(site);
  known.sites[id] = is_wanted ? std::optional(std::move(site)) : std::nullopt;
  std::vector<Waiting> others;
  for (Waiting& one : std::exchange(known.waiting, {})) {
    one.record.payload = one.payload.data();
    if (one.record.as<penna_point>().site != id)
      others.push_back(std::move(one));
    else if (const auto& described = known.sites[id])
      pass(one.thread, *described, one.record);
  }
  known.waiting = std::move(others);
}

void SiteWatch::forget(uint32_t process) {
  processes_.erase(process);
  forget_more(process);
}

namespace {

class PointWatch final : public SiteWatch {
 public:
  using SiteWatch::SiteWatch;

 private:
  bool wants(const Site& site) const override {
    const bool is_point = site.kind == PENNA_SITE_EVENT || site.kind == PENNA_SITE_SPAN;
    return is_point && matches_site(condition_.pattern, site) &&
           (!condition_.where || condition_.where->places_in(site).has_value());
  }
  void pass(const OpenTimes::Thread& thread, const Site& site, const Record& record) override {
    if (condition_.where) {
      decode_arguments(&site, record, decoded_);
      if (decoded_.malformed || !condition_.where->holds(*condition_.where->places_in(site), decoded_)) return;
    }
    report(thread, fmt::format("passed {}:{}", site.provider, site.name), record.time);
  }

  DecodedPoint decoded_;
};

}  // namespace

std::unique_ptr<ForwardingObserver> watch_points(const SnapshotCondition& condition, ConditionHelp help) {
  return std::make_unique<PointWatch>(condition, std::move(help));
}

}  // namespace penna
