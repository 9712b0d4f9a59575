// SPDX-License-Identifier: MIT
// See tree_lines.h.
#include "report/calls/tree_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/fit.h"
#include "report/text.h"

namespace penna {

uint32_t TreeNames::number_of(const std::string& name) {
  const auto [found, added] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (added) names_.push_back(&found->first);
  return found->second;
}

TreeLines::TreeLines(ReplayPrinter& printer, TreeNames& names, bool all, TextSink sink)
    : printer_(printer),
      names_(names),
      all_(all),
      sink_(std::move(sink)),
      listing_(!all, [this](const ListedCall& call) { return print(call); }) {}

bool TreeLines::line(const TimelineLine& line) {
  if (line.kind == LineKind::kEnter) return listing_.enter(names_.number_of(printer_.function_name(line)));
  if (line.kind != LineKind::kLeave) return true;
  if (line.end != CallEnd::kOpen) return listing_.leave();
  open_ = printer_.function_name(line) + (open_.empty() ? "" : " > " + open_);
  return true;
}

bool TreeLines::finish() {
  if (!listing_.finish()) return false;
  if (open_.empty()) return true;
  const std::string text = "not left at the end: " + std::exchange(open_, "");
  if (printer_.width() == 0) return sink_(text + "\n");
  for (const std::string& line : wrapped(text, printer_.width()))
    if (!sink_(line + "\n")) return false;
  return true;
}

void TreeLines::is_open(const TimelineLine& call) {
  silent_ = true;
  (void)line(call);
  silent_ = false;
}

bool TreeLines::print(const ListedCall& call) {
  if (silent_) return true;
  constexpr std::string_view kLevel = "|   ";
  const std::string total = call.total != 0 ? fmt::format(" (total: {} times)", call.total) : "";
  const size_t width = printer_.width(), around = (all_ ? kLevel.size() : 0) + total.size();
  const size_t room = width == 0 ? 0 : std::max(width - std::min(width, around), kSmallestName);
  const size_t levels = shown_levels(call.depth, kLevel.size(), room);
  text_.clear();
  for (size_t i = 0; i < levels; ++i) text_ += kLevel;
  if (all_) text_ += "\\-- ";
  std::string name = names_.name(call.function);
  if (call.depth > levels) name.insert(0, depth_mark(call.depth));
  text_ += width == 0 ? name : cut_middle(name, room - levels * kLevel.size());
  text_ += total + '\n';
  return sink_(text_);
}

}  // namespace penna
