// SPDX-License-Identifier: MIT
// See points.h.
#include "model/events/points.h"

#include <algorithm>
#include <cmath>

namespace penna {
namespace {

// What copies of the same point have in common.
std::string source_key(const Site& site) {
  std::string key = site.provider + '\0' + site.name + '\0' + site.file + '\0' + std::to_string(site.line);
  for (const SiteArgument& argument : site.arguments) key += '\0' + std::to_string(argument.type) + argument.name;
  return key;
}

bool less(uint8_t type, uint64_t a, uint64_t b) {
  const ArgumentValue left{.type = type, .bits = a}, right{.type = type, .bits = b};
  if (type == PENNA_ARG_FLOAT) return left.as_float() < right.as_float();
  if (type == PENNA_ARG_INT || type == PENNA_ARG_CHAR) return left.as_int() < right.as_int();
  return a < b;
}

// In a plain sum, millions of large values, such as addresses, lose digits, and the average can then exceed the largest
// of them. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen (1974).
void add(double value, double* sum, double* rest) {
  const double next = *sum + value;
  *rest += std::abs(*sum) >= std::abs(value) ? (*sum - next) + value : (value - next) + *sum;
  *sum = next;
}

void count_number(ArgumentStats& stats, const ArgumentValue& value) {
  if (value.type == PENNA_ARG_FLOAT && !std::isfinite(value.as_float())) {
    ++stats.not_finite;
    return;
  }
  const bool first = stats.count == stats.not_finite;
  if (first || less(value.type, value.bits, stats.min_bits)) stats.min_bits = value.bits;
  if (first || less(value.type, stats.max_bits, value.bits)) stats.max_bits = value.bits;
  add(value.as_number(), &stats.sum, &stats.rest);
}

}  // namespace

double ArgumentStats::average() const {
  return count == not_finite ? 0.0 : total() / static_cast<double>(count - not_finite);
}
ArgumentValue ArgumentStats::min() const { return {.type = type, .present = count > not_finite, .bits = min_bits}; }
ArgumentValue ArgumentStats::max() const { return {.type = type, .present = count > not_finite, .bits = max_bits}; }

double PointStats::rate(const Recording& recording) const {
  const auto ns = static_cast<double>(recording.time().duration_ns(first_time, last_time));
  return hits < 2 || ns < 1e6 ? 0.0 : static_cast<double>(hits - 1) * 1e9 / ns;
}

uint32_t Points::index_of(uint32_t process, uint32_t id) {
  auto [found, added] = by_id_.try_emplace(pair_key(process, id), static_cast<uint32_t>(points_.size()));
  if (!added) return found->second;
  const Site* site = recording_.site(process, id);
  if (site != nullptr) {
    auto [same, is_new] = by_source_.try_emplace(source_key(*site), static_cast<uint32_t>(points_.size()));
    if (!is_new) {
      points_[same->second].copies.push_back({process, id});
      return found.value() = same->second;
    }
  }
  PointStats& point = points_.emplace_back();
  point.site = site;
  point.id = id;
  point.copies.push_back({process, id});
  if (site == nullptr) return found->second;
  for (const SiteArgument& argument : site->arguments) {
    ArgumentStats& stats = point.arguments.emplace_back();
    stats.name = argument.name;
    stats.type = argument.type;
  }
  return found->second;
}

// Ends the innermost span of these names, and drops those inside it: they were left by longjmp.
void Points::end_span(const Event& event, const Site& end) {
  ++span_ends_;
  if (event.thread >= open_.size()) return;
  std::vector<OpenSpan>& open = open_[event.thread];
  for (size_t i = open.size(); i-- > 0;) {
    PointStats& point = points_[open[i].point];
    if (point.site->provider != end.provider || point.site->name != end.name) continue;
    point.duration.add(event.time - open[i].begin);
    open.resize(i);
    return;
  }
}

void Points::add(const Event& event) {
  const uint32_t id = event.record.as<penna_point>().site;
  const Site* site = recording_.site(event.process, id);
  if (site != nullptr && site->kind == PENNA_SITE_SPAN_END) return end_span(event, *site);
  const uint32_t index = index_of(event.process, id);
  if (site != nullptr && site->kind == PENNA_SITE_SPAN) {
    if (event.thread >= open_.size()) open_.resize(event.thread + 1);
    if (open_[event.thread].size() < kMaxOpenSpans) open_[event.thread].push_back({index, event.time});
  }
  PointStats& point = points_[index];
  if (const uint32_t stack = event.record.as<penna_point>().stack; stack != 0) {
    const auto [slot, is_new] =
        by_stack_[index].try_emplace(pair_key(event.process, stack), static_cast<uint32_t>(point.stacks.size()));
    if (is_new) point.stacks.push_back({event.process, stack, 0});
    ++point.stacks[slot->second].hits;
  }
  decode_arguments(point.site, event.record, decoded_);
  point.malformed += point.site != nullptr && decoded_.malformed;
  if (point.hits++ == 0) point.first_time = point.last_time = event.time;
  point.first_time = std::min(point.first_time, event.time);
  point.last_time = std::max(point.last_time, event.time);
  for (size_t i = 0; i < point.arguments.size(); ++i) {
    const ArgumentValue& value = decoded_.values[i];
    ArgumentStats& stats = point.arguments[i];
    if (!value.present) continue;
    if (value.is_text()) {
      stats.texts.add(value.text);
      stats.cut += value.cut;
    } else if (value.is_array()) {
      stats.texts.add(argument_text(value));
      stats.cut += value.cut;
    } else {
      count_number(stats, value);
    }
    ++stats.count;
  }
}

std::vector<const PointStats*> Points::by_hits() const {
  std::vector<const PointStats*> result;
  for (const PointStats& point : points_) result.push_back(&point);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) { return a->hits > b->hits; });
  return result;
}

uint64_t Points::hits() const {
  uint64_t sum = 0;
  for (const PointStats& point : points_) sum += point.hits;
  return sum;
}
uint64_t Points::malformed() const {
  uint64_t sum = 0;
  for (const PointStats& point : points_) sum += point.malformed;
  return sum;
}
uint64_t Points::without_site() const {
  uint64_t sum = 0;
  for (const PointStats& point : points_) sum += point.site == nullptr ? point.hits : 0;
  return sum;
}

}  // namespace penna
