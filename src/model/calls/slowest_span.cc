// SPDX-License-Identifier: MIT
// See slowest_span.h.
#include "model/calls/slowest_span.h"

#include <vector>

#include "model/events/events.h"
#include "model/events/points.h"

namespace penna {
namespace {

bool is_called(const Site& site, const std::string& name) {
  return site.name == name || site.provider + ':' + site.name == name;
}

// Threads come one after another: open spans are those of one thread at a time.
class SpanFinder {
 public:
  SpanFinder(const Recording& recording, const std::string& name) : recording_(recording), name_(name) {}

  void operator()(const Event& event) {
    if (event.record.kind != PENNA_KIND_POINT) return;
    const Site* site = recording_.site(event.process, event.record.as<penna_point>().site);
    if (site == nullptr || (site->kind != PENNA_SITE_SPAN && site->kind != PENNA_SITE_SPAN_END)) return;
    if (event.thread != thread_) open_.clear();
    thread_ = event.thread;
    if (site->kind == PENNA_SITE_SPAN) {
      // A damaged recording may begin spans endlessly.
      if (open_.size() < Points::kMaxOpenSpans) open_.push_back({site, event.time});
    } else {
      end(*site, event.time);
    }
  }
  std::optional<SpanTime> result() const { return slowest_; }

 private:
  struct Open {
    const Site* site;
    uint64_t begin;
  };
  // Ends the innermost span of these names; those inside it were left by longjmp.
  void end(const Site& site, uint64_t time) {
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i].site->provider != site.provider || open_[i].site->name != site.name) continue;
      const uint64_t begin = open_[i].begin;
      if (is_called(site, name_) && (!slowest_ || time - begin > slowest_->end - slowest_->begin))
        slowest_ = SpanTime{thread_, begin, time};
      open_.resize(i);
      return;
    }
  }

  const Recording& recording_;
  const std::string& name_;
  uint32_t thread_ = kNoIndex;
  std::vector<Open> open_;  // of thread_
  std::optional<SpanTime> slowest_;
};

}  // namespace

std::optional<SpanTime> slowest_span(const Recording& recording, const std::string& name) {
  SpanFinder finder(recording, name);
  for_each_thread_event(recording, {.classes = kPointEvents}, finder);
  return finder.result();
}

}  // namespace penna
