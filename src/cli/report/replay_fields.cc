// SPDX-License-Identifier: MIT
// See replay_fields.h.
#include "cli/report/replay_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest_name.h"
#include "base/printable.h"
#include "export/timeline/csv_export.h"
#include "report/frames.h"
#include "report/locks/lock_names.h"
#include "report/reports.h"
#include "report/text.h"
#include "report/units.h"

namespace penna {
namespace {

struct FieldInfo {
  ReplayField field;
  std::string_view name, key, title;
  size_t width;  // in text
  CellKind kind;
  std::string_view other = {};  // uftrace's name for it
};
// In the order of ReplayField, so that info() is an index. The keys of CSV and JSON include their unit; users type the
// name without.
constexpr FieldInfo kFields[] = {
    {ReplayField::kTime, "time", "time_ns", "TIME", 14, CellKind::kDuration, "timestamp"},
    {ReplayField::kDuration, "duration", "duration_ns", "DURATION", 12, CellKind::kDuration},
    {ReplayField::kDelta, "delta", "delta_ns", "DELTA", 12, CellKind::kDuration},
    {ReplayField::kElapsed, "elapsed", "elapsed_ns", "ELAPSED", 12, CellKind::kDuration},
    {ReplayField::kPid, "pid", "pid", "PID", 8, CellKind::kNumber},
    {ReplayField::kTid, "tid", "tid", "TID", 8, CellKind::kNumber},
    {ReplayField::kThread, "thread", "thread", "THREAD", 16, CellKind::kText, "task"},
    {ReplayField::kProcess, "process", "process", "PROCESS", 16, CellKind::kText},
    {ReplayField::kKind, "kind", "kind", "KIND", 14, CellKind::kText},
    {ReplayField::kDepth, "depth", "depth", "DEPTH", 5, CellKind::kNumber},
    {ReplayField::kName, "name", "name", "NAME", 24, CellKind::kText},
    {ReplayField::kAddress, "address", "address", "ADDRESS", 14, CellKind::kAddress, "addr"},
    {ReplayField::kSize, "size", "size", "SIZE", 12, CellKind::kCount},
    {ReplayField::kModule, "module", "module", "MODULE", 16, CellKind::kText},
    {ReplayField::kSource, "source", "source", "SOURCE", 20, CellKind::kText},
    {ReplayField::kArguments, "arguments", "arguments", "ARGUMENTS", 24, CellKind::kText},
    {ReplayField::kStack, "stack", "stack", "STACK", 24, CellKind::kText},
    {ReplayField::kEvent, "event", "event", "EVENT", 0, CellKind::kText},
};
static_assert([] {
  for (size_t i = 0; i < std::size(kFields); ++i)
    if (kFields[i].field != static_cast<ReplayField>(i)) return false;
  return true;
}());
const FieldInfo& info(ReplayField field) { return kFields[static_cast<size_t>(field)]; }

std::vector<ReplayField> default_fields(Format format) {
  using enum ReplayField;
  if (format == Format::kTable) return {kTime, kDuration, kTid};
  return {kTime, kDuration, kPid, kTid, kThread, kKind, kDepth, kName, kEvent};
}

// Three names refer to one field: ours, the key of JSON, and uftrace's.
Result<ReplayField> find_field(std::string_view word) {
  std::vector<std::string> names;
  for (const FieldInfo& one : kFields) {
    if (!word.empty() && (word == one.name || word == one.key || word == one.other)) return one.field;
    names.emplace_back(one.name);
  }
  return Error{there_is_no("field", std::string(word), names)};
}

// Numbers right-aligned, words left-aligned.
std::string padded(const std::string& text, const FieldInfo& field) {
  const size_t width = display_width(text);
  const std::string room(field.width > width ? field.width - width : 0, ' ');
  return field.kind == CellKind::kText ? text + room : room + text;
}

bool is_column(ReplayField field) { return field != ReplayField::kEvent; }

}  // namespace

std::string replay_field_names() {
  std::vector<std::string_view> names;
  for (const FieldInfo& one : kFields) names.push_back(one.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<std::vector<ReplayField>> parse_replay_fields(const std::string& text, Format format) {
  std::string_view rest = text;
  const bool adds = rest.starts_with('+');
  if (adds) rest.remove_prefix(1);
  std::vector<ReplayField> fields;
  if (adds || rest.empty()) fields = default_fields(format);
  if (rest.empty() && !adds) return fields;
  if (rest == "none") {
    if (format == Format::kTable) return fields;
    return Error{"--fields none leaves csv and json without fields: name the fields to write"};
  }
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const ReplayField field = PENNA_TRY(find_field(rest.substr(0, comma)));
    // A field that is named twice is shown once.
    if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    if (more) rest.remove_prefix(comma + 1);
  }
  return fields;
}

ReplayCells::ReplayCells(const Recording& recording, Names& names, ReplayPrinter& printer)
    : recording_(recording),
      names_(names),
      printer_(printer),
      words_(recording, names),
      threads_(recording.threads().size()) {}

void ReplayCells::next(const TimelineLine& line) {
  std::optional<Shown>& shown = threads_[line.thread];
  before_ = shown;
  line_ = &line;
  if (!shown) shown = Shown{shown_time(line), shown_time(line)};
  shown->last = shown_time(line);
}

Cell ReplayCells::since(uint64_t Shown::*from) const {
  if (!before_) return {};
  return recording_.time().duration_ns((*before_).*from, shown_time(*line_));
}

// The frame that a line is about: for a call its function; else the function that allocated, waited and so on, as far
// as there is a stack. For locks the first frame outside of the lock's own functions (std::mutex::lock and such).
const NameFrame* ReplayCells::place() const {
  if (line_->pc != 0) return &names_.function(line_->process, line_->pc, line_->time).back();
  if (line_->stack == 0) return nullptr;
  switch (line_->kind) {
    case LineKind::kAllocation:
    case LineKind::kFree:
    case LineKind::kMap:
    case LineKind::kPoolAllocation: return names_.origin(line_->process, line_->stack);
    default: return names_.origin(line_->process, line_->stack, is_lock_wrapper);
  }
}

// A point without a stack is in its site's module.
Cell ReplayCells::module() const {
  const NameFrame* frame = place();
  if (frame != nullptr) return frame->module == kNoModule ? Cell{} : Cell{names_.map().path(frame->module)};
  const Site* site = line_->site == 0 ? nullptr : recording_.site(line_->process, line_->site);
  if (site == nullptr || site->address == 0) return {};
  const CodePlace place = names_.map().locate(line_->process, site->address, line_->time);
  return place.known() ? Cell{names_.map().path(place.module)} : Cell{};
}

Cell ReplayCells::source(bool whole_path) const {
  const NameFrame* frame = place();
  const Site* site = line_->site == 0 ? nullptr : names_.point_site(line_->process, line_->site, line_->time);
  if (frame == nullptr && site == nullptr) return {};
  const std::string_view path = frame != nullptr ? frame->file : site->file;
  const uint32_t number = frame != nullptr ? frame->line : site->line;
  if (path.empty()) return {};
  const std::string_view file = whole_path ? path : base_name(path);
  return number == 0 ? std::string(file) : fmt::format("{}:{}", file, number);
}

Cell ReplayCells::cell(ReplayField field) {
  const TimelineLine& line = *line_;
  const auto known = [](std::string text) { return text.empty() ? Cell{} : Cell{std::move(text)}; };
  switch (field) {
    case ReplayField::kTime: return words_.time_ns(shown_time(line));
    case ReplayField::kDuration: return has_duration(line) ? Cell{ticks_to_ns(recording_, line.duration)} : Cell{};
    case ReplayField::kDelta: return since(&Shown::last);
    case ReplayField::kElapsed: return before_ ? since(&Shown::first) : Cell{int64_t{0}};
    case ReplayField::kPid: return int64_t{recording_.processes()[line.process].process.pid};
    case ReplayField::kTid: return int64_t{recording_.threads()[line.thread].tid};
    case ReplayField::kThread: return known(recording_.threads()[line.thread].name);
    case ReplayField::kProcess: return known(process_name(recording_.processes()[line.process].process));
    case ReplayField::kKind: return std::string(line_kind_name(line));
    case ReplayField::kDepth: return int64_t{line.depth};
    case ReplayField::kName: return known(words_.name(line));
    case ReplayField::kAddress: return words_.address(line) == 0 ? Cell{} : static_cast<int64_t>(words_.address(line));
    case ReplayField::kSize:
      if (line.kind == LineKind::kLost) return number(lost_events(line));
      return line.size != 0 || line.kind == LineKind::kAllocation ? number(line.size) : Cell{};
    case ReplayField::kModule: return module();
    case ReplayField::kSource: return source(true);
    case ReplayField::kArguments: return known(csv_arguments(line, words_));
    case ReplayField::kStack: return known(words_.folded_stack(line));
    case ReplayField::kEvent: return printer_.event_text(line);
  }
  return {};
}

std::string ReplayCells::text(ReplayField field) {
  const Cell value = field == ReplayField::kSource ? source(false) : cell(field);
  if (std::holds_alternative<std::monostate>(value)) return "";
  if (field == ReplayField::kTime) return timestamp_text(std::get<int64_t>(value));
  if (field == ReplayField::kModule) return printable(base_name(std::get<std::string>(value)));
  return cell_text(value, info(field).kind);
}

// On a terminal (style.width) long cells are cut in the middle to keep the columns aligned; in a pipe they are
// complete.
ReplayColumns replay_columns(const std::vector<ReplayField>& chosen, ReplayCells& cells, const TextStyle& style) {
  std::vector<ReplayField> fields;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(fields), is_column);
  ReplayColumns columns;
  for (ReplayField field : fields)
    columns.titles += (columns.titles.empty() ? "" : " ") + padded(std::string(info(field).title), info(field));
  columns.width = columns.titles.size();
  columns.text = [fields, &cells, style](const TimelineLine& line) {
    cells.next(line);
    std::string all;
    for (size_t i = 0; i < fields.size(); ++i) {
      const FieldInfo& field = info(fields[i]);
      std::string text = cells.text(fields[i]);
      if (style.width != 0) text = cut_middle(text, field.width);
      if (i != 0) all += ' ';
      all += fields[i] == ReplayField::kTime ? tinted(padded(text, field), Tint::kTime, style) : padded(text, field);
    }
    return all;
  };
  return columns;
}

Table replay_table(const std::vector<ReplayField>& fields) {
  Table table;
  table.key = "lines";
  for (ReplayField field : fields) table.columns.push_back({info(field).key, info(field).title, info(field).kind});
  return table;
}

}  // namespace penna
