// SPDX-License-Identifier: MIT
// HostileTarget: a target that has made a channel by the rules and then writes anything into every part of it.
//
// Why structured: random words in random places fail the first check. This one keeps most of what it writes valid, and
// puts a boundary value where it will be checked; so it gets past each check to the next.
// Invariant: its actions depend only on its Decisions: an input that broke something breaks it again.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "../tests/unit/collect/fake_channel.h"
#include "penna/event.h"

namespace penna {

// The bytes of the input, followed by numbers derived from them.
class Decisions {
 public:
  explicit Decisions(std::span<const uint8_t> input) : input_(input) {
    for (uint8_t byte : input) state_ = (state_ ^ byte) * 0x100000001b3;
  }

  uint64_t word() {
    uint64_t value = 0;
    if (at_ < input_.size()) {
      const size_t bytes = std::min(sizeof value, input_.size() - at_);
      std::memcpy(&value, input_.data() + at_, bytes);
      at_ += bytes;
      return value;
    }
    value = state_ += 0x9e3779b97f4a7c15;  // splitmix64
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }
  uint32_t below(uint32_t limit) {
    if (at_ < input_.size()) return input_[at_++] % limit;
    return static_cast<uint32_t>((word() >> 32) * limit >> 32);
  }
  bool one_in(uint32_t many) { return below(many) == 0; }

  // A value at which checks break, one next to it, or any other.
  uint64_t border() {
    static constexpr uint64_t kBorders[] = {0,
                                            4096,
                                            8192,
                                            65535,
                                            65536,
                                            1 << 20,
                                            1 << 26,
                                            1 << 28,
                                            INT32_MAX,
                                            uint64_t{1} << 31,
                                            UINT32_MAX,
                                            uint64_t{1} << 32,
                                            uint64_t{1} << 40,
                                            uint64_t{1} << 47,
                                            uint64_t{1} << 48,
                                            INT64_MAX,
                                            uint64_t{1} << 63,
                                            UINT64_MAX,
                                            FakeChannel::kChunks,
                                            FakeChannel::kNodes,
                                            uint64_t{PENNA_CHUNK_BYTES} * 8,
                                            PENNA_CTF_MAGIC};
    const uint32_t pick = below(std::size(kBorders) + 2);
    if (pick >= std::size(kBorders)) return word();
    return kBorders[pick] + below(3) - 1;
  }

 private:
  std::span<const uint8_t> input_;
  size_t at_ = 0;
  uint64_t state_ = 0xcbf29ce484222325;
};

class HostileTarget {
 public:
  HostileTarget(const FakeChannel& fake, Decisions& decide) : fake_(fake), decide_(decide) {}

  // One more action, within the rules or not.
  void act() {
    switch (decide_.below(12)) {
      case 0: return spoil(0, sizeof(penna_channel));
      case 1: return spoil(PENNA_START_COUNTS_AT, 4096 - PENNA_START_COUNTS_AT);
      case 2: return spoil(4096, FakeChannel::kChunks / 8);
      case 3: return spoil(8192, penna_ring_bytes(FakeChannel::kChunks, 4));
      case 4: return node();
      case 5: return start();
      case 6: return spoil_chunk();
      case 7: return give(static_cast<uint32_t>(decide_.border()));
      case 8: return counters();
      case 9: return take_back();
      default: return chunk();
    }
  }
  // Fills every chunk to its last byte with what makes the recorder keep most state, and hands it over.
  void flood() {
    const uint32_t what = decide_.below(kFloods);
    for (uint32_t i = 0; i < FakeChannel::kChunks; ++i) {
      fill_flood(i, what);
      give(i);
    }
  }
  // Places for a pointer to a word of the channel: for a thread that writes there continuously.
  std::span<uint8_t> page(uint32_t which) const {
    static constexpr size_t kPages[] = {0, 4096, 8192, 16384 + 8192, 65536, 65536 + PENNA_CHUNK_BYTES};
    return {fake_.bytes() + kPages[which % std::size(kPages)], 4096};
  }
  // Corrupts what it states before it hands the memory over.
  void spoil_geometry() {
    put(decide_.below(sizeof(penna_channel) / 4) * 4, decide_.one_in(2) ? 4 : 8, decide_.border());
  }

 private:
  static constexpr uint32_t kFloods = 6;

  void put(size_t at, size_t bytes, uint64_t value) {
    if (at + bytes <= fake_.size()) std::memcpy(fake_.bytes() + at, &value, bytes);
  }
  uint64_t get(size_t at) const {
    uint64_t value = 0;
    if (at + 8 <= fake_.size()) std::memcpy(&value, fake_.bytes() + at, sizeof value);
    return value;
  }
  void spoil(size_t at, size_t bytes) {
    at += decide_.below(static_cast<uint32_t>(bytes / 4)) * 4;
    const size_t size = decide_.one_in(2) ? 4 : 8;
    const uint64_t near = get(at) + decide_.below(5) - 2, flipped = get(at) ^ uint64_t { 1 } << decide_.below(64);
    const uint32_t how = decide_.below(4);
    put(at, size, how == 0 ? near : how == 1 ? flipped : decide_.border());
  }
  void node() {
    const uint32_t id = decide_.below(FakeChannel::kNodes);
    const uint32_t parent = decide_.one_in(4) ? static_cast<uint32_t>(decide_.border()) : decide_.below(id + 2);
    const penna_stack_node node{decide_.one_in(4) ? 0 : decide_.word() | 1, parent,
                                static_cast<uint32_t>(decide_.word())};
    std::memcpy(fake_.bytes() + 16384 + 2 * FakeChannel::kNodes * 4 + id * sizeof node, &node, sizeof node);
    const uint64_t count = decide_.one_in(4) ? decide_.border() : id + 1;
    put(offsetof(penna_channel, node_count), 4, count);
  }
  void start() {
    penna_start start{};
    const uint32_t place = decide_.below(PENNA_STARTS);
    const uint32_t read = static_cast<uint32_t>(get(PENNA_START_COUNTS_AT + 4));
    start.ticks = decide_.border();
    start.pid = decide_.below(4);
    start.ready = decide_.one_in(4) ? static_cast<uint32_t>(decide_.border()) : read + 1;
    start.why = static_cast<uint16_t>(decide_.one_in(4) ? decide_.border() : decide_.below(PENNA_START_WHYS));
    start.path_bytes = static_cast<uint16_t>(decide_.border());
    std::memset(start.path, '/' + static_cast<int>(decide_.below(200)), sizeof start.path);
    std::memcpy(fake_.bytes() + PENNA_STARTS_AT + (decide_.one_in(2) ? place : read % PENNA_STARTS) * sizeof start,
                &start, sizeof start);
    put(PENNA_START_COUNTS_AT, 4, decide_.one_in(4) ? decide_.border() : read + 1);
  }
  void counters() {
    put(offsetof(penna_channel, counters) + decide_.below(sizeof(penna_counters) / 8) * 8, 8, decide_.border());
  }
  void take_back() {  // like a thread that takes a free chunk, or one that is not free
    const uint32_t chunk = decide_.below(FakeChannel::kChunks);
    put(4096 + chunk / 64 * 8, 8, get(4096 + chunk / 64 * 8) & ~(uint64_t{1} << chunk % 64));
  }
  size_t chunk_at(uint32_t number) const { return 65536 + size_t{number} * PENNA_CHUNK_BYTES; }
  void spoil_chunk() {
    const size_t at = chunk_at(decide_.below(8));
    decide_.one_in(2) ? spoil(at, sizeof(penna_chunk)) : spoil(at, 4096);
  }
  void give(uint32_t number) {
    // From its own knowledge of the ring, whose words may contain anything by now.
    auto* ring = reinterpret_cast<penna_ring*>(fake_.bytes() + 8192);
    const penna_ticket ticket = penna_tickets_drawn(
        __atomic_fetch_add(&ring->tickets, (penna_tickets)1 << PENNA_RING_TICKET_BITS, __ATOMIC_RELAXED));
    penna_slot* slot = penna_ring_slot(ring, FakeChannel::kChunks, 4, ticket);
    std::memcpy(slot + 1, &number, sizeof number);
    __atomic_store_n(&slot->word, penna_slot_word(ticket, FakeChannel::kChunks, PENNA_SLOT_DONE), __ATOMIC_RELEASE);
  }

  // A chunk as a thread fills it; handed over, or not yet.
  void chunk() {
    const uint32_t number = decide_.below(8);
    penna_chunk header = new_header();
    std::vector<uint64_t> words;
    for (uint32_t records = decide_.below(24); records-- != 0;) record(words);
    if (!decide_.one_in(3)) header.content_bits = (sizeof header + words.size() * 8) * 8;
    if (decide_.one_in(16)) header.content_bits = decide_.border();
    write(number, header, words);
    if (header.content_bits != 0) give(number);
  }
  penna_chunk new_header() {
    penna_chunk header{};
    header.ctf_magic = PENNA_CTF_MAGIC;
    header.time_begin = decide_.one_in(8) ? decide_.border() : 1000 + 10 * sequence_;
    header.time_end = decide_.one_in(8) ? decide_.border() : header.time_begin + 10;
    header.packet_bits = PENNA_CHUNK_BYTES * 8;
    header.tid = decide_.one_in(8) ? static_cast<uint32_t>(decide_.border()) : 1;
    header.thread_serial = decide_.one_in(4) ? static_cast<uint32_t>(decide_.border()) : decide_.below(3);
    header.sequence = decide_.one_in(8) ? decide_.border() : sequence_++;
    header.pc_high = decide_.below(2);
    header.generation = decide_.one_in(8) ? static_cast<uint32_t>(decide_.border()) : 1;
    return header;
  }
  void write(uint32_t number, const penna_chunk& header, std::span<const uint64_t> words) {
    put(4096, 8, get(4096) & ~(uint64_t{1} << number % 64));
    uint8_t* at = fake_.bytes() + chunk_at(number);
    if (!words.empty())
      std::memcpy(at + sizeof header, words.data(), std::min(words.size_bytes(), PENNA_CHUNK_BYTES - sizeof header));
    std::memcpy(at, &header, sizeof header);
  }
  void record(std::vector<uint64_t>& words) {
    const uint64_t time = 1000 + decide_.below(200);
    if (decide_.one_in(2)) {  // a call
      words.push_back(uint64_t{decide_.below(8)} << 36 | time << 2 |
                      (decide_.one_in(2) ? PENNA_TAG_ENTRY : PENNA_TAG_EXIT));
      return;
    }
    const uint32_t kind = decide_.below(PENNA_KIND_COUNT + 2);
    const uint32_t payload = decide_.one_in(4) ? decide_.below(256) : decide_.below(12);
    uint64_t header = penna_full_header(kind, 1 + payload, time);
    if (decide_.one_in(16)) header |= PENNA_TAG_BUSY;
    if (decide_.one_in(16)) header = decide_.border();
    words.push_back(header);
    for (uint32_t i = 0; i < payload; ++i) words.push_back(decide_.one_in(3) ? decide_.border() : decide_.below(16));
    if (kind == PENNA_KIND_SITE && payload >= 5 && decide_.one_in(2)) describe(words, payload, sizeof(penna_site_info));
    if (kind == PENNA_KIND_MODULE && payload >= 9 && decide_.one_in(2)) describe(words, payload, sizeof(penna_module));
    if (kind == PENNA_KIND_JUMP && payload >= 3) {
      words[words.size() - payload] = decide_.below(6);
      words[words.size() - payload + 1] = decide_.below(6);
      words[words.size() - payload + 2] = decide_.below(6);
    }
  }
  // Makes the last record a plausible description.
  void describe(std::vector<uint64_t>& words, uint32_t payload, size_t struct_bytes) {
    uint8_t* at = reinterpret_cast<uint8_t*>(words.data() + words.size() - payload);
    const auto text = static_cast<uint16_t>(payload * 8 - struct_bytes);
    if (struct_bytes == sizeof(penna_site_info)) {
      penna_site_info site{};
      site.site = decide_.below(16);
      site.text_bytes = text;
      site.arg_count = static_cast<uint8_t>(decide_.below(4));
      site.kind = static_cast<uint8_t>(decide_.below(9));
      for (uint8_t& type : site.arg_types) type = static_cast<uint8_t>(decide_.below(16));
      std::memcpy(at, &site, sizeof site);
    } else {
      penna_module module{};
      module.start = decide_.below(8) << 12;
      module.end = module.start + decide_.border();
      module.generation = decide_.below(3);
      module.path_bytes = text;
      std::memcpy(at, &module, sizeof module);
    }
  }

  // Distinct threads, functions, contexts, buffers, sites, spans: everything that states are keyed by.
  void fill_flood(uint32_t number, uint32_t what) {
    penna_chunk header = new_header();
    header.thread_serial = what == 0 ? static_cast<uint32_t>(++unique_) : 1;
    header.sequence = what == 0 ? 0 : flooded_++;
    header.time_begin = 1000;
    std::vector<uint64_t> words;
    const size_t room = (PENNA_CHUNK_BYTES - sizeof header) / 8;
    const auto full = [&](uint32_t kind, std::initializer_list<uint64_t> payload) {
      words.push_back(penna_full_header(kind, static_cast<uint32_t>(1 + payload.size()), 1000));
      words.insert(words.end(), payload);
    };
    while (words.size() + 8 < room) {
      const uint64_t next = ++unique_;
      if (what <= 1)
        words.push_back(next << 36 | 1000 << 2 | PENNA_TAG_ENTRY);
      else if (what == 2)
        full(PENNA_KIND_JUMP, {next, next + 1, PENNA_JUMP_SWITCH});
      else if (what == 3)
        full(PENNA_KIND_JUMP, {next % 64, next, PENNA_JUMP_MAKE});
      else if (what == 4)
        full(PENNA_KIND_SITE, {next, 0, 8 | PENNA_SITE_SPAN << 24, 0, 0x4141414141 + (next & 0x1f1f1f1f1f)});
      else
        full(PENNA_KIND_JUMP, {next, 0, PENNA_JUMP_SAVE});
    }
    header.content_bits = (sizeof header + words.size() * 8) * 8;
    write(number, header, words);
  }

  const FakeChannel& fake_;
  Decisions& decide_;
  uint64_t sequence_ = 0, flooded_ = 0, unique_ = 0;
};

}  // namespace penna
