// SPDX-License-Identifier: MIT
// The tables allocation and counter: what Allocations reports for each block, as in `penna report alloc`.
#include <algorithm>

#include "export/text/utf8.h"
#include "model/blocks/allocations.h"
#include "sql/call_numbers.h"
#include "sql/columns.h"
#include "sql/scans.h"

namespace penna::sql_scans {
namespace {

// The merged allocation events, passed through Allocations to the observer.
class BlockWalk : public Scan, private AllocationObserver {
 public:
  BlockWalk(SqlSource& source, const ScanRequest& request, BlockFamily family)
      : source_(source), request_(request), family_(std::move(family)) {}
  ~BlockWalk() override {
    if (events_) source_.add_unreadable(events_->report().unreadable);
  }

  bool fill(RowBatch& out) final {
    if (!blocks_) open();
    out_ = &out;
    while (!done_ && out.rows() < kBatchRows) {
      if (const Event* event = events_->next()) {
        if (numbers_) (*numbers_)(*event);
        (*blocks_)(*event);
      } else {
        blocks_->finish();
        finish();
        done_ = true;
      }
    }
    if (done_ && out.rows() < kBatchRows) add_rest(out);
    return out.rows() != 0;
  }

 protected:
  virtual bool needs_calls() const { return false; }
  virtual void finish() {}             // the events are over
  virtual void add_rest(RowBatch&) {}  // rows that remain then
  std::optional<int64_t> call_of(uint32_t thread) const { return numbers_ ? numbers_->current(thread) : std::nullopt; }

  SqlSource& source_;
  const ScanRequest& request_;
  BlockFamily family_;
  std::unique_ptr<Allocations> blocks_;
  RowBatch* out_ = nullptr;

 private:
  void open() {
    const Recording& recording = source_.recording();
    AllocationOptions options;
    options.family = family_;
    options.observer = this;
    blocks_ = std::make_unique<Allocations>(recording, std::move(options));
    if (needs_calls()) numbers_ = std::make_unique<CallNumbers>(source_);
    events_ = std::make_unique<MergedEvents>(
        recording, EventFilter{.classes = kAllocEvents | (numbers_ ? kCallEvents : 0), .all_threads = true});
  }

  std::unique_ptr<MergedEvents> events_;
  std::unique_ptr<CallNumbers> numbers_;
  bool done_ = false;
};

class AllocationScan : public BlockWalk {
 public:
  AllocationScan(SqlSource& source, const ScanRequest& request, BlockFamily family)
      : BlockWalk(source, request, std::move(family)), scale_(source.recording()) {}

 private:
  // Facts that a block's end does not carry.
  struct Born {
    uint64_t address, time, size;
    uint32_t process, thread, stack, kind;
    std::optional<int64_t> call;
  };
  using Key = std::pair<uint32_t, uint64_t>;  // thread, sequence

  bool needs_calls() const override { return request_.wants(allocation_column::call); }

  bool takes(uint32_t thread, uint64_t ticks) const {
    return takes_rows_of(source_, request_, thread) && request_.in_time(source_.time_ns(ticks));
  }

  void on_allocated(const Event& event, const HeapBlock& block) override {
    if (!takes(block.thread, block.time)) return;
    const BlockRecord record = read_block(event.record);
    live_.insert_or_assign(key_of(block), Born{record.address, block.time, block.size, event.process, block.thread,
                                               record.stack, block_kind(record), call_of(event.thread)});
  }

  void on_freed(const BlockEnd& ended) override {
    const auto found = live_.find(key_of(ended.block));
    if (found == live_.end() || !ended.whole) return;
    add(found->second, "freed", &ended, *out_);
    live_.erase(found);
  }

  // The remaining blocks are live, unless their address belongs to a later block.
  void finish() override {
    blocks_->each_live([&](uint32_t, uint64_t, const HeapBlock& block) { kept_.emplace(key_of(block), true); });
    for (auto born = live_.begin(); born != live_.end(); ++born) rest_.push_back(born->first);
    std::sort(rest_.begin(), rest_.end());
  }
  void add_rest(RowBatch& out) override {
    for (; next_rest_ < rest_.size() && out.rows() < kBatchRows; ++next_rest_) {
      const uint64_t key = rest_[next_rest_];
      add(live_.at(key), kept_.count(key) != 0 ? "live" : "replaced", nullptr, out);
    }
  }

  // One thread never makes 2^44 allocations.
  static uint64_t key_of(const HeapBlock& block) { return uint64_t{block.thread} << 44 | block.sequence; }

  void add(const Born& of, const char* how, const BlockEnd* ended, RowBatch& out) {
    using namespace allocation_column;
    const int64_t birth = source_.time_ns(of.time);
    begin_row_of(source_, {recording, process, thread, time, utc}, of.process, of.thread, of.time, birth, out);
    if (of.call) out.number(call, *of.call);
    if (ended != nullptr) {
      const int64_t died = source_.time_ns(ended->time);
      out.number(duration, died - birth);
      out.number(death, died);
      out.number(free_thread, source_.thread_id(ended->thread));
      if (ended->from.stack != 0) out.number(free_stack, source_.stack_id(ended->from.process, ended->from.stack));
    } else {
      out.number(duration, source_.time_ns(source_.summary().last_time) - birth);
    }
    out.text(state, how);
    out.own_text(family, valid_utf8(family_.name()));
    out.text(kind, block_kind_text(of.kind));
    out.number(address, static_cast<int64_t>(of.address));
    out.number(size, static_cast<int64_t>(of.size));
    const SampleWeight weight = scale_.weigh(of.size);
    out.number(blocks, static_cast<int64_t>(weight.blocks));
    out.number(bytes, static_cast<int64_t>(weight.bytes));
    if (of.stack == 0) return;
    out.number(stack, source_.stack_id(of.process, of.stack));
    if (!out.wants(function)) return;
    if (const std::string_view origin = source_.origin(of.process, of.stack); !origin.empty())
      out.text(function, origin);
  }

  SampleScale scale_;
  NumberMap<Born> live_;  // by key_of()
  NumberMap<bool> kept_;  // at the end
  std::vector<uint64_t> rest_;
  size_t next_rest_ = 0;
};

class CounterScan : public BlockWalk {
 public:
  using BlockWalk::BlockWalk;

 private:
  void on_live(uint32_t of_process, uint64_t ticks, uint64_t bytes, uint64_t blocks) override {
    using namespace counter_column;
    const int64_t at = source_.time_ns(ticks);
    if (!request_.in_time(at)) return;
    const auto add = [&](const char* what, uint64_t now) {
      out_->begin_row();
      out_->number(recording, source_.number());
      out_->number(process, source_.process_id(of_process));
      out_->number(time, at);
      if (out_->wants(utc)) out_->number(utc, source_.utc_ns(ticks));
      out_->text(name, what);
      out_->number(value, static_cast<int64_t>(now));
    };
    add("heap.bytes", bytes);
    add("heap.blocks", blocks);
  }
};

}  // namespace

Parts scan_blocks(SqlSource& source, SqlTable table, const ScanRequest& request) {
  Parts parts;
  if (source.summary().events[PENNA_ALLOC] == 0) return parts;
  if (table == SqlTable::kCounter) {
    parts.push_back(std::make_unique<CounterScan>(source, request, BlockFamily()));
    return parts;
  }
  parts.push_back(std::make_unique<AllocationScan>(source, request, BlockFamily()));
  for (const std::string& pool : pool_names(source.recording()))
    if (Result<BlockFamily> family = BlockFamily::find(source.recording(), "pool:" + pool))
      parts.push_back(std::make_unique<AllocationScan>(source, request, std::move(*family)));
  return parts;
}

}  // namespace penna::sql_scans
