// SPDX-License-Identifier: MIT
// See frames.h.
#include "report/frames.h"

#include <fmt/format.h>

#include <cmath>

namespace penna {

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

TableDetail frame_detail(const NameFrame& frame, const CodeMap& map) {
  TableDetail detail{frame.function, ""};
  if (!frame.file.empty())
    detail.where = frame.line == 0 ? fmt::format("({})", base_name(frame.file))
                                   : fmt::format("({}:{})", base_name(frame.file), frame.line);
  if (frame.inlined) {
    detail.where += detail.where.empty() ? "[inlined]" : " [inlined]";
  } else if (frame.named && frame.module != kNoModule) {  // a fall-back holds the name of its module
    detail.where += fmt::format("{}[{}]", detail.where.empty() ? "" : " ", map.file_name(frame.module));
  }
  return detail;
}

std::vector<TableDetail> stack_details(uint32_t process, uint32_t stack, Names& names) {
  const NamedStack named = names.stack(process, stack);
  std::vector<TableDetail> details;
  details.reserve(named.frames.size() + 1);
  for (const NameFrame* frame : named.frames) details.push_back(frame_detail(*frame, names.map()));
  if (named.end != StackEnd::kComplete) details.push_back({fmt::format("({})", stack_end_text(named.end)), ""});
  return details;
}

std::string leaf_name(const std::vector<TableDetail>& stack) { return stack.empty() ? "" : stack.front().text; }

int64_t ticks_to_ns(const Recording& recording, uint64_t ticks) {
  const double ns = static_cast<double>(ticks) * recording.time().ns_per_tick();
  return ns >= 9.2e18 ? INT64_MAX : std::llround(ns);
}

}  // namespace penna
