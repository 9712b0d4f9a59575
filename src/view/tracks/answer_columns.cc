// SPDX-License-Identifier: MIT
// See answer_columns.h.
#include "view/tracks/answer_columns.h"

#include <algorithm>

#include "view/tracks/columns.h"

namespace penna {
namespace {

uint32_t as_column(uint64_t count) { return static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)); }

}  // namespace

void SlicesMade::add_slice(int64_t start, int64_t duration, uint32_t depth, uint32_t name, uint8_t flags) {
  start_.push_back(static_cast<double>(start));
  duration_.push_back(static_cast<double>(duration));
  depth_.push_back(depth);
  name_.push_back(name);
  flags_.push_back(flags);
}

void SlicesMade::add_density(uint32_t depth, uint32_t pixel, int64_t time, uint64_t count, uint32_t name) {
  d_depth_.push_back(depth);
  d_pixel_.push_back(pixel);
  d_time_.push_back(static_cast<double>(time));
  d_count_.push_back(as_column(count));
  d_name_.push_back(name);
}

std::string SlicesMade::text(uint32_t depths, uint32_t pixels, uint64_t left_out, uint32_t names) const {
  ColumnAnswer answer;
  answer.add("start", start_);
  answer.add("duration", duration_);
  answer.add("depth", depth_);
  answer.add("name", name_);
  answer.add("flags", flags_);
  answer.add("d_depth", d_depth_);
  answer.add("d_px", d_pixel_);
  answer.add("d_time", d_time_);
  answer.add("d_count", d_count_);
  answer.add("d_name", d_name_);
  return answer.text([&](JsonWriter& json) {
    json.field("names", names);
    json.field("left_out", left_out);
    json.key("density");
    json.begin_object();
    json.field("depths", uint64_t{depths});
    json.field("px", pixels);
    json.end_object();
  });
}

void WaitColumns::add_wait(const TrackWait& wait, uint64_t count) {
  start_.push_back(static_cast<double>(wait.start));
  duration_.push_back(static_cast<double>(wait.end - wait.start));
  lock_.push_back(wait.name);
  kind_.push_back(wait.kind);
  holder_.push_back(wait.holder);
  count_.push_back(as_column(count));
}

void WaitColumns::add_hold(const TrackHold& hold, uint64_t count) {
  h_start_.push_back(static_cast<double>(hold.start));
  h_duration_.push_back(static_cast<double>(hold.end - hold.start));
  h_lock_.push_back(hold.name);
  h_count_.push_back(as_column(count));
}

std::string WaitColumns::text(uint32_t names) const {
  ColumnAnswer answer;
  answer.add("start", start_);
  answer.add("duration", duration_);
  answer.add("lock", lock_);
  answer.add("kind", kind_);
  answer.add("holder", holder_);
  answer.add("count", count_);
  answer.add("h_start", h_start_);
  answer.add("h_duration", h_duration_);
  answer.add("h_lock", h_lock_);
  answer.add("h_count", h_count_);
  return answer.text([&](JsonWriter& json) { json.field("names", names); });
}

void PointsMade::add(const TrackPoint& point, uint64_t count) {
  time_.push_back(static_cast<double>(point.time));
  name_.push_back(point.name);
  count_.push_back(as_column(count));
  text_.push_back(count == 1 ? point.values : 0);
}

void PointsMade::join(const TrackPoint& point) {
  count_.back() += 1;
  text_.back() = 0;
  if (name_.back() != point.name) name_.back() = 0;
}

std::string PointsMade::text(uint32_t names) const {
  ColumnAnswer answer;
  answer.add("time", time_);
  answer.add("name", name_);
  answer.add("count", count_);
  answer.add("text", text_);
  return answer.text([&](JsonWriter& json) { json.field("names", names); });
}

}  // namespace penna
