// SPDX-License-Identifier: MIT
// See call_frames.h.
#include "export/timeline/call_frames.h"

#include "model/events/points.h"

namespace penna {

CallFrames::CallFrames(const Recording& recording, Names& names)
    : recording_(recording), names_(names), functions_(names.map()), by_pc_(recording.processes().size()) {}

uint32_t CallFrames::number(const TimelineLine& line) {
  if (line.pc == 0 && line.site != 0) return number_of_span(line);
  // Files came and went: the same address may be another function by now, so it cannot be cached by address.
  if (names_.map().time_matters(line.process)) return number_of_function(line);
  auto [found, added] = by_pc_[line.process].try_emplace(line.pc, 0);
  if (added) found.value() = number_of_function(line);
  return found->second;
}

uint32_t CallFrames::number_of_function(const TimelineLine& line) {
  const FunctionId function = functions_.intern(line.process, line.pc, line.begin);
  if (function < by_function_.size()) return by_function_[function];
  const CodePlace& place = functions_.place(function);
  // The function that was entered; those inlined there have no entry.
  const NameFrame& name = names_.at(place).back();
  by_function_.push_back(static_cast<uint32_t>(frames_.size()));
  frames_.push_back({name.function, name.file, name.line, place, false});
  return by_function_.back();
}

uint32_t CallFrames::number_of_span(const TimelineLine& line) {
  const Site* site = recording_.site(line.process, line.site);
  auto [found, added] = by_span_.try_emplace(site_name(site, line.site), static_cast<uint32_t>(frames_.size()));
  if (added)
    frames_.push_back({found->first, site == nullptr ? "" : site->file, site == nullptr ? 0 : site->line, {}, true});
  return found->second;
}

}  // namespace penna
