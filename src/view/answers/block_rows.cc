// SPDX-License-Identifier: MIT
// See block_rows.h.
#include "view/answers/block_rows.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "export/text/json_writer.h"
#include "model/blocks/allocations.h"
#include "model/events/block_records.h"
#include "model/events/sampling.h"
#include "report/frames.h"
#include "view/answers/report_json.h"

namespace penna {
namespace {

constexpr size_t kMostMoves = 8;  // of one block; the first allocation and the last moves are kept

enum class End : uint8_t { kLive, kFreed, kUnknown };

// An allocation of a block: the first, or by a realloc.
struct Place {
  uint64_t time = 0, bytes = 0, address = 0;
  uint32_t thread = 0, process = 0, stack = 0;
};
struct Life {
  Place first{};
  std::vector<Place> moves{};
  uint64_t move_count = 0;
  End end = End::kLive;
  Place freed{};  // with kFreed; stack 0: not recorded
  const Place& last() const { return moves.empty() ? first : moves.back(); }
};

// One thread never makes 2^44 allocations.
uint64_t key_of(const HeapBlock& block) { return uint64_t{block.thread} << 44 | block.sequence; }

// Follows each block through reallocs, and hands over its life once that is over.
class Lives : public AllocationObserver {
 public:
  Lives(const Recording& recording, std::function<void(Life)> take)
      : take_(std::move(take)), heap_(recording, options()), parting_(recording.threads().size()) {}

  void read(const Recording& recording) {
    for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
      ++events_;
      heap_(event);
    });
    heap_.finish();
    for (Parting& one : parting_)
      if (one.life) take_(std::move(*one.life));
    heap_.each_live([&](uint32_t, uint64_t, const HeapBlock& block) {
      const auto found = live_.find(key_of(block));
      if (found == live_.end()) return;
      take_(std::move(found.value()));
      live_.erase(found);
    });
    // Their addresses belong to later blocks.
    for (auto one = live_.begin(); one != live_.end(); ++one) {
      one.value().end = End::kUnknown;
      take_(std::move(one.value()));
    }
  }

  void on_allocated(const Event& event, const HeapBlock& block) override {
    const BlockRecord record = read_block(event.record);
    const Place place{block.time, block.size, record.address, block.thread, event.process, record.stack};
    // The free of a realloc is reported when its allocation follows.
    Parting& parting = parting_[event.thread];
    const bool is_moved = parting.life && parting.event == events_ && record.family == PENNA_FAMILY_REALLOC;
    Life life;
    if (is_moved) {
      life = std::move(*parting.life);
      life.end = End::kLive;
      ++life.move_count;
      if (life.moves.size() == kMostMoves) life.moves.erase(life.moves.begin());
      life.moves.push_back(place);
    } else {
      if (parting.life) take_(std::move(*parting.life));
      life.first = place;
    }
    parting.life.reset();
    live_.insert_or_assign(key_of(block), std::move(life));
  }

  void on_freed(const BlockEnd& end) override {
    Parting& parting = parting_[end.thread];
    if (parting.life) take_(std::move(*parting.life));
    parting.life.reset();
    const auto found = live_.find(key_of(end.block));
    if (found == live_.end()) return;
    parting.life = std::move(found.value());
    parting.event = events_;
    parting.life->end = End::kFreed;
    parting.life->freed = {end.time,   end.block.size,   parting.life->last().address,
                           end.thread, end.from.process, end.from.stack};
    live_.erase(found);
  }

 private:
  AllocationOptions options() {
    AllocationOptions options;
    options.as_recorded = true;
    options.observer = this;
    return options;
  }
  // A thread's last free, which the next allocation may turn into a move; and at which event it was reported.
  struct Parting {
    std::optional<Life> life;
    uint64_t event = 0;
  };

  std::function<void(Life)> take_;
  Allocations heap_;
  std::vector<Parting> parting_;  // by thread
  NumberMap<Life> live_;
  uint64_t events_ = 0;
};

class BlockTable {
 public:
  BlockTable(const Recording& recording, Names& names, const BlockRowsRequest& request,
             const std::function<std::string(uint32_t)>& thread_name)
      : recording_(recording), names_(names), request_(request), thread_name_(thread_name) {
    table_.key = "blocks";
    table_.columns = {{"time_ns", "ALLOCATED", CellKind::kDuration}, {"bytes", "BYTES", CellKind::kBytes},
                      {"lived_ns", "LIVED", CellKind::kDuration},    {"moved", "MOVED", CellKind::kCount},
                      {"thread", "THREAD", CellKind::kText},         {"freed_by", "FREED BY", CellKind::kText},
                      {"function", "FUNCTION", CellKind::kText}};
  }

  Result<> select() { return select_rows(table_, request_.sort.empty() ? "bytes:desc" : request_.sort, request_.rows); }

  void add(Life life) {
    if (!meets(life)) return;
    ++blocks_;
    const bool is_freed = life.end == End::kFreed;
    table_.add({ns(life.first.time), number(life.last().bytes),
                is_freed ? Cell{ns(life.freed.time) - ns(life.first.time)} : Cell{}, number(life.move_count),
                thread_name_(life.first.thread), is_freed ? Cell{thread_name_(life.freed.thread)} : Cell{},
                of_stack(life.last()).function},
               static_cast<uint32_t>(lives_.size()));
    lives_.push_back(std::move(life));
    if (table_.rows.size() > 2 * request_.rows + 1000) prune();
  }

  std::string json() {
    prune();
    table_.title = fmt::format("{} block{}", blocks_, blocks_ == 1 ? "" : "s");
    Report report;
    if (SampleScale(recording_).is_sampled())
      report.warnings.emplace_back("Only a sample of the allocations was recorded: most blocks are missing.");
    report.tables.push_back(std::move(table_));
    return json_text([&](JsonWriter& json) {
      write_report(json, report, "life");
      json.key("lives");
      json.begin_array();
      for (const Life& life : lives_) write(json, life);
      json.end_array();
    });
  }

 private:
  struct OfStack {
    std::string function, id;
  };
  int64_t ns(uint64_t ticks) const { return recording_.time().duration_ns(request_.begin, ticks); }

  const OfStack& of_stack(const Place& place) {
    const auto [found, is_new] = stacks_.try_emplace(pair_key(place.process, place.stack));
    if (is_new) {
      found.value().function = place_text(place.process, place.stack, names_);
      if (!request_.stack.empty()) found.value().id = stack_id(stack_details(place.process, place.stack, names_));
    }
    return found->second;
  }
  bool meets(const Life& life) {
    const int64_t born = ns(life.first.time);
    const ViewSelection& of = request_.of;
    if (!of.threads.empty() && std::find(of.threads.begin(), of.threads.end(), life.first.thread) == of.threads.end())
      return false;
    if (request_.leaked && life.end != End::kLive) return false;
    if (request_.instant) {
      const bool is_gone =
          life.end == End::kUnknown || (life.end == End::kFreed && ns(life.freed.time) < *request_.instant);
      if (born >= *request_.instant || is_gone) return false;
    } else if ((of.t0 && born < *of.t0) || (of.t1 && born >= *of.t1)) {
      return false;
    }
    if (request_.function.empty() && request_.stack.empty()) return true;
    const auto is_of = [&](const Place& place) {
      const OfStack& stack = of_stack(place);
      return (request_.function.empty() || stack.function == request_.function) &&
             (request_.stack.empty() || stack.id == request_.stack);
    };
    return is_of(life.first) || std::any_of(life.moves.begin(), life.moves.end(), is_of);
  }

  // Keeps the lives of the rows that are kept.
  void prune() {
    (void)select();
    std::vector<Life> kept;
    for (TableRow& row : table_.rows) {
      kept.push_back(std::move(lives_[row.source]));
      row.source = static_cast<uint32_t>(kept.size() - 1);
    }
    lives_ = std::move(kept);
  }

  void write(JsonWriter& json, const Life& life) {
    json.begin_object();
    json.key("places");
    json.begin_array();
    write(json, "allocated", life.first);
    for (const Place& move : life.moves) write(json, "moved", move);
    if (life.end == End::kFreed) write(json, "freed", life.freed);
    json.end_array();
    json.field("moves_left_out", life.move_count - life.moves.size());
    json.field("end", life.end == End::kFreed ? "freed" : life.end == End::kLive ? "live" : "unknown");
    json.end_object();
  }
  void write(JsonWriter& json, const char* what, const Place& place) {
    json.begin_object();
    json.field("what", what);
    json.field("time_ns", ns(place.time));
    json.field("thread", place.thread);
    json.field("bytes", place.bytes);
    json.field("address", fmt::format("{:#x}", place.address));
    if (place.stack != 0) {
      const std::vector<TableDetail> frames = stack_details(place.process, place.stack, names_);
      json.field("function", of_stack(place).function);
      json.field("stack_id", stack_id(frames));
      write_details(json, "stack", frames);
    }
    json.end_object();
  }

  const Recording& recording_;
  Names& names_;
  const BlockRowsRequest& request_;
  const std::function<std::string(uint32_t)>& thread_name_;
  Table table_;
  std::vector<Life> lives_;  // by TableRow::source
  NumberMap<OfStack> stacks_;
  uint64_t blocks_ = 0;
};

}  // namespace

std::string stack_id(const std::vector<TableDetail>& frames) {
  std::string all;
  for (const TableDetail& frame : frames) all.append(frame.text).append(1, '\0').append(frame.where).append(1, '\0');
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

Result<std::string> block_rows(const Recording& recording, Names& names, const BlockRowsRequest& request,
                               const std::function<std::string(uint32_t)>& thread_name) {
  BlockTable table(recording, names, request, thread_name);
  PENNA_TRY(table.select());  // a wrong column is reported before the work
  Lives(recording, [&](Life life) { table.add(std::move(life)); }).read(recording);
  return table.json();
}

}  // namespace penna
