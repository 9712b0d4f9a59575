// SPDX-License-Identifier: MIT
// Walks over the hits of points: events and beginnings of spans. For the answers about single points.
//
// Invariant: a hit is exactly what Points (model/events/points.h) counts as one.
#pragma once

#include <string>
#include <utility>

#include "model/events/points.h"
#include "model/names/names.h"

namespace penna {

// visit(const Site*, const Event&): thread by thread. The site is null if it was not described.
template <typename Visit>
void for_each_hit(const Recording& recording, Names& names, Visit&& visit) {
  for_each_thread_event(recording, {.classes = kPointEvents}, [&](const Event& event) {
    if (event.record.kind != PENNA_KIND_POINT) return;
    const Site* const site = names.point_site(event.process, event.record.as<penna_point>().site, event.time);
    if (site == nullptr || site->kind != PENNA_SITE_SPAN_END) visit(site, event);
  });
}

// Only the hits of points with this name.
class HitsOf {
 public:
  explicit HitsOf(std::string name) : name_(std::move(name)) {}

  bool operator()(const Site* site, const Event& event) {
    const uint32_t id = event.record.as<penna_point>().site;
    const auto [known, is_new] = known_.try_emplace(pair_key(event.process, id), false);
    if (is_new) known.value() = site_name(site, id) == name_;
    return known->second;
  }

 private:
  std::string name_;
  NumberMap<bool> known_;  // by process and site
};

// An argument's name for users and conditions: its own, or argN by position.
inline std::string argument_name(const Site* site, size_t at) {
  const bool has_name = site != nullptr && at < site->arguments.size() && !site->arguments[at].name.empty();
  return has_name ? site->arguments[at].name : "arg" + std::to_string(at + 1);
}

}  // namespace penna
