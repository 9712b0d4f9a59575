// SPDX-License-Identifier: MIT
// See channel_writer.h.
#include "breakpoint/channel_writer.h"

#include <algorithm>
#include <cstring>

#include "base/command_line.h"
#include "penna/clock.h"

namespace penna {
namespace {

constexpr auto kNoClass = static_cast<penna_event_class>(PENNA_NO_CLASS);
// Records have 48 bits of time, extended from their chunk's: a chunk may span half of that range (event.h).
constexpr uint64_t kChunkTicks = uint64_t{1} << (PENNA_FULL_TIME_BITS - 1);

// The call form has 32 bits of pc and 30 of time. As in the agent's writer.h.
bool fits_compact(const penna_chunk& chunk, uint64_t pc, uint64_t time) {
  return time - chunk.time_begin < (uint64_t{1} << (PENNA_CALL_TIME_BITS - 1)) &&
         static_cast<uint32_t>(pc >> 32) == chunk.pc_high;
}

// Release: pairs with the acquire in ChannelMap::copy_committed(), which reads chunks that we are still filling.
void commit(uint64_t* words, uint64_t header) { __atomic_store_n(words, header, __ATOMIC_RELEASE); }

}  // namespace

void ChannelWriter::lose(ThreadLog& log, penna_event_class event_class) {
  // Descriptions are not events.
  if (event_class == kNoClass) return;
  ++log.lost[event_class];
  ++log.discarded;
  __atomic_fetch_add(&channel_.head().counters.lost[event_class], 1, __ATOMIC_RELAXED);
}

// With --on-full=block, the program waits: it does not run before we resume it.
bool ChannelWriter::open_chunk(ThreadLog& log, uint64_t time) {
  std::optional<uint32_t> number = channel_.take_chunk();
  const uint64_t began = number ? 0 : penna_now();
  while (!number && config().on_full == PENNA_ON_FULL_BLOCK && channel_.recorder_alive()) {
    channel_.wait_for_room();
    number = channel_.take_chunk();
  }
  if (began != 0) __atomic_fetch_add(&channel_.head().counters.blocked_ticks, penna_now() - began, __ATOMIC_RELAXED);
  if (!number) return false;
  log.chunk = channel_.chunk(*number);
  log.number = *number;
  log.used = PENNA_CHUNK_HEADER_BYTES;
  penna_chunk& chunk = *log.chunk;
  chunk.stream = 0;
  chunk.time_begin = time;
  chunk.packet_bits = uint64_t{PENNA_CHUNK_BYTES} * 8;
  chunk.events_discarded = log.discarded;
  chunk.tid = log.tid;
  chunk.thread_serial = log.serial;
  chunk.sequence = log.sequence++;
  chunk.pc_high = pc_high_;
  chunk.generation = generation_;
  // Release: pairs with the acquire in ChannelMap::copy_chunk(): the header is complete, or absent.
  __atomic_store_n(&chunk.ctf_magic, PENNA_CTF_MAGIC, __ATOMIC_RELEASE);
  return true;
}

void ChannelWriter::close(ThreadLog& log) {
  if (log.chunk == nullptr) return;
  // Plain stores: the commit in hand_over() publishes them.
  log.chunk->time_end = penna_now();
  log.chunk->content_bits = uint64_t{log.used} * 8;
  channel_.hand_over(log.number);
  log.chunk = nullptr;
}

void ChannelWriter::write_notes(ThreadLog& log, bool is_new, uint64_t time) {
  if (is_new) {
    penna_thread named{};
    const std::string name = comm_of(log.tid);
    std::memcpy(named.name, name.data(), std::min(name.size(), sizeof named.name - 1));
    write(log, PENNA_KIND_THREAD, named, kNoClass, time);
  }
  // Before the record that is about to be written: readers learn in time that some are missing.
  if (std::all_of(log.lost.begin(), log.lost.end(), [](uint32_t count) { return count == 0; })) return;
  penna_lost lost{};
  std::copy(log.lost.begin(), log.lost.end(), lost.count);
  log.lost = {};
  write(log, PENNA_KIND_LOST, lost, kNoClass, time);
}

uint64_t* ChannelWriter::reserve(ThreadLog& log, uint32_t words, penna_event_class event_class, uint64_t time) {
  const uint32_t bytes = words * 8;
  // A thread that was quiet for that long needs a new chunk for its times.
  if (log.chunk != nullptr && (log.used + bytes > PENNA_CHUNK_BYTES || time - log.chunk->time_begin >= kChunkTicks))
    close(log);
  if (log.chunk == nullptr) {
    const bool is_new = log.serial == 0;
    if (is_new) {
      log.serial = ++next_serial_;
      __atomic_store_n(&channel_.head().counters.threads, next_serial_, __ATOMIC_RELAXED);
    }
    if (!open_chunk(log, time)) return lose(log, event_class), nullptr;
    // These call back into reserve(), and find the chunk just opened, nearly empty.
    write_notes(log, is_new, time);
  }
  auto* const at = reinterpret_cast<uint64_t*>(reinterpret_cast<uint8_t*>(log.chunk) + log.used);
  log.used += bytes;
  return at;
}

bool ChannelWriter::write_bytes(ThreadLog& log, penna_kind kind, std::span<const uint8_t> payload,
                                std::span<const uint8_t> tail, penna_event_class event_class, uint64_t time) {
  const auto words = static_cast<uint32_t>(1 + payload.size() / 8 + (tail.size() + 7) / 8);
  uint64_t* const at = words <= PENNA_MAX_RECORD_WORDS ? reserve(log, words, event_class, time) : nullptr;
  if (at == nullptr) return false;
  std::memcpy(at + 1, payload.data(), payload.size());
  if (!tail.empty()) std::memcpy(at + 1 + payload.size() / 8, tail.data(), tail.size());
  commit(at, penna_full_header(kind, words, time));
  // penna_channel.descriptions
  if (kind == PENNA_KIND_MODULE || kind == PENNA_KIND_SITE)
    __atomic_fetch_add(&channel_.head().descriptions, 1, __ATOMIC_RELEASE);  // pairs with ChannelMap::descriptions()
  return true;
}

void ChannelWriter::write_call(ThreadLog& log, penna_tag tag, uint64_t pc, uint64_t time) {
  // Then reserve() cannot fail: there is room, and a time that fits the call form fits the chunk.
  const bool is_short = log.chunk != nullptr && log.used + 8 <= PENNA_CHUNK_BYTES && fits_compact(*log.chunk, pc, time);
  if (!is_short) {
    write(log, tag == PENNA_TAG_ENTRY ? PENNA_KIND_CALL_ENTRY : PENNA_KIND_CALL_EXIT, penna_call{pc}, PENNA_CALLS,
          time);
    return;
  }
  commit(reserve(log, 1, PENNA_CALLS, time), penna_call_header(tag, pc, time));
}

uint32_t ChannelWriter::stack_node(uint32_t caller, uint64_t pc, penna_stack_end end) {
  // 48 bits of address, 16 of the modules' generation: after dlclose, the same address is another function.
  const uint64_t pc_generation = (pc & ((uint64_t{1} << 48) - 1)) | uint64_t{generation_} << 48;
  const uint32_t flags = caller == 0 ? static_cast<uint32_t>(end) : 0;
  const auto [found, is_new] = nodes_.try_emplace({pc_generation, caller | uint64_t{flags} << 32}, 0);
  if (!is_new) return found->second;
  // A plain load: only we write it. A recorder that did would only harm its own recording; nodes stay in bounds.
  const uint32_t id = channel_.head().node_count;
  if (id >= config().max_nodes) {
    nodes_.erase(found);
    return 0;
  }
  penna_stack_node& node = *channel_.node(id);
  node.parent = caller;
  // Lower half: depth; upper half: how the walk ended, in outermost nodes only.
  node.depth_flags = (caller == 0 ? 1 : (channel_.node(caller)->depth_flags & 0xffff) + 1) | flags << 16;
  __atomic_store_n(&node.pc_generation, pc_generation, __ATOMIC_RELEASE);  // pairs with the collector's acquire
  // Pairs with the acquire in ChannelMap::node_count().
  __atomic_store_n(&channel_.head().node_count, id + 1, __ATOMIC_RELEASE);
  return found->second = id;
}

void ChannelWriter::count_lost(penna_event_class event_class, uint64_t count) {
  __atomic_fetch_add(&channel_.head().counters.lost[event_class], count, __ATOMIC_RELAXED);
}

void ChannelWriter::count_truncated(penna_stack_end end) {
  __atomic_fetch_add(&channel_.head().counters.stacks_truncated[end], 1, __ATOMIC_RELAXED);
}

void ChannelWriter::count_tree_full() {
  __atomic_fetch_add(&channel_.head().counters.stack_tree_full, 1, __ATOMIC_RELAXED);
}

}  // namespace penna
