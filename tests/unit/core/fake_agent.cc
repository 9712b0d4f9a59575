// SPDX-License-Identifier: MIT
// See fake_agent.h.
#include "core/fake_agent.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "agent/core/lifecycle.h"
#include "agent/core/writer.h"
#include "agent/modules/modules.h"
#include "agent/stacks/stacks.h"

extern "C" void penna_call_enter() {}  // by its address the agent knows its own module

namespace penna::agent {

Process process;
__thread Thread thread __attribute__((tls_model("initial-exec"))) = {
    kNoChunk, nullptr, 0, 0, 0, 0, 0, {}, 0, 0, 0, 0, 0, nullptr, 0, 0, {}, {}, nullptr, nullptr, 0, 0, 0};

namespace {

constexpr uint32_t kChunks = 256;
alignas(PENNA_CHUNK_BYTES) uint8_t memory[kChunks][PENNA_CHUNK_BYTES];
penna_channel channel;
uint32_t next_chunk;
thread_local uint32_t own_chunk = UINT32_MAX;

void spoil() {
  if (!fake::spoil_vectors) return;
  __asm__ volatile(
      "pcmpeqd %%xmm0, %%xmm0; movdqa %%xmm0, %%xmm1; movdqa %%xmm0, %%xmm2; movdqa %%xmm0, %%xmm7;"
      "movdqa %%xmm0, %%xmm15"
      :
      :
      : "xmm0", "xmm1", "xmm2", "xmm7", "xmm15");
}

}  // namespace

uint32_t after_fork_or_start() { return armed(); }
bool mark_if_unloadable(uintptr_t, uintptr_t*) { return false; }
void ensure_module(uintptr_t) {}
uint32_t current_stack(const unwind::Registers& caller) {
  spoil();
  fake::walk_begin = caller;
  return fake::kStack;
}
void close_chunk() { thread.cursor = kNoChunk; }

// A thread's first event gets it its chunk; when that is full, events are lost.
uint64_t* reserve_in_new_chunk(uint64_t, uint32_t bytes, penna_event_class event_class) {
  spoil();
  if (own_chunk == UINT32_MAX) {
    fake::rewind();
    return reserve(bytes, event_class);
  }
  if (event_class != kNoClass) __atomic_fetch_add(&channel.counters.lost[event_class], 1, __ATOMIC_RELAXED);
  return nullptr;
}

uint64_t* reserve_again(uint64_t* words, uint32_t word_count, penna_event_class event_class) {
  __atomic_store_n(words, penna_full_header(PENNA_KIND_PAD, word_count, penna_now()), __ATOMIC_RELEASE);
  spoil();
  auto* header = reinterpret_cast<penna_chunk*>(memory[own_chunk]);
  header->time_begin = penna_now();
  ++fake::renewals;
  return reserve(word_count * 8, event_class);
}

}  // namespace penna::agent

namespace fake {

using namespace penna::agent;

bool spoil_vectors;
thread_local uint32_t renewals;
thread_local penna::unwind::Registers walk_begin;

namespace {

std::vector<Site> told;

std::vector<std::string> split(const char* at, size_t bytes, size_t count) {
  std::vector<std::string> strings;
  for (const char* end = at + bytes; at < end && strings.size() < count; at += strings.back().size() + 1)
    strings.emplace_back(at, strnlen(at, static_cast<size_t>(end - at)));
  return strings;
}

Site decode_site(const uint64_t* record) {
  Site site;
  std::memcpy(&site.info, record + 1, sizeof site.info);
  auto strings = split(reinterpret_cast<const char*>(record + 1) + sizeof site.info, site.info.text_bytes,
                       3u + site.info.arg_count);
  strings.resize(3u + site.info.arg_count);
  site.provider = strings[0];
  site.name = strings[1];
  site.file = strings[2];
  site.arguments.assign(strings.begin() + 3, strings.end());
  return site;
}

Event decode_event(const uint64_t* record, uint64_t begin) {
  Event event{static_cast<uint32_t>(record[1]),
              static_cast<uint32_t>(record[1] >> 32),
              penna_header_time(record[0], begin),
              {}};
  const Site* site = fake::site(event.site);
  const uint64_t* word = record + 2;
  for (unsigned i = 0; site != nullptr && i < site->info.arg_count; ++i) {
    Value value{site->info.arg_types[i], *word++, {}};
    if (value.type == PENNA_ARG_STRING || value.type == PENNA_ARG_ARRAY) {
      uint32_t bytes = static_cast<uint32_t>(value.word);
      value.element_type = value.word >> 36 & 15;
      value.element_bytes = value.word >> 40 & 15;
      value.cut = (value.word >> 32 & PENNA_STRING_CUT) != 0;
      value.text.assign(reinterpret_cast<const char*>(word), bytes);
      if (bytes % 8 != 0 && word[bytes / 8] >> (bytes % 8 * 8) != 0) std::abort();  // padded with something
      word += (bytes + 7) / 8;
    }
    event.values.push_back(value);
  }
  if (word != record + penna_header_words(record[0])) std::abort();  // lengths that do not add up
  return event;
}

template <typename Visit>
void for_each_record(uint32_t chunk, Visit visit) {
  for (uint32_t at = PENNA_CHUNK_HEADER_BYTES; at + 8 <= PENNA_CHUNK_BYTES;) {
    auto* record = reinterpret_cast<const uint64_t*>(memory[chunk] + at);
    uint64_t header = __atomic_load_n(record, __ATOMIC_ACQUIRE);  // pairs with the release that committed it
    if (header == 0) return;
    if (penna_header_tag(header) != PENNA_TAG_FULL) std::abort();
    visit(record);
    at += penna_header_words(header) * 8;
  }
}

}  // namespace

void rewind() {
  if (own_chunk == UINT32_MAX) own_chunk = __atomic_fetch_add(&next_chunk, 1, __ATOMIC_RELAXED);
  if (own_chunk >= kChunks) std::abort();
  close_chunk();  // a signal handler's event must not lie in what is cleared
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memset(memory[own_chunk], 0, PENNA_CHUNK_BYTES);
  reinterpret_cast<penna_chunk*>(memory[own_chunk])->time_begin = penna_now();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.cursor = uint64_t{own_chunk} << 32 | PENNA_CHUNK_HEADER_BYTES;
}

void age_chunk() { reinterpret_cast<penna_chunk*>(memory[own_chunk])->time_begin = penna_now() - kChunkTicks; }

void start(const char* patterns, size_t patterns_bytes) {
  process.channel = &channel;
  process.chunks = memory[0];
  process.armed = kStarted;
  penna_config config{};
  config.classes = class_bit(PENNA_POINTS);
  std::memcpy(config.point_patterns, patterns, patterns_bytes);
  rewind();
  start_points(config, false);
  for_each_record(own_chunk, [](const uint64_t* record) {
    if (penna_header_kind(record[0]) == PENNA_KIND_SITE) told.push_back(decode_site(record));
  });
  process.armed |= class_bit(PENNA_POINTS);
  rewind();
}

std::vector<Site> sites() { return told; }

const Site* site(uint32_t id) {
  for (const Site& site : told)
    if (site.info.site == id) return &site;
  return nullptr;
}

const Site* site(const char* provider, const char* name) {
  for (const Site& site : told)
    if (site.provider == provider && site.name == name) return &site;
  return nullptr;
}

std::vector<Event> events() {
  std::vector<Event> all;
  uint64_t begin = reinterpret_cast<const penna_chunk*>(memory[own_chunk])->time_begin;
  for_each_record(own_chunk, [&](const uint64_t* record) {
    if (penna_header_kind(record[0]) == PENNA_KIND_POINT) all.push_back(decode_event(record, begin));
  });
  return all;
}

uint64_t lost() { return __atomic_load_n(&channel.counters.lost[PENNA_POINTS], __ATOMIC_RELAXED); }
uint64_t sites_armed() { return channel.counters.sites_armed; }
uint64_t sites_refused() { return channel.counters.sites_refused; }

}  // namespace fake
