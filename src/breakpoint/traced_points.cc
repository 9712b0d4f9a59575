// SPDX-License-Identifier: MIT
// See traced_points.h.
#include "breakpoint/traced_points.h"

#include <fmt/core.h>

#include <string_view>

#include "penna/detail/regex.h"
#include "plan/known_probes.h"
#include "symbols/points/point_list.h"

namespace penna {
namespace {

// The patterns of a configuration, as penna/channel.h describes them.
class PointChoice {
 public:
  explicit PointChoice(const penna_config& config) {
    const std::string_view all(config.point_patterns, sizeof config.point_patterns);
    for (size_t at = 0; at < all.size() && all[at] != '\0'; at += patterns_.back().size() + 1)
      patterns_.emplace_back(all.substr(at, all.find('\0', at) - at));
  }
  // Probes of other headers are recorded only on request. The last pattern that matches counts; a list that begins with
  // + names everything wanted.
  bool wants(const std::string& name, bool is_own) const {
    bool wanted = is_own && (patterns_.empty() || patterns_[0][0] != '+');
    for (const std::string& pattern : patterns_)
      if (pattern[0] != '@' && matches(pattern, name)) wanted = pattern[0] == '+';
    return wanted;
  }
  bool wants_stack(const std::string& name) const {
    for (const std::string& pattern : patterns_)
      if (pattern[0] == '@' && matches(pattern, name)) return true;
    return false;
  }

 private:
  static bool matches(const std::string& pattern, const std::string& name) {
    return penna_text_matches(pattern.c_str() + 1, name.c_str()) != 0;
  }
  std::vector<std::string> patterns_;
};

// Null: the values are in `point`; else the reason.
const char* add_own_values(const ListedPoint& listed, const PointPlace& place, TracedPoint* point) {
  if (listed.arguments.empty()) return nullptr;
  if (place.operands.size() != listed.arguments.size()) return "has values that its note does not have";
  for (size_t i = 0; i < place.operands.size(); ++i) {
    const OperandOffer offer = parse_probe_operand(place.operands[i]);
    const uint8_t type = listed.arguments[i].type;
    if (!offer.operand) return "has a value in a place that only an agent can read";
    const bool is_text = type == PENNA_ARG_STRING;
    if (type == PENNA_ARG_ARRAY || (is_text && offer.operand->bytes != 8))
      return "has an array, or a text with a length, which only an agent can copy";
    point->values.push_back({type, listed.arguments[i].name, *offer.operand, {}});
  }
  return nullptr;
}

const char* add_probe_values(const ListedPoint& listed, const PointPlace& place, TracedPoint* point) {
  size_t next = 0;
  for (const KnownArgument& known : arguments_of_probe(listed.provider, listed.name, place.operands.size())) {
    const SdtArg& noted = place.operands[next++];
    const OperandOffer offer = parse_probe_operand(noted);
    OperandOffer length;
    if (known.meaning == KnownArgument::kTextAndLength) length = parse_probe_operand(place.operands[next++]);
    if (offer.refusal != nullptr || length.refusal != nullptr) return "has a value in a place that cannot be read";
    // Further ones are left out: a SITE record cannot describe more.
    if (point->values.size() == PENNA_MAX_ARGS) break;
    const bool is_text = known.meaning != KnownArgument::kNumber && offer.operand->bytes == 8;
    const uint8_t number = noted.is_signed ? PENNA_ARG_INT : PENNA_ARG_UINT;
    point->values.push_back({is_text ? uint8_t{PENNA_ARG_STRING} : number, known.name, *offer.operand, length.operand});
  }
  return nullptr;
}

bool is_recorded_kind(uint8_t kind) {
  return kind == 0 || kind == PENNA_SITE_EVENT || kind == PENNA_SITE_SPAN || kind == PENNA_SITE_SPAN_END;
}

}  // namespace

std::string TracedPoint::text() const {
  std::string text = provider + '\0' + name + '\0' + file + '\0';
  for (const PointValue& value : values) text += value.name + '\0';
  return text;
}

FilePoints find_traced_points(const ElfFile& file, const penna_config& config) {
  const PointChoice choice(config);
  PointList list;
  list.add(file, nullptr);
  FilePoints found;
  for (const ListedPoint& listed : list.take()) {
    const std::string name = listed.full_name();
    const bool is_own = listed.kind != 0;
    if (!is_recorded_kind(listed.kind) || !choice.wants(name, is_own)) continue;
    for (const PointPlace& place : listed.places) {
      TracedPoint point;
      // For our own points, the nop after the slot has the values; without any, the slot will do.
      point.address = place.probe != 0 ? place.probe : place.slot;
      if (point.address == 0 || (is_own && place.slot == 0)) continue;
      point.semaphore = is_own ? 0 : listed.semaphore;
      point.provider = listed.provider;
      point.name = listed.name;
      point.file = listed.file;
      point.line = listed.line;
      point.kind = is_own ? listed.kind : uint8_t{PENNA_SITE_EVENT};
      point.with_stack = listed.kind != PENNA_SITE_SPAN_END && choice.wants_stack(name);
      const char* refusal = is_own ? add_own_values(listed, place, &point) : add_probe_values(listed, place, &point);
      if (refusal == nullptr)
        found.points.push_back(std::move(point));
      else
        found.refused.push_back(fmt::format("{} at 0x{:x} is not recorded: it {}", name, point.address, refusal));
    }
  }
  return found;
}

}  // namespace penna
