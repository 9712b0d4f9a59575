// SPDX-License-Identifier: MIT
// See process_drain.h.
#include "collect/process_drain.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "penna/clock.h"

namespace penna {

bool thread_exists(uint32_t pid, uint32_t tid) {
  return ::access(fmt::format("/proc/{}/task/{}", pid, tid).c_str(), F_OK) == 0;
}

// Calls look(chunk) for each chunk that is not free, while there is time; returns the first that was not visited. A
// thread takes a chunk and opens it right away, so few are found unopened: if a process claims many, the rest is
// skipped, because each look is a system call.
template <typename Look>
uint32_t ProcessDrain::each_taken(Look&& look) {
  constexpr uint32_t kMostUnopened = 256;
  const uint32_t count = channel_.geometry().chunk_count;
  uint32_t unopened = 0, chunk = 0;
  for (; chunk < count && unopened < kMostUnopened && !is_over(); ++chunk) {
    if (channel_.is_free(chunk)) continue;
    if (channel_.is_opened(chunk))
      look(chunk);
    else
      ++unopened;
  }
  return chunk;
}

ProcessDrain::ProcessDrain(ChannelMap channel, uint32_t number, uint32_t pid, std::unique_ptr<ChunkFilter> filter,
                           std::shared_ptr<ChunkSink> sink, std::shared_ptr<Budget> budget)
    : channel_(std::move(channel)),
      number_(number),
      pid_(pid),
      buffer_(PENNA_CHUNK_BYTES),
      written_bytes_(channel_.geometry().chunk_count),
      stuck_at_(channel_.geometry().chunk_count),
      shown_bytes_(channel_.geometry().chunk_count),
      is_unfinished_(channel_.geometry().chunk_count),
      budget_(std::move(budget)),
      sink_(sink ? std::move(sink) : std::make_shared<ChunkSink>(number)),
      filter_(std::move(filter)) {}

void ProcessDrain::set_observer(Observer* observer) {
  observer_ = observer;
  if (observer != nullptr) fresh_.emplace(number_, *observer, budget_);
}

void ProcessDrain::set_switches(const std::shared_ptr<const KindSwitches>& switches,
                                const std::shared_ptr<const FilterChanges>& changes) {
  if (!filter_) {
    filter_ = std::make_unique<ChunkFilter>(number_, nullptr, nullptr, budget_);
    filter_->set_switches(switches, true);
  }
  if (!changes->any()) return;
  filter_->set_changes(changes);
  for (const Module& module : sink_->modules()) filter_->learn(module);
  for (const auto& [id, site] : sink_->sites()) filter_->learn(site);
  descriptions_ = 0;  // those in open chunks, too
}

size_t ProcessDrain::sites_with(const Where& condition) {
  std::unordered_set<uint32_t> ids;
  const auto count = [&](const Site& site) {
    if (condition.places_in(site)) ids.insert(site.id);
  };
  for (const auto& [id, site] : sink_->sites()) count(site);
  // The others are in chunks that have not come yet.
  std::vector<uint8_t> copy(PENNA_CHUNK_BYTES);
  each_taken([&](uint32_t chunk) {
    RecordCursor in({copy.data(), channel_.copy_chunk(chunk, copy.data())});
    Record record;
    while (in.next(record))
      if (record.kind == PENNA_KIND_SITE)
        if (const auto site = decode_site(record)) count(*site);
  });
  return ids.size();
}

size_t ProcessDrain::drain(RecordingWriter& writer, size_t limit) {
  constexpr uint32_t kManyWaiting = 8;  // one thread hands over a few at once when it wakes the recorder up
  size_t taken = 0;
  read_starts(false);
  take_unfinished(writer);
  uint32_t chunk_untrusted;
  while (taken < limit && !is_over() && channel_.next_full_chunk(&chunk_untrusted)) {
    ++taken;
    // At worst a lie about them makes the file larger.
    writer.chunks_wait(channel_.backlog_untrusted() >= kManyWaiting);
    if (chunk_untrusted >= channel_.geometry().chunk_count) {
      ++sink_->health(0).damaged;
      continue;
    }
    // It was handed over twice, which our agent never does.
    if (is_unfinished_[chunk_untrusted]) {
      ++sink_->health(0).damaged;
      continue;
    }
    is_unfinished_[chunk_untrusted] = !take(writer, chunk_untrusted, Origin::kRing, true);
    if (is_unfinished_[chunk_untrusted])
      unfinished_.push_back({chunk_untrusted, header_of(buffer_).thread_serial, header_of(buffer_).tid});
  }
  ring_is_empty_ = taken < limit;
  max_backlog_ = std::max<uint64_t>(max_backlog_, taken);
  if (taken != 0) write_new_stacks(writer);
  return taken;
}

void ProcessDrain::drain_full(RecordingWriter& writer) {
  uint32_t in_use = 0;  // at most this many can be full
  each_taken([&](uint32_t) { ++in_use; });
  drain(writer, in_use);
}

// A program that records itself also has threads of the recorder.
void ProcessDrain::look_at_threads() {
  if (channel_.geometry().pid == pid_ && pid_ != static_cast<uint32_t>(::getpid())) quiet_.look(pid_);
}

// A process in another pid namespace uses other pids for its children, too.
void ProcessDrain::read_starts(bool gone) {
  if (programs_ == nullptr) return;
  penna_start start;
  for (uint32_t i = 0; i < PENNA_STARTS && channel_.next_start(gone, &start); ++i) {
    const uint32_t own = channel_.geometry().pid;
    if (start.pid == own)
      programs_->add(start, pid_);
    else if (own == pid_)
      programs_->add(start, start.pid);
    else if (start.why != PENNA_START_EXPECTED && start.why != PENNA_START_FAILED)
      programs_->add(start, 0);
  }
}

// Chunks that waited for an unfinished record: they are older than those in the ring. Some records are never finished:
// a handler interrupted the thread and did not return (siglongjmp, a cancelled thread). So each chunk is checked at
// growing intervals, and no longer waited for once its thread is gone; while the thread lives, it may come back to the
// record, and the chunk cannot be returned.
void ProcessDrain::take_unfinished(RecordingWriter& writer) {
  constexpr uint32_t kManyTries = 4;  // from then on, every 2^4 turns, check whether its thread lives
  std::vector<Unfinished> again;
  again.swap(unfinished_);
  waiting_threads_.clear();
  for (Unfinished& one : again) {
    const bool skipped = one.turns != 0 || is_over();
    const bool gone = !skipped && one.tries == kManyTries && !thread_exists(pid_, one.tid);
    if (!skipped && take(writer, one.chunk, Origin::kRing, !gone)) {
      is_unfinished_[one.chunk] = false;
      continue;
    }
    if (skipped) {
      one.turns -= one.turns != 0;
    } else {
      one.tries = std::min(one.tries + 1, kManyTries);
      one.turns = 1U << one.tries;
    }
    waiting_threads_.insert(one.serial);
    unfinished_.push_back(one);
  }
}

// Copies a chunk, returns it to the target and stores the copy. False: a record is still being written, so the chunk
// waits.
bool ProcessDrain::take(RecordingWriter& writer, uint32_t chunk, Origin origin, bool wait_for_open_records) {
  const bool was_full = origin == Origin::kRing;
  size_t bytes = channel_.copy_chunk(chunk, buffer_.data());
  if (bytes < sizeof(penna_chunk)) {
    if (was_full) channel_.free_pages(chunk, true);
    return true;
  }
  if (is_later(header_of(buffer_))) {
    channel_.free_pages(chunk, was_full);
    return true;
  }
  ChunkSummary summary = sink_->round_and_scan({buffer_.data(), bytes});
  if (wait_for_open_records && must_wait(summary)) {
    sink_->forget();
    return false;
  }
  written_bytes_[chunk] = stuck_at_[chunk] = shown_bytes_[chunk] = 0;
  // Returned before it is stored: the target may be waiting for it, and compression takes time.
  if (summary.complete())
    channel_.free_chunk(chunk, std::max(bytes, summary.content_bytes), was_full);
  else
    channel_.free_pages(chunk, was_full);
  if (origin == Origin::kVanishedThread) ++sink_->health(header_of(buffer_).thread_serial).abandoned;
  store(writer, {buffer_.data(), bytes}, summary);
  return true;
}

// For the chunk in buffer_: a record is still being written, or the chunk follows such a chunk of its thread, and the
// filter or the flight recorder needs them in order. Few chunks wait for order: a signal handler may write for long in
// the middle of its thread's record.
bool ProcessDrain::must_wait(const ChunkSummary& summary) {
  constexpr size_t kMostWaiting = 16;
  const uint32_t serial = header_of(buffer_).thread_serial;
  const bool needs_order = flight_ != nullptr || (filter_ && filter_->has_rules());
  const bool in_order = needs_order && unfinished_.size() < kMostWaiting;
  const bool is_behind = in_order && waiting_threads_.count(serial) != 0;
  if (summary.torn == 0 && summary.holes == 0 && !is_behind) return false;
  waiting_threads_.insert(serial);
  return true;
}

// For a scanned chunk.
void ProcessDrain::store(RecordingWriter& writer, std::span<const uint8_t> chunk, ChunkSummary summary) {
  costs_.add(chunk, summary);
  if (fresh_) fresh_->full_chunk(chunk, summary.content_bytes);
  quiet_.has_recorded(header_of(chunk).tid);
  if (filter_) {
    learn_descriptions(chunk);
    chunk = filter_->apply(chunk);
    sink_->forget();
    summary = sink_->scan(chunk);
  }
  sink_->describe(writer, chunk);
  if (flight_ != nullptr)
    flight_->keep(writer, sink_, chunk, summary);
  else
    sink_->write(writer, chunk, summary);
}

// Before the filter sees `chunk`. A description precedes its first use, but maybe from another thread, which may still
// hold that chunk.
void ProcessDrain::learn_descriptions(std::span<const uint8_t> chunk) {
  if (sink_->has_descriptions()) filter_->learn(chunk);
  const uint32_t described = channel_.descriptions();
  if (std::exchange(descriptions_, described) == described) return;
  std::vector<uint8_t> copy(PENNA_CHUNK_BYTES);
  each_taken([&](uint32_t other) { filter_->learn({copy.data(), channel_.copy_chunk(other, copy.data())}); });
}

// Copies an open chunk into buffer_, up to the first record that is still being written. Returns its end; 0 if there is
// nothing after `begin`. A record that it has already waited for once is skipped: a handler may have interrupted it for
// long.
size_t ProcessDrain::open_end(uint32_t chunk, size_t begin) {
  size_t end = channel_.copy_committed(chunk, buffer_.data());
  const bool is_coming = header_of(buffer_).content_bits != 0 && !is_unfinished_[chunk];
  if (end < sizeof(penna_chunk) || is_coming) return 0;
  const bool waits = end <= begin;
  const bool has_waited = stuck_at_[chunk] == begin;
  stuck_at_[chunk] = waits ? static_cast<uint32_t>(begin) : 0;
  if (waits && !has_waited) return 0;
  if (waits) end = scan_chunk({buffer_.data(), channel_.copy_chunk(chunk, buffer_.data())}).content_bytes;
  return end > begin ? end : 0;
}

// Each thread's sequence number of the first chunk still to come, by serial; only if order matters.
std::unordered_map<uint32_t, uint64_t> ProcessDrain::first_sequences() {
  std::unordered_map<uint32_t, uint64_t> first;
  if (!filter_ || !filter_->has_rules()) return first;
  each_taken([&](uint32_t chunk) {
    if (is_unfinished_[chunk]) return;  // that may take long
    const penna_chunk header = channel_.header(chunk);
    const auto found = first.try_emplace(header.thread_serial, header.sequence).first;
    found->second = std::min(found->second, header.sequence);
  });
  return first;
}

void ProcessDrain::write_open_chunks(RecordingWriter& writer) {
  constexpr size_t kMostBytes = 256 << 10;  // of a block
  std::vector<uint8_t> pieces, piece;
  const auto fronts = first_sequences();
  bool any = false;
  const auto flush = [&] {
    if (!pieces.empty()) (void)writer.write_open_pieces(number_, pieces);
    pieces.clear();
  };
  each_taken([&](uint32_t chunk) {
    const size_t begin = std::max<size_t>(written_bytes_[chunk], sizeof(penna_chunk));
    if (written_bytes_[chunk] != 0 && !channel_.has_more(chunk, begin)) return;
    const size_t end = open_end(chunk, begin);
    if (end == 0) return;
    penna_chunk header = header_of(buffer_);
    if (flight_ != nullptr && !flight_->wants(header)) return;
    // An earlier chunk is on its way: the filter must see that one first.
    const auto front = fronts.find(header.thread_serial);
    const bool is_behind = front != fronts.end() && front->second < header.sequence;
    if (written_bytes_[chunk] == 0 && is_behind && !filter_->is_next(header)) return;
    written_bytes_[chunk] = static_cast<uint32_t>(end);
    any = true;
    piece.resize(sizeof header + end - begin);
    header.content_bits = uint64_t{piece.size()} * 8;
    std::memcpy(piece.data(), &header, sizeof header);
    std::memcpy(piece.data() + sizeof header, buffer_.data() + begin, end - begin);
    const std::span<const uint8_t> left = left_of_open(writer, piece);
    if (pieces.size() + left.size() > kMostBytes) flush();
    pieces.insert(pieces.end(), left.begin(), left.end());
  });
  if (!any) return;
  flush();
  write_new_stacks(writer);
}

void ProcessDrain::copy_open_chunks(RecordingWriter& file) {
  std::vector<uint8_t> copy;
  each_taken([&](uint32_t chunk) {
    const size_t bytes = channel_.copy_committed(chunk, buffer_.data());
    penna_chunk header = header_of(buffer_);
    // Nothing in it; or on its way, or behind one that is.
    if (bytes <= sizeof header || header.content_bits != 0 || is_unfinished_[chunk] || !sink_->is_next(header)) return;
    header.content_bits = uint64_t{bytes} * 8;
    copy.assign(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(bytes));
    std::memcpy(copy.data(), &header, sizeof header);
    if (filter_) filter_->preview_again(header.thread_serial);
    const std::span<const uint8_t> left = left_of_open(file, copy);
    const ChunkSummary summary = sink_->scan(left);
    sink_->forget();
    sink_->write_copy(file, left, summary);
  });
}

void ProcessDrain::write_state(RecordingWriter& file, uint64_t ticks) {
  read_losses();
  sink_->write_health(file);
  (void)file.write_process_end(
      {number_, ticks, EndKind::kStopped, 0, channel_.counters(), recorded_processor_ns(ticks), {}});
}

// The part of a piece that the filter leaves, with its descriptions written.
std::span<const uint8_t> ProcessDrain::left_of_open(RecordingWriter& writer, std::span<uint8_t> piece) {
  (void)sink_->round_and_scan(piece);
  std::span<const uint8_t> left = piece;
  if (filter_) {
    learn_descriptions(piece);
    left = filter_->preview(piece);
    sink_->forget();
    (void)sink_->scan(left);
  }
  sink_->describe_open(writer, header_of(piece));
  return left;
}

void ProcessDrain::show_open_chunks(RecordingWriter& writer) {
  bool any = false;
  each_taken([&](uint32_t chunk) {
    uint32_t& shown = shown_bytes_[chunk];
    if (!channel_.has_more(chunk, shown)) return;
    const size_t bytes = channel_.copy_committed(chunk, buffer_.data());
    if (bytes < sizeof(penna_chunk) || header_of(buffer_).content_bits != 0) return;  // not opened; or on its way here
    const std::span<uint8_t> copy(buffer_.data(), bytes);
    (void)sink_->round_and_scan(copy);
    sink_->forget();
    if (!fresh_->open_chunk(copy, bytes)) return;
    shown = static_cast<uint32_t>(bytes);
    any = true;
  });
  if (any) write_new_stacks(writer);
}

void ProcessDrain::write_stacks(RecordingWriter& writer, uint32_t first, std::span<const penna_stack_node> nodes) {
  (void)writer.write_stacks(number_, first, nodes);
  if (observer_ != nullptr) observer_->stacks(number_, first, nodes);
}

// Writes the nodes that were incomplete before and are complete now.
void ProcessDrain::write_missing_stacks(RecordingWriter& writer) {
  std::vector<uint32_t> still_missing;
  for (uint32_t id : nodes_missing_) {
    penna_stack_node node = channel_.node(id);
    if (node.pc_generation == 0)
      still_missing.push_back(id);
    else
      write_stacks(writer, id, {&node, 1});
  }
  nodes_missing_.swap(still_missing);
}

// The node count comes from the process and may be too high, and reading a node would make the kernel allocate its
// page. So this stops after a longer run of incomplete nodes than threads could be about to write.
void ProcessDrain::write_new_stacks(RecordingWriter& writer) {
  constexpr uint32_t kPiece = 1 << 14, kEmpty = 512, kMostMissing = 1 << 12;
  write_missing_stacks(writer);
  const uint32_t count = channel_.node_count();
  std::vector<penna_stack_node> nodes;
  while (nodes_written_ < count && nodes_missing_.size() < kMostMissing) {
    const uint32_t end = nodes_written_ + std::min(kPiece, count - nodes_written_);
    uint32_t empty = 0;
    nodes.clear();
    for (uint32_t id = nodes_written_; id < end && empty < kEmpty; ++id) {
      nodes.push_back(channel_.node(id));
      empty = nodes.back().pc_generation == 0 && id != 0 ? empty + 1 : 0;
    }
    const bool is_end = empty == kEmpty;
    if (is_end) nodes.resize(nodes.size() - empty);
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].pc_generation == 0 && nodes_written_ + i != 0) nodes_missing_.push_back(nodes_written_ + i);
    if (!nodes.empty()) write_stacks(writer, nodes_written_, nodes);
    channel_.unmap_nodes(nodes_written_, end);
    nodes_written_ += static_cast<uint32_t>(nodes.size());
    if (is_end) return;
  }
}

void ProcessDrain::reclaim(RecordingWriter& writer) {
  if (channel_.free_chunks() > channel_.geometry().chunk_count / 4 || !ring_is_empty_)
    return;  // chunks in the ring come first
  each_taken([&](uint32_t chunk) {
    const penna_chunk header = channel_.header(chunk);
    // A chunk that was handed over meanwhile comes through the ring: leave it there.
    if (!is_unfinished_[chunk] && header.content_bits == 0 && !thread_exists(pid_, header.tid))
      take(writer, chunk, Origin::kVanishedThread, false);
  });
}

void ProcessDrain::report_cpu_ns(uint64_t ns) {
  if (ns == 0) return;
  processor_ns_ = ns;
  processor_ticks_ = penna_now();
}

// Excludes the agent's startup. The time used since the last check is unknown, but no more than the elapsed time.
uint64_t ProcessDrain::recorded_processor_ns(uint64_t end_ticks) const {
  const uint64_t known_at = processor_ns_ != 0 ? processor_ticks_ : channel_.geometry().time_begin;
  const uint64_t rest = end_ticks > known_at ? end_ticks - known_at : 0;
  const uint64_t began = processor_ns_ != 0 ? channel_.start_cpu_ns() : 0;
  const uint64_t used = processor_ns_ > began ? processor_ns_ - began : processor_ns_;
  return used + static_cast<uint64_t>(static_cast<double>(rest) * ns_per_tick_);
}

void ProcessDrain::read_losses() {
  const penna_counters counters = channel_.counters();
  Health& health = sink_->health(0);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) health.lost[i] = lost_[i] = counters.lost[i];
  std::copy_n(std::begin(counters.lost_for), lost_for_.size(), lost_for_.begin());
  health.blocked_ticks = counters.blocked_ticks;
}

void ProcessDrain::finish(RecordingWriter& writer, bool gone, EndKind how, int code, uint64_t end_ticks) {
  read_starts(gone);
  if (!gone) look_at_threads();
  if (programs_ != nullptr) programs_->add_unreported(channel_.starts_unreported());
  drain_full(writer);
  for (const Unfinished& one : unfinished_)
    if (!is_over()) take(writer, one.chunk, Origin::kRing, false);
  unfinished_.clear();
  is_unfinished_.assign(is_unfinished_.size(), false);
  uint32_t left = each_taken([&](uint32_t chunk) {
    // A living target keeps writing here: only a copy of the current content is stored.
    if (gone) {
      take(writer, chunk, Origin::kDeadProcess, false);
    } else if (size_t bytes = channel_.copy_chunk(chunk, buffer_.data()); bytes >= sizeof(penna_chunk)) {
      const std::span<uint8_t> copy(buffer_.data(), bytes);
      if (is_later(header_of(copy))) return;
      store(writer, copy, sink_->round_and_scan(copy));
    }
  });
  if (!is_over() && left < channel_.geometry().chunk_count) ++sink_->health(0).damaged;  // the target lied
  for (; is_over() && left < channel_.geometry().chunk_count; ++left) left_behind_ += !channel_.is_free(left);
  // Each call stops where too many nodes are incomplete; once these are given up, the next call gets further.
  for (uint32_t before = UINT32_MAX; before != nodes_written_;) {
    before = nodes_written_;
    write_new_stacks(writer);
    if (gone) nodes_missing_.clear();  // they will never be complete, and must not hold anything up
  }

  if (const std::vector<Thread> quiet = quiet_.all(); !quiet.empty()) (void)writer.write_threads(number_, quiet);

  read_losses();
  if (flight_ != nullptr)
    flight_->ended(writer, sink_);
  else
    sink_->finish(writer);
  end_ = {number_, end_ticks, how, code, channel_.counters(), recorded_processor_ns(end_ticks), {}};
  if (!channel_.calls_at_once()) hooks_.call_ns = 0;
  if (ns_per_tick_ != 0) end_.costs = costs_.costs(ns_per_tick_, hooks_);
  (void)writer.write_process_end(end_);
  if (!fresh_) return;
  fresh_->finish();
  observer_->ended(end_);
}

}  // namespace penna
