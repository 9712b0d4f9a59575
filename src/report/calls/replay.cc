// SPDX-License-Identifier: MIT
// See replay.h.
#include "report/calls/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "model/events/summary.h"
#include "model/names/function_pattern.h"
#include "report/fit.h"
#include "report/frames.h"
#include "report/reports.h"
#include "report/text.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr size_t kDeepestIndent = 60;  // levels; deeper lines say how deep they are
constexpr size_t kColumnsWidth = 36;   // of what precedes the event
constexpr size_t kTidWidth = 9;        // of these, the TID column
constexpr size_t kAround = 9;          // of depth_mark(), and of what follows a name: "() {"
constexpr size_t kEventRoom = 50;      // with less, the TID column is dropped: a name and some levels

const char* family_name(uint32_t family) {
  static constexpr const char* kNames[PENNA_FAMILY_COUNT] = {"malloc", "calloc", "realloc", "aligned_alloc"};
  return family < PENNA_FAMILY_COUNT ? kNames[family] : "allocate";
}

const char* map_name(uint32_t how) {
  static constexpr const char* kNames[] = {"mmap", "mremap", "brk"};
  return how < std::size(kNames) ? kNames[how] : "map";
}

std::string lost_text(const penna_lost& lost) {
  std::string text = "LOST:";
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    if (lost.count[i] != 0) text += fmt::format(" {} {}", count_text(lost.count[i]), class_name(i));
  return text;
}

Tint tint_of(LineKind kind) {
  switch (kind) {
    case LineKind::kPoint:
    case LineKind::kSpanBegin: return Tint::kName;
    case LineKind::kLost:
    case LineKind::kBlocked:
    case LineKind::kLockWait:
    case LineKind::kOpenWait: return Tint::kWarn;
    case LineKind::kSpanEnd:
    case LineKind::kLeave: return Tint::kDim;
    default: return Tint::kNone;
  }
}

// What a wait or a lock is called: "lock m", "read lock table", "barrier start".
const char* sync_word(penna_sync sync) {
  switch (sync) {
    case PENNA_SYNC_READ: return "read lock";
    case PENNA_SYNC_WRITE: return "write lock";
    case PENNA_SYNC_SPIN: return "spin lock";
    case PENNA_SYNC_SEMAPHORE: return "semaphore";
    case PENNA_SYNC_CONDITION: return "condition";
    case PENNA_SYNC_BARRIER: return "barrier";
    case PENNA_SYNC_ONCE: return "once";
    case PENNA_SYNC_JOIN: return "join";
    case PENNA_SYNC_FUTEX: return "futex";
    default: return "lock";
  }
}

// By hand: format's widths would take most of the time of a replay.
std::string right(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : printable(text)) result += c == '"' ? std::string("\\\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

bool has_duration(const TimelineLine& line) {
  switch (line.kind) {
    case LineKind::kLeave:
    case LineKind::kLeaf:
    case LineKind::kSpanEnd:
    case LineKind::kLockWait:
    case LineKind::kOpenWait:
    case LineKind::kConditionWait:
    case LineKind::kBlocked: return true;
    case LineKind::kUnlock: return line.duration != 0;
    default: return false;
  }
}

// A record's values and the site that describes them may not match (a damaged file): undescribed ones are "argN".
std::string arguments_text(const Site* site, const DecodedPoint& point) {
  std::string text;
  for (size_t i = 0; i < point.values.size(); ++i) {
    const ArgumentValue& value = point.values[i];
    const bool named = site != nullptr && i < site->arguments.size() && !site->arguments[i].name.empty();
    text += fmt::format("{}{}=", text.empty() ? "" : " ",
                        named ? printable(site->arguments[i].name) : fmt::format("arg{}", i + 1));
    text += value.is_text() && value.present ? quoted(value.text) + (value.cut ? "..." : "")
            : named                          ? printable(argument_text(site->arguments[i], value))
                                             : printable(argument_text(value));
  }
  return text;
}

namespace {

std::string value_text(const SiteArgument& described, const ArgumentValue& value,
                       const std::function<std::string(uint64_t)>& code) {
  const bool is_there = value.present && !value.bad;
  if (is_there && value.is_text()) return quoted(value.text) + (value.cut ? "..." : "");
  // A code pointer is shown as the name of its function.
  if (is_there && described.format.starts_with("p") && value.bits != 0)
    if (std::string name = code(value.bits); !name.starts_with("[unknown]")) return name;
  return argument_text(described, value);
}

}  // namespace

// "fd=3, at=0x7f00{x=1, y=2}". Sites list the fields of a struct after it, as "at", "at.x", "at.y": braces open at the
// first field, and close where the outer name changes.
std::string values_text(const Site& site, const DecodedPoint& values,
                        const std::function<std::string(uint64_t)>& code) {
  std::string text, open;  // the struct whose braces are open
  const auto close = [&] {
    if (!open.empty()) text += '}';
    open.clear();
  };
  bool bad_struct = false;
  for (size_t i = 0; i < values.values.size() && i < site.arguments.size(); ++i) {
    const SiteArgument& described = site.arguments[i];
    if (described.is_stack()) continue;
    const ArgumentValue& value = values.values[i];
    const size_t dot = described.name.find('.');
    const std::string outer = described.name.substr(0, dot);
    const bool is_field = dot != described.name.npos && !outer.empty();
    const bool of_last = i != 0 && !site.arguments[i - 1].is_stack() &&
                         site.arguments[i - 1].name.substr(0, site.arguments[i - 1].name.find('.')) == outer;
    std::string shown = value_text(described, value, code);
    // A struct that could not be read says so once, not for each field.
    if (is_field && of_last && (bad_struct || (value.bad && value.bits == 0))) continue;  // already said
    if (is_field && of_last) {
      text += open.empty() ? "{" : ", ";
      open = outer;
      bad_struct = value.bad;
      text += value.bad ? shown : fmt::format("{}={}", described.name.substr(dot + 1), shown);
    } else {
      close();
      bad_struct = false;
      text += text.empty() ? "" : ", ";
      if (!outer.empty() && outer != "return") text += outer + "=";
      if (is_field) {
        open = outer;
        shown.insert(0, "{" + described.name.substr(dot + 1) + "=");
      }
      text += shown;
    }
    if ((described.format == "..." || described.format.ends_with(" ..."))) close(), text += ", ...";
  }
  close();
  return printable(text);
}

void UnbalancedEnds::count(const TimelineLine& line) {
  if (line.kind == LineKind::kStrayExit) ++(line.inherited ? inherited_ : stray_);
  inherited_ += line.kind == LineKind::kEnter && line.inherited;
  if (line.inherited || (line.kind != LineKind::kLeave && line.kind != LineKind::kSpanEnd)) return;
  jumped_ += line.end == CallEnd::kJump;
  unwound_ += line.end == CallEnd::kUnwound;
  open_ += line.end == CallEnd::kOpen;
}

// Unbalanced ends say something about the program (longjmp, exceptions, fork) or about losses, and belong under the
// listing.
std::string UnbalancedEnds::sentence() const {
  std::string text;
  const auto add = [&text](uint64_t count, const char* one, const char* more) {
    if (count != 0)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", plural_text(static_cast<int64_t>(count), one, more));
  };
  add(stray_, "end without a beginning", "ends without a beginning");
  add(inherited_, "begun before the process was forked", "begun before the process was forked");
  add(jumped_, "left by longjmp", "left by longjmp");
  add(unwound_, "left by an outer function's exit", "left by an outer function's exit");
  add(open_, "not left at the end", "not left at the end");
  return text.empty() ? "" : "Of calls and spans: " + text + ".";
}

size_t shown_levels(size_t depth, size_t columns_of_level, size_t room) {
  if (room == 0) return depth;
  const size_t words = kSmallestName + kAround;
  return std::min(depth, room > words ? (room - words) / columns_of_level : 0);
}

std::string depth_mark(size_t depth) { return fmt::format("[{}] ", depth); }

ReplayPrinter::ReplayPrinter(const Recording& recording, Names& names, const ReplayStyle& style, TextSink sink)
    : recording_(recording),
      names_(names),
      style_(style),
      sink_(std::move(sink)),
      begin_(summarize(recording).first_time),
      without_tid_(style.by_thread && style.columns == nullptr && style.text.width != 0 &&
                   style.text.width < kColumnsWidth + kColumnGap + kEventRoom) {}

void ReplayPrinter::append_tinted(std::string_view text, Tint tint) {
  if (style_.text.color) {
    line_ += tinted(text, tint, style_.text);
  } else {
    line_ += text;
  }
}

bool ReplayPrinter::titles() {
  const std::string columns = style_.columns != nullptr ? style_.columns->titles
                              : without_tid_            ? fmt::format("{:>14} {:>12}", "TIME", "DURATION")
                                                        : fmt::format("{:>14} {:>12} {:>8}", "TIME", "DURATION", "TID");
  if (without_tid_ && !std::exchange(reported_, true) &&
      !sink_(tinted(cut_middle(no_room_text({"TID"}), style_.text.width), Tint::kDim, style_.text) + "\n"))
    return false;
  return sink_(tinted(columns + (columns.empty() ? "EVENT" : "  EVENT"), Tint::kBold, style_.text) + "\n");
}

bool ReplayPrinter::thread_title(uint32_t thread) {
  const RecordedThread& recorded = recording_.threads()[thread];
  const Process& process = recording_.processes()[recorded.process].process;
  const std::string name = process_name(process);
  std::string text = printable(fmt::format("# {}, pid {}, {}", name.empty() ? "process" : name, process.pid,
                                           thread_label(recording_, recorded.process, recorded.tid)));
  if (style_.text.width != 0) text = cut_middle(text, style_.text.width);
  return sink_(tinted(text, Tint::kBold, style_.text) + "\n");
}

// The line is assembled in one string by hand: formatting widths would take most of the time of a replay.
bool ReplayPrinter::line(const TimelineLine& line) {
  if (line.kind == LineKind::kLockRequest) return true;
  line_.clear();
  const size_t columns = append_columns(line);
  const size_t gap = line_.empty() ? 0 : kColumnGap;
  // Room for at least a name, even if the columns before the event leave less.
  const size_t width = style_.text.width;
  const size_t room = width == 0 ? 0 : std::max(width - std::min(width, columns + gap), kSmallestName);
  const size_t levels = std::min(kDeepestIndent, shown_levels(line.depth, 2, room));
  std::string event = event_text(line);
  if (line.depth > levels) event.insert(0, depth_mark(line.depth));
  if (width != 0) event = cut_middle(event, room - 2 * levels);

  line_.append(gap + 2 * levels, ' ');
  append_tinted(event, tint_of(line.kind));
  line_ += '\n';
  if (!sink_(line_)) return false;
  // The stack of a call is that of its entry.
  return !style_.stacks || line.stack == 0 || line.kind == LineKind::kLeave || stack_lines(line, 2 * levels);
}

size_t ReplayPrinter::append_columns(const TimelineLine& line) {
  if (style_.columns != nullptr) {
    line_ += style_.columns->text(line);
    return style_.columns->width;
  }
  const std::string time = right(timestamp_text(recording_.time().duration_ns(begin_, shown_time(line))), 14);
  append_tinted(time, Tint::kTime);
  const std::string duration =
      right(has_duration(line) ? duration_text(ticks_to_ns(recording_, line.duration)) : "", 13);
  line_ += duration;
  if (without_tid_) return time.size() + duration.size();
  const std::string tid = right(std::to_string(recording_.threads()[line.thread].tid), kTidWidth);
  line_ += tid;
  return time.size() + duration.size() + tid.size();
}

size_t ReplayPrinter::columns_width() const {
  if (style_.columns != nullptr) return style_.columns->width;
  return without_tid_ ? kColumnsWidth - kTidWidth : kColumnsWidth;
}

bool ReplayPrinter::stack_lines(const TimelineLine& line, size_t indent) {
  const size_t columns = columns_width();
  const size_t begin = (columns == 0 ? 0 : columns + 1) + indent + 4;
  const size_t width = style_.text.width;
  const size_t room = width == 0 ? 0 : std::max(width - std::min(width, begin), kSmallestName);
  for (const TableDetail& detail : stack_details(line.process, line.stack, names_)) {
    const std::string text = tinted(detail_text(detail, room), Tint::kDim, style_.text);
    if (!sink_(std::string(begin, ' ') + text + "\n")) return false;
  }
  return true;
}

// The thread's own name, or one that it gives to another thread.
static std::string thread_name_text(const Record& record) {
  const std::string name = printable(decode_thread_name(record));
  const NamedThread other = decode_named_thread(record);
  return other.serial == 0 ? "thread is named " + name
                           : fmt::format("names the thread with tid {} {}", other.tid, name);
}

// The text of a line, by kind. Everything that comes from the file goes through printable().
std::string ReplayPrinter::event_text(const TimelineLine& line) {
  switch (line.kind) {
    case LineKind::kEnter:
      return call_name(line) + (line.inherited ? " { /* begun before the process was forked */" : " {");
    case LineKind::kLeaf: return call_name(line) + result_text(line) + ";";
    case LineKind::kLeave:
      return fmt::format("}}{} /* {}{} */", result_text(line), function_name(line),
                         line.end == CallEnd::kJump      ? ", left by longjmp"
                         : line.end == CallEnd::kUnwound ? ", left by an outer function's exit"
                         : line.end == CallEnd::kOpen    ? ", not left at the end"
                                                         : "");
    case LineKind::kStrayExit: return stray_text(line);
    case LineKind::kSpanBegin: return point_text(line, "span") + " {";
    case LineKind::kSpanEnd:
      return fmt::format("}} /* {}{} */", span_name(line),
                         line.end == CallEnd::kUnwound ? ", ended by its enclosing call"
                         : line.end == CallEnd::kOpen  ? ", not ended"
                                                       : "");
    case LineKind::kAllocation: return allocation_text(line);
    case LineKind::kFree:
      return fmt::format("free({:#x}){}{}", line.address, line.family == PENNA_FAMILY_REALLOC ? " by realloc" : "",
                         line.stack != 0 ? origin_text(line) : "");
    case LineKind::kMap:
      return fmt::format("{}({}) = {:#x}{}", map_name(line.family), line.size, line.address, origin_text(line));
    case LineKind::kUnmap: return fmt::format("munmap({:#x}, {})", line.address, line.size);
    case LineKind::kPoolAllocation:
      return fmt::format("pool {}: allocate({}) = {:#x}{}", pool_name(line), line.size, line.address,
                         origin_text(line));
    case LineKind::kPoolFree: return fmt::format("pool {}: free({:#x})", pool_name(line), line.address);
    case LineKind::kReallocFailed: return fmt::format("realloc failed: {:#x} stays", line.address);
    case LineKind::kLock:
    case LineKind::kLockRequest:
    case LineKind::kLockWait:
    case LineKind::kOpenWait:
    case LineKind::kLockBusy:
    case LineKind::kUnlock:
    case LineKind::kConditionWait:
    case LineKind::kWake:
    case LineKind::kLockMade:
    case LineKind::kLockGone: return lock_text(line);
    case LineKind::kPoint: return point_text(line, "point");
    case LineKind::kThreadName: return thread_name_text(*line.record);
    case LineKind::kLost: return lost_text(line.record->as<penna_lost>());
    case LineKind::kBlocked: return "waited for room in the recorder";
  }
  return "";
}

std::string ReplayPrinter::lock_text(const TimelineLine& line) {
  const std::string what = fmt::format("{} {}", sync_word(line.sync), lock_name(line, line.address));
  const bool is_condition = line.sync == PENNA_SYNC_CONDITION;
  switch (line.kind) {
    case LineKind::kLockBusy: return fmt::format("trylock {} busy", lock_name(line, line.address));
    case LineKind::kLockWait: return wait_text(line, what);
    case LineKind::kOpenWait: return wait_text(line, what) + ", and still does at the end";
    case LineKind::kConditionWait: return wait_text(line, what + " with " + lock_name(line, line.lock));
    case LineKind::kUnlock:
      if (line.sync == PENNA_SYNC_SEMAPHORE) return "post " + what;
      if (line.sync == PENNA_SYNC_ONCE) return "done " + what;
      return "unlock " + lock_name(line, line.address);
    case LineKind::kWake: return (!is_condition ? "wake " : line.size > 1 ? "broadcast " : "signal ") + what;
    case LineKind::kLockMade: return "make " + what;
    case LineKind::kLockGone: return "destroy " + what;
    default: return what;
  }
}

std::string ReplayPrinter::stray_text(const TimelineLine& line) {
  const bool is_span = line.site != 0;
  return fmt::format("}} /* {}, {} */", is_span ? span_name(line) : function_name(line),
                     line.inherited ? "begun before the process was forked"
                     : is_span      ? "whose beginning was not recorded"
                                    : "whose entry was not recorded");
}

std::string ReplayPrinter::function_name(const TimelineLine& line) {
  return printable(names_.function_name(line.process, line.pc, line.time));
}

std::string ReplayPrinter::values_of(const TimelineLine& line, const Record& record) {
  const Site* site = recording_.site(line.process, record.as<penna_values>().site);
  if (site == nullptr) return "?";
  decode_arguments(site, record, point_);
  const std::string text = values_text(
      *site, point_, [&](uint64_t pc) { return printable(names_.function_name(line.process, pc, line.time)); });
  return point_.malformed ? text + " (does not fit its description)" : text;
}

std::string ReplayPrinter::result_text(const TimelineLine& line) {
  return line.result == nullptr ? "" : " = " + values_of(line, *line.result);
}

std::string ReplayPrinter::call_name(const TimelineLine& line) {
  std::string name = function_name(line);
  if (line.arguments != nullptr)
    return fmt::format("{}({})", without_parameters(name), values_of(line, *line.arguments));
  if (name.find('(') == std::string::npos) name += "()";
  return name;
}

std::string ReplayPrinter::allocation_text(const TimelineLine& line) {
  return fmt::format("{}({}) = {:#x}{}", family_name(line.family), line.size, line.address, origin_text(line));
}

// Without calls around it, the caller is the best available description of where it happened.
std::string ReplayPrinter::origin_text(const TimelineLine& line) {
  const NameFrame* origin = line.depth == 0 ? names_.origin(line.process, line.stack) : nullptr;
  return origin != nullptr ? " in " + printable(origin->function) : "";
}

std::string ReplayPrinter::pool_name(const TimelineLine& line) {
  const Site* site = recording_.site(line.process, line.site);
  return site != nullptr ? printable(site->name) : "?";
}

// The holder is the one when the wait began; it may have changed since.
std::string ReplayPrinter::wait_text(const TimelineLine& line, const std::string& what) {
  std::string text = fmt::format("{} waited {}", what, duration_text(ticks_to_ns(recording_, line.duration)));
  if (line.owner != 0 && line.sync != PENNA_SYNC_JOIN)
    text += fmt::format(", held by {}", printable(thread_label(recording_, line.process, line.owner)));
  switch (line.wait_end) {
    case PENNA_WAIT_GOT: return text;
    case PENNA_WAIT_TIMEOUT: return text + ", timed out";
    case PENNA_WAIT_OWNER_DIED: return text + ", its owner had died";
    default: return text + ", failed";
  }
}

std::string ReplayPrinter::lock_name(const TimelineLine& line, uint64_t address) {
  if (line.sync == PENNA_SYNC_JOIN && line.owner != 0)
    return printable(thread_label(recording_, line.process, line.owner));
  return printable(names_.data(line.process, address, line.time));
}

std::string ReplayPrinter::span_name(const TimelineLine& line) {
  return printable(site_name(recording_.site(line.process, line.site), line.site));
}

// A point may have values that do not fit its site's description: they are shown as far as possible, and marked.
std::string ReplayPrinter::point_text(const TimelineLine& line, const char* what) {
  const Site* site = names_.point_site(line.process, line.site, line.time);
  decode_arguments(site, *line.record, point_);
  const std::string arguments = arguments_text(site, point_);
  return fmt::format("{} {}{}{}{}", what, printable(site_name(site, line.site)), arguments.empty() ? "" : " ",
                     arguments, point_.malformed ? " (does not fit its description)" : "");
}

}  // namespace penna
