// SPDX-License-Identifier: MIT
// See chunk_sink.h.
#include "collect/chunk_sink.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/count_text.h"

namespace penna {

namespace {

constexpr size_t kMostModules = 16384;  // FunctionChooser::kMaxModules

// The few records that describe something, or report losses.
bool describes(uint32_t kind) {
  // MODULE, SITE, THREAD, LOST, BLOCKED are consecutive: one comparison for every record of every chunk.
  static_assert(PENNA_KIND_BLOCKED - PENNA_KIND_MODULE == 4);
  return kind - PENNA_KIND_MODULE <= PENNA_KIND_BLOCKED - PENNA_KIND_MODULE;
}

}  // namespace

[[gnu::flatten]] ChunkSummary ChunkSink::scan(std::span<const uint8_t> chunk) {
  return scan_chunk(chunk, [&](uint32_t kind, auto&& record) {
    if (describes(kind)) [[unlikely]]
      keep(chunk, record());
  });
}

// All times are rounded down, so their order does not change. Those of compact calls are not rounded: the option does
// not apply when calls are recorded.
[[gnu::flatten]] ChunkSummary ChunkSink::round_and_scan(std::span<uint8_t> chunk) {
  if (time_shift_ == 0) return scan(chunk);
  // Time is in the upper 48 bits of a full record's header (event.h), tag and kind below; the mask must spare
  // those.
  const uint64_t mask = UINT64_MAX << time_shift_;
  penna_chunk header = header_of(chunk);
  header.time_begin &= mask;
  header.time_end &= mask;
  std::memcpy(chunk.data(), &header, sizeof header);
  ChunkSummary summary = scan_chunk(chunk, [&](uint32_t kind, auto&& record) {
    uint8_t* const at = chunk.data() + (record().payload - chunk.data()) - sizeof(uint64_t);
    const uint64_t word = load_word(at) & (mask << 16 | 0xffff);
    std::memcpy(at, &word, sizeof word);
    if (!describes(kind)) [[likely]]
      return;
    Record rounded = record();
    rounded.time &= mask;
    keep(chunk, rounded);
  });
  summary.time_begin &= mask;
  summary.time_end &= mask;
  return summary;
}

// Keeps it until describe() or forget().
[[gnu::noinline]] void ChunkSink::keep(std::span<const uint8_t> chunk, const Record& record) {
  if (record.kind == PENNA_KIND_MODULE) {
    if (auto module = decode_module(record)) {
      module->ticks = record.time;
      modules_.push_back(std::move(*module));
    }
  } else if (record.kind == PENNA_KIND_SITE) {
    if (auto site = decode_site(record)) sites_.push_back(std::move(*site));
  } else if (record.kind == PENNA_KIND_THREAD) {
    const penna_chunk header = header_of(chunk);
    // A thread may name another one: pthread_setname_np(3) takes any thread.
    const NamedThread other = decode_named_thread(record);
    const NamedThread of = other.serial != 0 ? other : NamedThread{header.thread_serial, header.tid};
    threads_.push_back({of.serial, of.tid, decode_thread_name(record), record.time});
  } else if (record.kind == PENNA_KIND_LOST) {
    const auto lost = record.as<penna_lost>();
    for (int i = 0; i < PENNA_CLASS_COUNT; ++i) lost_[i] = add_counts(lost_[i], lost.count[i]);
  } else if (record.kind == PENNA_KIND_BLOCKED) {
    blocked_ticks_ = add_counts(blocked_ticks_, record.as<penna_blocked>().ticks);
  }
}

void ChunkSink::forget() {
  modules_.clear();
  sites_.clear();
  threads_.clear();
  lost_ = {};
  blocked_ticks_ = 0;
}

void ChunkSink::store(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  describe(writer, chunk);
  write(writer, chunk, summary);
}

void ChunkSink::describe(RecordingWriter& writer, std::span<const uint8_t> chunk) {
  Health& of_thread = health(header_of(chunk).thread_serial);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) of_thread.lost[i] = add_counts(of_thread.lost[i], lost_[i]);
  of_thread.blocked_ticks = add_counts(of_thread.blocked_ticks, blocked_ticks_);
  write_descriptions(writer);
}

void ChunkSink::write(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  // Only a flight recorder discards chunks: without one, no thread needs to be followed.
  if (partly_) catch_up(writer, header_of(chunk));
  (void)writer.write_chunk(process_, chunk, summary);
  count(chunk, summary);
  if (partly_) follow(chunk, true);
}

void ChunkSink::discard(std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) counts_->thrown_away[i] += summary.events[i];
  follow(chunk, false);
}

void ChunkSink::count(std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  Health& of_thread = health(header_of(chunk).thread_serial);
  ++counts_->chunks;
  counts_->raw_bytes += summary.content_bytes;
  counts_->torn += summary.torn;
  ++of_thread.chunks;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    of_thread.stored[i] += summary.events[i];
    counts_->stored[i] += summary.events[i];
  }
  if (of_thread.call_entries == Health::kNotCounted) of_thread.call_entries = 0;
  of_thread.call_entries += summary.entries;
  counts_->call_entries += summary.entries;
  of_thread.torn += summary.torn;
  of_thread.holes += summary.holes;
  of_thread.unknown += summary.unknown;
  of_thread.damaged += summary.damaged ? 1 : 0;
}

void ChunkSink::describe_open(RecordingWriter& writer, const penna_chunk& header) {
  write_descriptions(writer);
  if (partly_) catch_up(writer, header);
}

void ChunkSink::write_copy(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  catch_up(writer, header_of(chunk));
  (void)writer.write_chunk(process_, chunk, summary);
  count(chunk, summary);
}

void ChunkSink::begin_file() {
  for (auto& [serial, part] : parts_) {
    part.calls.begin_file();
    part.left_out = part.next;
  }
  for (auto& [serial, of_thread] : health_) {
    const Health before = std::exchange(of_thread, {});
    of_thread.lost = before.lost;
    of_thread.blocked_ticks = before.blocked_ticks;
  }
}

// A chunk out of sequence is late, or an earlier one is missing: then it is unknown which calls are open.
void ChunkSink::follow(std::span<const uint8_t> chunk, bool is_stored) {
  const penna_chunk header = header_of(chunk);
  Part& part = share_.state_of(parts_, header.thread_serial)->second;
  uint64_t& skipped = health(header.thread_serial).skipped;
  if (header.sequence != part.next) {
    part.calls.lose();
    skipped += std::exchange(part.left_out, 0);
  }
  if (header.sequence < part.next) {
    skipped += !is_stored;
    return;
  }
  part.left_out += !is_stored;
  // A call whose entry was stored and whose exit is discarded would never end; the digest later says that it did.
  part.calls.add(chunk, is_stored);
  part.next = header.sequence + 1;
  part.last = header;
  if (!share_.weigh(part.weight, part.calls.bytes())) part.calls.forget();
}

// Before a chunk that goes into the file: writes the fate of the calls in chunks that did not.
void ChunkSink::catch_up(RecordingWriter& writer, const penna_chunk& header) {
  Part& part = share_.state_of(parts_, header.thread_serial)->second;
  if (part.left_out == 0 || header.sequence != part.next) return;
  const uint64_t digests = write_digests(writer, part.calls.take(header, part.left_out));
  health(header.thread_serial).skipped += std::exchange(part.left_out, 0) - digests;
  write_health(writer);  // if the recorder dies, the file shows that the others were discarded
}

// Returns how many there are.
uint64_t ChunkSink::write_digests(RecordingWriter& writer, const std::vector<std::vector<uint8_t>>& chunks) {
  for (const std::vector<uint8_t>& chunk : chunks) {
    const ChunkSummary summary = scan_chunk(chunk);
    (void)writer.write_chunk(process_, chunk, summary);
    count(chunk, summary);
    // They were discarded with their chunks, except the exits that a jump to another stack gave to calls in the file.
    uint64_t& thrown_away = counts_->thrown_away[PENNA_CALLS];
    thrown_away -= std::min<uint64_t>(thrown_away, summary.events[PENNA_CALLS]);
  }
  return chunks.size();
}

void ChunkSink::finish(RecordingWriter& writer) {
  for (auto& [serial, part] : parts_) {
    if (part.left_out == 0) continue;
    const uint64_t digests = write_digests(writer, part.calls.take_exits(part.last, part.left_out));
    if (digests != 0)
      health(serial).skipped += part.left_out - digests;  // the rest comes after the last chunk in the file
  }
  parts_.clear();
  write_health(writer);
}

// A chunk that is written while it is open describes the same again when it is full.
void ChunkSink::remember() {
  for (const Module& module : modules_) {
    if (all_modules_.size() >= kMostModules ||
        std::find(all_modules_.rbegin(), all_modules_.rend(), module) != all_modules_.rend())
      continue;
    all_bytes_ += sizeof module + module.path.size() + module.build_id.size();
    all_modules_.push_back(module);
  }
  for (const Site& site : sites_) {
    if (all_sites_.size() >= Budget::kFunctions && all_sites_.count(site.id) == 0) continue;
    if (!all_sites_.insert_or_assign(site.id, site).second) continue;
    all_bytes_ += 2 * sizeof site + site.provider.size() + site.name.size() + site.file.size();
    for (const SiteArgument& argument : site.arguments) all_bytes_ += sizeof argument + argument.name.size();
  }
  if (share_.weigh(all_weight_, all_bytes_)) return;
  all_modules_.clear();
  all_sites_.clear();
  all_bytes_ = 0;
}

void ChunkSink::write_descriptions(RecordingWriter& writer) {
  remember();
  if (!modules_.empty()) (void)writer.write_modules(process_, modules_);
  if (!sites_.empty()) (void)writer.write_sites(process_, sites_);
  if (!threads_.empty()) (void)writer.write_threads(process_, threads_);
  forget();
}

void ChunkSink::write_health(RecordingWriter& writer) {
  std::vector<Health> health;
  for (auto& [serial, of_thread] : health_) {
    of_thread.thread_serial = serial;
    health.push_back(of_thread);
  }
  (void)writer.write_health(process_, health);
}

}  // namespace penna
