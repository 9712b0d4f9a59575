// SPDX-License-Identifier: MIT
// The tables whose rows are lines of a timeline: event, point, span. One part per thread.
#include <algorithm>

#include "export/text/event_words.h"
#include "export/text/utf8.h"
#include "export/timeline/json_arguments.h"
#include "sql/call_numbers.h"
#include "sql/columns.h"
#include "sql/scans.h"

namespace penna::sql_scans {
namespace {

class LineScan : public Scan {
 public:
  LineScan(SqlSource& source, SqlTable table, const ScanRequest& request, uint32_t thread)
      : source_(source), table_(table), request_(request), thread_(thread) {}
  ~LineScan() override {
    if (cursor_) source_.add_unreadable(cursor_->unreadable());
  }

  bool fill(RowBatch& out) override {
    if (!timeline_) open();
    const auto on_line = [&](const TimelineLine& line) {
      add(line, out);
      return true;
    };
    while (!done_ && out.rows() < kBatchRows) {
      if (cursor_->next()) {
        timeline_->add(cursor_->event(), on_line);
        // After its lines: the enclosing call of an entry is not the entry's own.
        if (numbers_) (*numbers_)(cursor_->event());
      } else {
        timeline_->finish(table_ == SqlTable::kSpan, on_line);
        done_ = true;
      }
    }
    return out.rows() != 0;
  }

 private:
  // Facts about an open span known only at its beginning.
  struct OpenSpan {
    uint32_t depth;
    std::string args;
    uint32_t stack;
    std::optional<int64_t> call;
  };

  void open() {
    const Recording& recording = source_.recording();
    const bool in_calls = table_ == SqlTable::kPoint  ? request_.wants(point_column::call)
                          : table_ == SqlTable::kSpan ? request_.wants(span_column::call)
                                                      : false;
    // A span's depth counts calls too, and a jump out of them ends it.
    EventFilter filter{.classes = kAllRecords, .thread = thread_};
    if (table_ == SqlTable::kPoint) filter.classes = kPointEvents | (in_calls ? kCallEvents : 0);
    if (table_ == SqlTable::kSpan) filter.classes = kPointEvents | kCallEvents;
    cursor_ = std::make_unique<ThreadCursor>(recording, thread_, filter, std::make_shared<Unpackers>());
    timeline_ = std::make_unique<Timeline>(recording, recording.threads()[thread_].process, thread_, false);
    if (in_calls) numbers_ = std::make_unique<CallNumbers>(source_);
    words_ = source_.with_names([&](Names& names) { return std::make_unique<EventWords>(recording, names); });
  }

  void add(const TimelineLine& line, RowBatch& out) {
    switch (table_) {
      case SqlTable::kPoint:
        if (line.kind == LineKind::kPoint || line.kind == LineKind::kSpanBegin) add_point(line, out);
        return;
      case SqlTable::kSpan: return add_to_span(line, out);
      default:
        if (!is_end_without_event(line)) add_event(line, out);
    }
  }

  std::string arguments(const TimelineLine& line) {
    return source_.with_names(
        [&](Names&) { return json_text([&](JsonWriter& json) { write_arguments(line, *words_, json); }); });
  }
  static std::string without_line_end(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }
  void add_site(const TimelineLine& line, size_t provider, size_t name, RowBatch& out) {
    const Site* site = source_.recording().site(line.process, line.site);
    if (site != nullptr) out.own_text(provider, valid_utf8(site->provider));
    out.own_text(name, valid_utf8(site != nullptr ? site->name : site_name(nullptr, line.site)));
  }
  std::optional<int64_t> current_call() const { return numbers_ ? numbers_->current(thread_) : std::nullopt; }

  void add_event(const TimelineLine& of, RowBatch& out) {
    using namespace event_column;
    const int64_t at = source_.time_ns(of.time);
    if (!request_.in_time(at)) return;
    begin_row_of(source_, {recording, process, thread, time, utc}, of.process, thread_, of.time, at, out);
    out.text(kind, line_kind_name(of));
    if (out.wants(name)) out.own_text(name, valid_utf8(source_.with_names([&](Names&) { return words_->name(of); })));
    if (const uint64_t where = words_->address(of); where != 0) out.number(address, static_cast<int64_t>(where));
    if (of.kind == LineKind::kLost)
      out.number(size, static_cast<int64_t>(lost_events(of)));
    else if (of.size != 0 || of.kind == LineKind::kAllocation)
      out.number(size, static_cast<int64_t>(of.size));
    if (has_wait_or_hold(of)) out.number(duration, words_->duration_ns(of));
    out.number(depth, of.depth);
    if (of.stack != 0) out.number(stack, source_.stack_id(of.process, of.stack));
    if (out.wants(args)) {
      std::string text = without_line_end(arguments(of));
      if (text != "{}") out.own_text(args, std::move(text));
    }
  }

  void add_point(const TimelineLine& of, RowBatch& out) {
    using namespace point_column;
    if (of.record->kind == PENNA_KIND_VALUES) return;  // of a call
    const int64_t at = source_.time_ns(of.time);
    if (!request_.in_time(at)) return;
    begin_row_of(source_, {recording, process, thread, time, utc}, of.process, thread_, of.time, at, out);
    if (const auto in = current_call()) out.number(call, *in);
    add_site(of, provider, name, out);
    if (out.wants(args)) out.own_text(args, without_line_end(arguments(of)));
    if (of.stack != 0) out.number(stack, source_.stack_id(of.process, of.stack));
  }

  void add_to_span(const TimelineLine& of, RowBatch& out) {
    using namespace span_column;
    if (of.kind == LineKind::kSpanBegin) {
      while (!open_.empty() && open_.back().depth >= of.depth) open_.pop_back();  // on another stack
      open_.push_back({of.depth, out.wants(args) ? without_line_end(arguments(of)) : "", of.stack, current_call()});
      return;
    }
    if (of.kind != LineKind::kSpanEnd) return;
    while (!open_.empty() && open_.back().depth > of.depth) open_.pop_back();
    const bool known = !open_.empty() && open_.back().depth == of.depth;
    const OpenSpan begun = known ? std::move(open_.back()) : OpenSpan{of.depth, "", 0, std::nullopt};
    if (known) open_.pop_back();
    const int64_t at = source_.time_ns(of.begin);
    if (!request_.in_time(at)) return;
    begin_row_of(source_, {recording, process, thread, time, utc}, of.process, thread_, of.begin, at, out);
    if (begun.call) out.number(call, *begun.call);
    out.number(duration, source_.time_ns(of.time) - at);
    add_site(of, provider, name, out);
    out.number(depth, of.depth);
    if (!begun.args.empty()) out.own_text(args, begun.args);
    if (begun.stack != 0) out.number(stack, source_.stack_id(of.process, begun.stack));
    out.text(how, end_text(of.end));
  }

  SqlSource& source_;
  SqlTable table_;
  const ScanRequest& request_;
  uint32_t thread_;
  std::unique_ptr<ThreadCursor> cursor_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<CallNumbers> numbers_;
  std::unique_ptr<EventWords> words_;
  std::vector<OpenSpan> open_;
  bool done_ = false;
};

}  // namespace

Parts scan_lines(SqlSource& source, SqlTable table, const ScanRequest& request) {
  Parts parts;
  for (const ThreadSummary& thread : source.summary().threads) {
    if (!takes_rows_of(source, request, thread.thread)) continue;
    if (table != SqlTable::kEvent && thread.events[PENNA_POINTS] == 0) continue;
    parts.push_back(std::make_unique<LineScan>(source, table, request, thread.thread));
  }
  return parts;
}

}  // namespace penna::sql_scans
