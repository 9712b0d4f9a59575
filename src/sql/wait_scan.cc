// SPDX-License-Identifier: MIT
// The tables wait and hold: the rows of WaitRows, with the names of locks as in `penna report locks`.
#include <algorithm>

#include "model/locks/wait_rows.h"
#include "report/locks/lock_names.h"
#include "sql/call_numbers.h"
#include "sql/columns.h"
#include "sql/scans.h"

namespace penna::sql_scans {
namespace {

class WaitScan : public Scan {
 public:
  WaitScan(SqlSource& source, SqlTable table, const ScanRequest& request)
      : source_(source), table_(table), request_(request), tracker_(source.recording()), rows_(make_rows()) {}
  ~WaitScan() override {
    if (events_) source_.add_unreadable(events_->report().unreadable);
  }

  bool fill(RowBatch& out) override {
    if (!events_) open(out);
    out_ = &out;
    while (!done_ && out.rows() < kBatchRows) {
      if (const Event* event = events_->next()) {
        take(*event);
      } else {
        rows_.finish();
        done_ = true;
      }
    }
    return out.rows() != 0;
  }

 private:
  // Facts known when a thread begins to wait, and no longer at the end.
  struct Begun {
    uint32_t chain = 0;
    std::optional<int64_t> call;
  };

  void open(RowBatch& out) {
    const Recording& recording = source_.recording();
    begun_.resize(recording.threads().size());
    const bool in_calls = table_ == SqlTable::kWait && request_.wants(wait_column::call);
    if (in_calls) numbers_ = std::make_unique<CallNumbers>(source_);
    const uint32_t classes = kLockEvents | kAllocEvents | (in_calls ? kCallEvents : 0);
    // Events before the range determine who holds what.
    out_ = &out;
    MergedEvents past(recording, EventFilter{.classes = classes, .past = true, .all_threads = true});
    while (const Event* event = past.next()) take(*event);
    source_.add_unreadable(past.report().unreadable);
    events_ = std::make_unique<MergedEvents>(recording, EventFilter{.classes = classes, .all_threads = true});
  }

  void take(const Event& event) {
    if (numbers_) (*numbers_)(event);
    const LockStep step = tracker_.take(event);
    if (table_ == SqlTable::kWait && tracker_.wait_of(event.thread).is_open() &&
        step.read.action == LockAction::kRequested)
      begun_[event.thread] = {chain_of(event.thread), numbers_ ? numbers_->current(event.thread) : std::nullopt};
    rows_(event, step);
  }

  // The length of a chain of waiting threads, beginning with this one; a cycle counts once.
  uint32_t chain_of(uint32_t thread) const {
    constexpr uint32_t kMost = 1000;
    std::vector<uint32_t> seen;
    while (thread != kNoIndex && seen.size() < kMost && std::find(seen.begin(), seen.end(), thread) == seen.end()) {
      const OpenWait& wait = tracker_.wait_of(thread);
      if (!wait.is_open()) break;
      seen.push_back(thread);
      thread = tracker_.holder(wait.object).thread;
    }
    return static_cast<uint32_t>(seen.size());
  }

  WaitRows make_rows() {
    if (table_ == SqlTable::kWait) return {tracker_, [this](const WaitRow& row) { add(row); }, {}};
    return {tracker_, {}, [this](const HoldRow& row) { add(row); }};
  }

  template <typename Row>
  bool takes(const Row& row) const {
    return takes_rows_of(source_, request_, row.thread) && request_.in_time(source_.time_ns(row.begin));
  }

  void add_function(uint32_t process, uint32_t stack, size_t column, RowBatch& out) {
    if (stack == 0 || !out.wants(column)) return;
    if (const std::string_view origin = source_.origin(process, stack, is_lock_wrapper); !origin.empty())
      out.text(column, origin);
  }

  static const char* end_text(WaitEnd how) {
    constexpr const char* kEnds[] = {"got", "timeout", "error", "owner_died", "left", "open"};
    return kEnds[static_cast<size_t>(how)];
  }
  static const char* side_text(OtherSide side) {
    constexpr const char* kSides[] = {"held", "gave_back", "unknown", "nobody", "woke", "timeout", "broken"};
    return kSides[static_cast<size_t>(side)];
  }

  void add(const WaitRow& row) {
    using namespace wait_column;
    if (!takes(row)) return;
    RowBatch& out = *out_;
    const int64_t begin = source_.time_ns(row.begin);
    begin_row_of(source_, {recording, process, thread, time, utc}, row.process, row.thread, row.begin, begin, out);
    const Begun& begun = begun_[row.thread];
    if (begun.call) out.number(call, *begun.call);
    out.number(duration, source_.time_ns(row.end) - begin);
    out.text(how, end_text(row.how));
    if (out.wants(lock)) out.text(lock, source_.lock_name(row.object));
    out.text(kind, lock_kind_name(lock_kind(row.sync)));
    out.number(address, static_cast<int64_t>(row.address));
    if (row.stack != 0) out.number(stack, source_.stack_id(row.process, row.stack));
    add_function(row.process, row.stack, function, out);
    out.text(side, side_text(row.side));
    if (begun.chain != 0 && !row.retaken) out.number(chain, begun.chain);
    if (row.other == kNoIndex) return;
    out.number(holder, source_.thread_id(row.other));
    const uint32_t its_process = source_.recording().threads()[row.other].process;
    if (row.other_stack != 0) out.number(holder_stack, source_.stack_id(its_process, row.other_stack));
    add_function(its_process, row.other_stack, holder_function, out);
  }

  void add(const HoldRow& row) {
    using namespace hold_column;
    if (!takes(row)) return;
    RowBatch& out = *out_;
    const int64_t begin = source_.time_ns(row.begin);
    begin_row_of(source_, {recording, process, thread, time, utc}, row.process, row.thread, row.begin, begin, out);
    out.number(duration, source_.time_ns(row.end) - begin);
    if (out.wants(lock)) out.text(lock, source_.lock_name(row.object));
    out.text(kind, lock_kind_name(lock_kind(row.sync)));
    out.number(address, static_cast<int64_t>(row.address));
    out.number(shared, row.shared);
    out.number(hold_column::open, row.open);
    if (row.stack != 0) out.number(stack, source_.stack_id(row.process, row.stack));
    add_function(row.process, row.stack, function, out);
    if (row.release_stack != 0) out.number(release_stack, source_.stack_id(row.process, row.release_stack));
    out.number(longest_wait, source_.duration_ns(row.begin, row.begin + row.longest_wait));
  }

  SqlSource& source_;
  SqlTable table_;
  const ScanRequest& request_;
  HolderTracker tracker_;
  WaitRows rows_;
  std::unique_ptr<MergedEvents> events_;
  std::unique_ptr<CallNumbers> numbers_;
  std::vector<Begun> begun_;  // by thread
  RowBatch* out_ = nullptr;
  bool done_ = false;
};

}  // namespace

Parts scan_waits(SqlSource& source, SqlTable table, const ScanRequest& request) {
  Parts parts;
  if (source.summary().events[PENNA_LOCKS] != 0) parts.push_back(std::make_unique<WaitScan>(source, table, request));
  return parts;
}

}  // namespace penna::sql_scans
