// SPDX-License-Identifier: MIT
// See channel_map.h.
#include "collect/channel_map.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/check.h"
#include "base/count_text.h"
#include "base/file.h"
#include "penna/ring.h"

namespace penna {
namespace {

// At least one per chunk, so that a writer always finds a free slot; a power of two, as ring.h requires.
uint32_t ring_slots_for(uint32_t chunks) {
  uint32_t slots = 1;
  while (slots < chunks) slots *= 2;
  return slots;
}

// Whether the parts follow each other, aligned, inside `size`. All values are below 2^48: sums cannot overflow.
bool geometry_adds_up(const penna_channel& c, uint64_t size) {
  constexpr uint64_t kLimit = uint64_t{1} << 48;
  for (uint64_t at : {c.free_at, c.full_at, c.hash_at, c.nodes_at, c.chunks_at, c.total_bytes})
    if (at >= kLimit || at % 4096 != 0) return false;
  // The bitmap of free chunks has whole words of 64.
  bool counts = c.chunk_count >= 64 && c.chunk_count <= PENNA_MAX_CHUNKS && c.chunk_count % 64 == 0 &&
                c.hash_slots <= (1u << 28) && c.max_nodes >= 1 && c.max_nodes <= (1u << 26);
  if (!counts || c.chunks_at % PENNA_CHUNK_BYTES != 0) return false;
  // In the order of the diagram in channel.h; gaps are allowed, overlaps are not.
  uint64_t ring_bytes = penna_ring_bytes(ring_slots_for(c.chunk_count), sizeof(uint32_t));
  return c.free_at >= sizeof(penna_channel) && c.free_at + c.chunk_count / 8 <= c.full_at &&
         c.full_at + ring_bytes <= c.hash_at && c.hash_at + uint64_t{c.hash_slots} * 4 <= c.nodes_at &&
         c.nodes_at + uint64_t{c.max_nodes} * sizeof(penna_stack_node) <= c.chunks_at &&
         c.chunks_at + uint64_t{c.chunk_count} * PENNA_CHUNK_BYTES <= c.total_bytes && c.total_bytes <= size;
}

// The largest size of a channel with that many chunks and nodes: anything beyond would waste address space.
uint64_t most_bytes(const penna_config& asked) {
  constexpr uint64_t kRest = 1 << 20;  // the first page, and padding
  const uint64_t ring = penna_ring_bytes(ring_slots_for(asked.chunk_count), sizeof(uint32_t));
  return kRest + ring + uint64_t{asked.chunk_count} * (PENNA_CHUNK_BYTES + 1) +
         uint64_t{asked.max_nodes} * (sizeof(penna_stack_node) + 4 * sizeof(uint32_t));
}

bool is_zero(const uint8_t* page, size_t bytes) { return page[0] == 0 && std::memcmp(page, page + 1, bytes - 1) == 0; }

}  // namespace

Result<ChannelMap> ChannelMap::map(const Fd& memory, const penna_config* asked) {
  // F_SEAL_SHRINK: without it, the target could truncate the file at any time, and our next access would raise
  // SIGBUS.
  int seals = ::fcntl(memory.get(), F_GET_SEALS);
  struct stat status {};
  struct statfs system {};
  // No huge pages: there may be none left when they are touched, which raises SIGBUS.
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(memory.get(), &status) != 0 ||
      ::fstatfs(memory.get(), &system) != 0 || system.f_type != TMPFS_MAGIC)
    return Error{"a process offered memory whose size is not sealed; it is not recorded"};
  auto size = static_cast<uint64_t>(status.st_size);
  constexpr const char* kTooLarge = "a process offered a channel larger than requested; it is not recorded";
  if (asked != nullptr && size > most_bytes(*asked)) return Error{kTooLarge};
  if (size < 4096 || size > (uint64_t{1} << 40))
    return Error{fmt::format("a process offered a channel of {} bytes; it is not recorded", size)};
  // Not populated: only what the target has touched costs memory, on its account and on ours.
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (data == MAP_FAILED)
    return Error{fmt::format("cannot map the channel of a process: {}; it is not recorded", errno_text(errno))};
  ChannelMap map;
  map.memory_ = Mapping(data, size);
  map.descriptor_ = Fd(::fcntl(memory.get(), F_DUPFD_CLOEXEC, 0));
  if (!map.descriptor_)
    return Error{fmt::format("cannot keep the channel of a process open: {}; it is not recorded", errno_text(errno))};
  map.file_ = {status.st_dev, status.st_ino};
  // From here on only this copy says where things are: what is checked below can no longer change.
  std::memcpy(&map.geometry_, data, sizeof map.geometry_);
  const penna_channel& geometry = map.geometry_;
  if (geometry.magic != PENNA_CHANNEL_MAGIC || geometry.version != PENNA_ABI_VERSION)
    return Error{"a process runs a different version of libpenna-agent.so; it is not recorded"};
  if (!geometry_adds_up(geometry, size)) return Error{"a process offered an inconsistent channel; it is not recorded"};
  if (asked != nullptr && (geometry.chunk_count > asked->chunk_count || geometry.max_nodes > asked->max_nodes))
    return Error{kTooLarge};
  map.ring_slots_ = ring_slots_for(geometry.chunk_count);
  return map;
}

penna_counters ChannelMap::counters() const {
  // Word by word, while the target may be counting: sums of different counters need not add up. bound_counts()
  // keeps them from overflowing.
  penna_counters copy;
  std::memcpy(&copy, &shared()->counters, sizeof copy);
  bound_counts(copy);
  return copy;
}

// Relaxed loads from here on: each value is independent, and a slightly stale one is good enough.
uint32_t ChannelMap::descriptions() const {
  return __atomic_load_n(&shared()->descriptions, __ATOMIC_ACQUIRE);  // pairs with commit_description()
}

uint32_t ChannelMap::backlog_untrusted() const { return __atomic_load_n(&shared()->backlog, __ATOMIC_RELAXED); }
bool ChannelMap::calls_at_once() const { return __atomic_load_n(&shared()->calls_at_once, __ATOMIC_RELAXED) == 1; }
uint64_t ChannelMap::start_cpu_ns() const { return __atomic_load_n(&shared()->start_cpu_ns, __ATOMIC_RELAXED); }

uint64_t ChannelMap::record_cost_ticks() const {
  return __atomic_load_n(&shared()->record_cost_ticks, __ATOMIC_RELAXED);
}
uint64_t ChannelMap::start_cost_ticks() const {
  return bounded_count(__atomic_load_n(&shared()->start_cost_ticks, __ATOMIC_RELAXED));
}

bool ChannelMap::next_full_chunk(uint32_t* chunk_untrusted) {
  // Its acquire pairs with the release in the agent's penna_ring_commit(): everything that the thread wrote into the
  // chunk before is visible, except for records that a signal handler interrupted.
  return penna_ring_read_checked(reinterpret_cast<penna_ring*>(at(geometry_.full_at)), ring_slots_, sizeof(uint32_t),
                                 chunk_untrusted, 1) != 0;
}

uint64_t ChannelMap::chunk_at(uint32_t chunk) const {
  PENNA_CHECK(chunk < geometry_.chunk_count);
  return geometry_.chunks_at + (uint64_t{chunk} << PENNA_CHUNK_BITS);
}

size_t ChannelMap::copy_chunk(uint32_t chunk, uint8_t* to) const {
  constexpr size_t kPage = 4096;
  // Its acquire covers the header; the records are covered by the ring's acquire, or by the thread's death.
  if (!is_opened(chunk)) return 0;
  const uint8_t* from = chunk_data(chunk);
  const auto* header = reinterpret_cast<const penna_chunk*>(from);
  // Read once: the target may write another number between the check and the use.
  const uint64_t content_bits = __atomic_load_n(&header->content_bits, __ATOMIC_RELAXED);
  const auto content = static_cast<size_t>(std::min<uint64_t>(content_bits / 8, PENNA_CHUNK_BYTES));
  if (content >= sizeof(penna_chunk)) {
    std::memcpy(to, from, content);
    return content;
  }
  // Still being written: no record is longer than half a page, so nothing follows a page of zeros, and later pages are
  // not touched (reading would make the kernel allocate them).
  size_t copied = 0;
  do {
    std::memcpy(to + copied, from + copied, kPage);
    copied += kPage;
  } while (copied < PENNA_CHUNK_BYTES && !is_zero(to + copied - kPage, kPage));
  return copied;
}

size_t ChannelMap::copy_committed(uint32_t chunk, uint8_t* to) const {
  if (!is_opened(chunk)) return 0;
  const uint8_t* from = chunk_data(chunk);
  size_t end = sizeof(penna_chunk);
  while (end < PENNA_CHUNK_BYTES) {
    // Acquire: pairs with the release in Record::commit() and write_call(): what is copied below is complete.
    const uint64_t header = __atomic_load_n(reinterpret_cast<const uint64_t*>(from + end), __ATOMIC_ACQUIRE);
    const uint32_t tag = penna_header_tag(header);
    const size_t words = tag == PENNA_TAG_ENTRY || tag == PENNA_TAG_EXIT ? 1
                         : tag == PENNA_TAG_FULL                         ? penna_header_words(header)
                                                                         : 0;
    if (words == 0 || words * sizeof header > PENNA_CHUNK_BYTES - end) break;
    end += words * sizeof header;
  }
  std::memcpy(to, from, end);
  return end;
}

void ChannelMap::free_pages(uint32_t chunk, bool was_full) {
  // MADV_REMOVE punches a hole into the file: the page reads as zeros again, and uses no memory.
  const bool removed = ::madvise(chunk_data(chunk), PENNA_CHUNK_BYTES, MADV_REMOVE) == 0;
  free_chunk(chunk, removed ? 0 : PENNA_CHUNK_BYTES, was_full);
}

void ChannelMap::free_chunk(uint32_t chunk, size_t bytes, bool was_full) {
  std::memset(chunk_data(chunk), 0, std::min<size_t>(bytes, PENNA_CHUNK_BYTES));
  auto* bitmap = reinterpret_cast<uint64_t*>(at(geometry_.free_at));
  // Release: pairs with the acquire in take_free_chunk(): the thread that takes the chunk finds it zeroed.
  __atomic_fetch_or(bitmap + chunk / 64, uint64_t{1} << (chunk % 64), __ATOMIC_RELEASE);
  penna_channel* channel = shared();
  if (was_full) __atomic_fetch_sub(&channel->backlog, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&channel->freed_generation, 1, __ATOMIC_SEQ_CST);  // pairs with the acquire in obtain_chunk()
  // Sequentially consistent with wait_for_room() of the agent, which raises free_waiters and then lets futex(2)
  // compare the generation: either we see the waiter, or the kernel sees our generation, and the thread does not
  // sleep.
  if (__atomic_load_n(&channel->free_waiters, __ATOMIC_SEQ_CST) != 0)
    ::syscall(SYS_futex, &channel->freed_generation, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool ChannelMap::is_free(uint32_t chunk) const {
  const auto* bitmap = reinterpret_cast<const uint64_t*>(at(geometry_.free_at));
  return (__atomic_load_n(bitmap + chunk / 64, __ATOMIC_ACQUIRE) >> (chunk % 64) & 1) != 0;
}

bool ChannelMap::is_opened(uint32_t chunk) const {
  uint32_t magic = 0;
  if (::pread(descriptor_.get(), &magic, sizeof magic, static_cast<off_t>(chunk_at(chunk))) != sizeof magic ||
      magic != PENNA_CTF_MAGIC)
    return false;
  // Acquire: pairs with the release in open_chunk().
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(chunk_data(chunk)), __ATOMIC_ACQUIRE) == PENNA_CTF_MAGIC;
}

penna_chunk ChannelMap::header(uint32_t chunk) const {
  penna_chunk copy;
  std::memcpy(&copy, chunk_data(chunk), sizeof copy);
  return copy;
}

uint32_t ChannelMap::free_chunks() const {
  const auto* bitmap = reinterpret_cast<const uint64_t*>(at(geometry_.free_at));
  uint32_t count = 0;
  for (uint32_t word = 0; word < geometry_.chunk_count / 64; ++word)
    count += static_cast<uint32_t>(__builtin_popcountll(__atomic_load_n(bitmap + word, __ATOMIC_RELAXED)));
  return count;
}

bool ChannelMap::next_start(bool gone, penna_start* start) {
  const auto* places = reinterpret_cast<const penna_starts*>(at(PENNA_STARTS_AT))->places;
  for (;;) {
    const penna_start& place = places[starts_read_ % PENNA_STARTS];
    // Acquire: pairs with the release in tell_start().
    const bool ready = __atomic_load_n(&place.ready, __ATOMIC_ACQUIRE) == starts_read_ + 1;
    // Both counters wrap; their difference does not, as long as no more than PENNA_STARTS are under way.
    const uint32_t ahead = __atomic_load_n(&start_counts()->written, __ATOMIC_RELAXED) - starts_read_;
    if (!ready && (!gone || ahead == 0 || ahead > PENNA_STARTS)) return false;
    if (ready) std::memcpy(start, &place, sizeof *start);
    ++starts_read_;
    __atomic_store_n(&start_counts()->read, starts_read_, __ATOMIC_RELEASE);  // pairs with the acquire in take_place()
    if (ready) return true;
  }
}

// A counter that went below zero, or a lie, is capped.
uint64_t ChannelMap::starts_unreported() const {
  const uint32_t unannounced = __atomic_load_n(&start_counts()->unannounced, __ATOMIC_RELAXED);
  return unannounced <= INT32_MAX ? unannounced : kMostCounted;
}

uint32_t ChannelMap::node_count() const {
  // Acquire: nodes below it were allocated before; each is published by its own pc_generation.
  return std::min(__atomic_load_n(&shared()->node_count, __ATOMIC_ACQUIRE), geometry_.max_nodes);
}

penna_stack_node ChannelMap::node(uint32_t id) const {
  PENNA_CHECK(id < geometry_.max_nodes);
  const auto* node = reinterpret_cast<const penna_stack_node*>(at(geometry_.nodes_at)) + id;
  penna_stack_node copy{};
  copy.pc_generation = __atomic_load_n(&node->pc_generation, __ATOMIC_ACQUIRE);  // pairs with the release in intern()
  copy.parent = node->parent;
  copy.depth_flags = node->depth_flags;
  return copy;
}

void ChannelMap::unmap_nodes(uint32_t first, uint32_t end) const {
  constexpr uint64_t kPage = 4096;
  // Rounded down at both ends: the page with node `end` is still to be read.
  const uint64_t begin = (geometry_.nodes_at + uint64_t{first} * sizeof(penna_stack_node)) / kPage * kPage;
  const uint64_t behind = (geometry_.nodes_at + uint64_t{end} * sizeof(penna_stack_node)) / kPage * kPage;
  if (begin < behind) (void)::madvise(at(begin), behind - begin, MADV_DONTNEED);
}

}  // namespace penna
