// SPDX-License-Identifier: MIT
// See frames.h.
#include "report/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/info.h"
#include "report/locks/lock_names.h"
#include "report/reports.h"

namespace penna {

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// "parse", "(parse.cc:12) [libfoo.so]". Without a line the offset in the function says where; an inlined frame has no
// module of its own.
TableDetail frame_detail(const NameFrame& frame, const CodeMap& map) {
  TableDetail detail{frame.function, ""};
  if (!frame.file.empty())
    detail.where = frame.line == 0 ? fmt::format("({})", base_name(frame.file))
                                   : fmt::format("({}:{})", base_name(frame.file), frame.line);
  if (detail.where.empty() && frame.offset != 0) detail.where = fmt::format("(+{:#x})", frame.offset);
  if (frame.inlined) {
    detail.where += detail.where.empty() ? "[inlined]" : " [inlined]";
  } else if (frame.named && frame.module != kNoModule) {  // a fallback contains the name of its module
    detail.where += fmt::format("{}[{}]", detail.where.empty() ? "" : " ", map.file_name(frame.module));
  }
  return detail;
}

// For a library it matters what was called, not where in its headers.
static TableDetail line_of(const NameFrame& frame, const Names& names) {
  TableDetail detail = frame_detail(frame, names.map());
  if (!names.is_folded(frame) || !frame.named) return detail;
  detail.text = names.line_name(frame);
  detail.where = frame.inlined ? "" : fmt::format("[{}]", names.map().file_name(frame.module));
  return detail;
}

static std::vector<TableDetail> details_of(const NamedStack& stack, const Names& names) {
  std::vector<TableDetail> details;
  details.reserve(stack.frames.size() + 1);
  for (const NameFrame* frame : stack.frames) details.push_back(line_of(*frame, names));
  if (stack.end != StackEnd::kComplete) details.push_back({fmt::format("({})", stack_end_text(stack.end)), ""});
  return details;
}

// All are filled late: names are only looked up for rows that are shown.
Columns<Placed> place_columns(std::string_view title) {
  return {{{"module", "MODULE", CellKind::kText, false, true},
           [](const Placed& place) {
             const bool known = place.frame != nullptr && place.frame->module != kNoModule;
             return Cell{known ? place.map->path(place.frame->module) : std::string()};
           },
           Fill::kWhenShown},
          {{"file", "FILE", CellKind::kText, false, true},
           [](const Placed& place) { return Cell{place.frame == nullptr ? std::string() : place.frame->file}; },
           Fill::kWhenShown},
          {{"line", "LINE", CellKind::kNumber, false, true},
           [](const Placed& place) {
             const bool known = place.has_line && place.frame != nullptr && place.frame->line != 0;
             return known ? Cell{int64_t{place.frame->line}} : Cell{};
           },
           Fill::kWhenShown},
          {{"function", title, CellKind::kText, true},
           [](const Placed& place) {
             return Cell{place.frame == nullptr ? std::string(place.instead) : place.frame->function};
           },
           Fill::kWhenShown}};
}

void set_function(TableRow& row, Placed& place, const NameFrame& frame, const CodeMap& map) {
  place.frame = &frame;
  place.map = &map;
  row.details = {frame_detail(frame, map)};
}

void set_stack(TableRow& row, Placed& place, uint32_t process, uint32_t stack, Names& names) {
  row.details = stack_details(process, stack, names);
  place.frame = names.origin(process, stack);
  place.map = &names.map();
}

// Drops the frames between the lock and the code that took it (std::lock_guard and the like): the code to blame comes
// first.
std::vector<TableDetail> stack_of_wait(uint32_t process, uint32_t stack, Names& names) {
  const std::vector<const NameFrame*> frames = names.stack(process, stack).frames;
  const auto find = [&](auto is_meant) { return std::find_if(frames.begin(), frames.end(), is_meant); };
  auto first = find([](const NameFrame* frame) { return !frame->is_wrapper && !is_lock_wrapper(frame->function); });
  if (first == frames.end()) first = find([](const NameFrame* frame) { return !frame->is_wrapper; });
  if (first == frames.end() && first != frames.begin()) --first;
  return details_of(names.shown(process, stack, static_cast<size_t>(first - frames.begin())), names);
}

void set_stack_of_wait(TableRow& row, Placed& place, uint32_t process, uint32_t stack, Names& names) {
  row.details = stack_of_wait(process, stack, names);
  place.frame = names.origin(process, stack, is_lock_wrapper);
  place.map = &names.map();
}

std::string place_text(uint32_t process, uint32_t stack, Names& names) {
  const NameFrame* frame = stack == 0 ? nullptr : names.origin(process, stack);
  return frame == nullptr ? "" : frame->function;
}

void set_freer(TableRow& row, Placed& place, const Recording& recording, uint32_t thread, const StackOfProcess& from,
               Names& names) {
  if (from.stack != 0) return set_stack(row, place, from.process, from.stack, names);
  const RecordedThread& who = recording.threads()[thread];
  row.details = {{fmt::format("({})", thread_label(recording, who.process, who.tid)), ""}};
}

std::vector<TableDetail> stack_details(uint32_t process, uint32_t stack, Names& names) {
  return details_of(names.shown(process, stack), names);
}

namespace {

// A program that no agent could enter: building it differently would not help, and a note says what would.
bool nothing_entered(const Recording& recording) {
  return recording.processes().empty() && !recording.collector().notes.empty();
}

}  // namespace

// As typed in a shell. A command that fills a line is left out.
std::string record_all_calls(const Session& session) {
  constexpr size_t kMost = 60;
  if (has_option(session, kAttachedWord)) return "'penna record --all-functions -p PID' records those of any program";
  const std::string command = command_text(session.command, session.command_cut);
  if (command.empty() || command.size() > kMost) return kRecordAllCalls;
  return fmt::format("'penna record --all-functions {}' records those of any program", command);
}

// From the most certain cause to the likeliest: most programs were not built for it.
std::string why_no_calls(const Recording& recording) {
  if (nothing_entered(recording)) return recording.collector().notes.front();
  const bool recorded = std::any_of(recording.chunks().begin(), recording.chunks().end(),
                                    [](const ChunkRef& chunk) { return chunk.events[PENNA_CALLS] != 0; });
  if (recorded && call_rules(recording) != nullptr) return "the filters leave out all that were recorded";
  if (recording.collector().calls_left_out != 0) return "the filters that it was recorded with left out all of them";
  if (recording.collector().snapshots == 0 && recording.collector().thrown_away[PENNA_CALLS] != 0)
    return "no snapshot was taken, so none was kept";
  return has_option(recording.session(), kAllFunctionsWord)
             ? "none of its functions could be entered ('penna report health' says why)"
             : record_all_calls(recording.session());
}

bool lacks_calls(const Recording& recording, const Summary& summary) {
  return (recording.session().classes & 1u << PENNA_CALLS) != 0 && summary.events[PENNA_CALLS] == 0 &&
         !recording.processes().empty() && call_rules(recording) == nullptr &&
         recording.collector().calls_left_out == 0;
}

std::string no_calls_text(const Recording& recording) {
  if (nothing_entered(recording)) return "No calls were recorded.";  // the note is shown below
  return fmt::format("No calls were recorded: {}.", why_no_calls(recording));
}

// In floating point: an exact product of two 64-bit numbers does not fit, and times are shown with three digits.
int64_t ticks_to_ns(const Recording& recording, uint64_t ticks) {
  const double ns = static_cast<double>(ticks) * recording.time().ns_per_tick();
  return ns >= 9.2e18 ? INT64_MAX : std::llround(ns);
}

}  // namespace penna
