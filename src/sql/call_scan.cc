// SPDX-License-Identifier: MIT
// The table call: a thread's calls in the order in which they end, as counted by `penna report calls`.
#include "model/calls/thread_calls.h"
#include "sql/columns.h"
#include "sql/scans.h"

namespace penna::sql_scans {
namespace {

class CallScan : public Scan {
 public:
  CallScan(SqlSource& source, const ScanRequest& request, uint32_t thread)
      : source_(source), request_(request), thread_(thread) {}
  ~CallScan() override {
    if (cursor_) source_.add_unreadable(cursor_->unreadable());
  }

  bool fill(RowBatch& out) override {
    if (!calls_) open();
    out_ = &out;
    while (!done_ && out.rows() < kBatchRows) {
      if (!cursor_->next()) {
        calls_->finish(Observer{*this});
        done_ = true;
      } else if (cursor_->event().record.changes_calls()) {
        calls_->add(cursor_->event(), *functions_, Observer{*this});
      }
      if (!done_) take_runs(out);
    }
    return out.rows() != 0;
  }

 private:
  // Runs for each call, inlined into the matcher's loop.
  struct Observer {
    CallScan& scan;
    [[gnu::always_inline]] void on_enter(OpenCall& call, size_t) { call.tag = ++scan.last_; }
    [[gnu::always_inline]] void on_leave(const OpenCall& call, uint64_t end, CallEnd how, size_t depth) {
      if (!call.inherited) [[likely]]
        scan.add(call, end, how, depth);
    }
  };
  struct Function {
    bool known = false, wanted = true;
    SqlFunction names;
  };

  void open() {
    const RecordedThread& thread = source_.recording().threads()[thread_];
    map_ = std::make_unique<CodeMap>(source_.recording());
    functions_ = std::make_unique<FunctionTable>(*map_);
    calls_ = std::make_unique<ThreadCalls>(CallRun{thread.process, thread_, {}}, *map_);
    cursor_ = std::make_unique<ThreadCursor>(source_.recording(), thread_,
                                             EventFilter{.classes = kCallEvents, .thread = thread_},
                                             std::make_shared<Unpackers>());
    names_functions_ = request_.function.has_value();
    for (const size_t column : {call_column::function, call_column::module, call_column::file, call_column::line})
      names_functions_ |= request_.wants(column);
  }

  void take_runs(RowBatch& out) {
    CallRun run{calls_->process, thread_, {}};
    while (out.rows() < kBatchRows && (run.calls = cursor_->next_calls(UINT64_MAX), !run.calls.empty()))
      calls_->add(run, *functions_, Observer{*this});
  }

  const Function& function_of(const OpenCall& call) {
    if (known_.size() <= call.slot) known_.resize(call.slot + 1);
    Function& function = known_[call.slot];
    if (function.known) [[likely]]
      return function;
    function.known = true;
    if (names_functions_) function.names = source_.function(map_->locate(calls_->process, call.pc, call.begin));
    if (request_.function) function.wanted = request_.function->matches(std::string(function.names.function));
    return function;
  }

  void add(const OpenCall& call, uint64_t ticks, CallEnd ended, size_t at_depth) {
    using namespace call_column;
    const Function& of = function_of(call);
    if (!of.wanted) return;
    const int64_t begin = source_.time_ns(call.begin);
    if (!request_.in_time(begin)) return;
    RowBatch& to = *out_;
    to.begin_row();
    to.number(id, source_.call_id(thread_, call.tag));
    to.number(recording, source_.number());
    to.number(process, source_.process_id(calls_->process));
    to.number(thread, source_.thread_id(thread_));
    const auto& stack = calls_->matcher.stack();
    if (at_depth != 0 && !stack[at_depth - 1].inherited)
      to.number(parent, source_.call_id(thread_, stack[at_depth - 1].tag));
    to.number(depth, static_cast<int64_t>(at_depth));
    if (names_functions_) {
      to.text(function, of.names.function);
      if (!of.names.module.empty()) to.text(module, of.names.module);
      if (!of.names.file.empty()) to.text(file, of.names.file);
      if (of.names.line != 0) to.number(line, of.names.line);
    }
    to.number(time, begin);
    if (to.wants(utc)) to.number(utc, source_.utc_ns(call.begin));
    const uint64_t whole = ticks - call.begin;
    if (to.wants(duration)) to.number(duration, source_.time_ns(ticks) - begin);
    if (to.wants(self)) to.number(self, source_.duration_ns(call.begin, ticks - std::min(whole, call.inner)));
    to.text(call_column::how, end_text(ended));
  }

  SqlSource& source_;
  const ScanRequest& request_;
  uint32_t thread_;
  std::unique_ptr<CodeMap> map_;
  std::unique_ptr<FunctionTable> functions_;
  std::unique_ptr<ThreadCalls> calls_;
  std::unique_ptr<ThreadCursor> cursor_;
  bool names_functions_ = false;
  std::vector<Function> known_;  // by the matcher's slot
  uint32_t last_ = 0;
  bool done_ = false;
  RowBatch* out_ = nullptr;
};

}  // namespace

Parts scan_calls(SqlSource& source, const ScanRequest& request) {
  Parts parts;
  for (const ThreadSummary& thread : source.summary().threads)
    if (thread.events[PENNA_CALLS] != 0 && takes_rows_of(source, request, thread.thread))
      parts.push_back(std::make_unique<CallScan>(source, request, thread.thread));
  return parts;
}

}  // namespace penna::sql_scans
