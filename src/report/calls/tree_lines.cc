// SPDX-License-Identifier: MIT
// See tree_lines.h.
#include "report/calls/tree_lines.h"

#include <fmt/format.h>

#include <utility>

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
  return open_.empty() || sink_("not left at the end: " + std::exchange(open_, "") + "\n");
}

void TreeLines::is_open(const TimelineLine& call) {
  silent_ = true;
  (void)line(call);
  silent_ = false;
}

bool TreeLines::print(const ListedCall& call) {
  if (silent_) return true;
  text_.clear();
  for (uint32_t i = 0; i < call.depth; ++i) text_ += "|   ";
  if (all_) text_ += "\\-- ";
  text_ += names_.name(call.function);
  if (call.total != 0) text_ += fmt::format(" (total: {} times)", call.total);
  text_ += '\n';
  return sink_(text_);
}

}  // namespace penna
