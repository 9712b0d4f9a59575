// SPDX-License-Identifier: MIT
// make_recording N FILE: a recording of N events, written as the collector would, of a simulated server: eight threads
// that answer requests, with calls, allocations, locks, waits and points.
//
// Why: measuring a reader with 10⁹ events must not require a program that runs for an hour. Times come from a simulated
// clock, one nanosecond per tick. Invariant: the same N gives the same events; every entry has an exit, everything
// taken is released.
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "penna/channel.h"
#include "recording/writer.h"

namespace penna {
namespace {

constexpr uint64_t kCode = 0x555555560000, kData = 0x555555590000, kHeap = 0x7f0000000000;
constexpr uint32_t kThreads = 8, kTid = 4000, kLocks = 6, kRequest = 1, kFlush = 2;
constexpr const char* kFunctions[] = {
    "main",   "serve",      "read_request", "parse_line", "next_token",  "find_key",   "walk_node", "compare",
    "render", "escape",     "append",       "grow",       "write_reply", "checksum",   "flush_log", "compress",
    "hash",   "copy_bytes", "lock_table",   "free_tree",  "visit_leaf",  "format_int", "clock",     "idle"};

uint64_t pc_of(uint32_t function) { return kCode + function * 0x140; }

void check(const Result<>& result) {
  if (result) return;
  fmt::print(stderr, "make_recording: {}\n", result.error().text);
  std::exit(1);
}

class ServerThread {
 public:
  ServerThread(uint32_t number, RecordingWriter& writer, uint64_t* events)
      : number_(number), writer_(writer), events_(*events), random_(0x9e3779b97f4a7c15 * (number + 1)) {
    now_ = 1'000'000 + number * 137;
  }
  uint64_t now() const { return now_; }

  void request() {
    enter(1);
    read_request();
    for (uint64_t keys = 1 + up_to(3); keys > 0; --keys) find_key();
    render();
    point(kRequest, {++requests_, sent_});
    leaf(13, 400);
    exit(1);
    if (up_to(400) == 0) flush_log();
    now_ += up_to(64) == 0 ? up_to(3'000'000) : up_to(20'000);  // until the next request arrives
  }
  void finish() { close(); }

 private:
  static constexpr size_t kMostBlocks = 48;
  // xorshift64*: Vigna, ACM TOMS 42(4), 2016.
  uint64_t up_to(uint64_t most) {
    random_ ^= random_ >> 12, random_ ^= random_ << 25, random_ ^= random_ >> 27;
    return (random_ * 0x2545f4914f6cdd1d >> 33) % most;
  }
  void enter(uint32_t function) { call(PENNA_TAG_ENTRY, function); }
  void exit(uint32_t function) { call(PENNA_TAG_EXIT, function); }
  void leaf(uint32_t function, uint64_t most_ns) {
    enter(function);
    now_ += up_to(most_ns);
    exit(function);
  }

  void read_request() {
    enter(2);
    now_ += up_to(100) == 0 ? up_to(500'000) : up_to(3'000);
    for (uint64_t lines = 2 + up_to(4); lines > 0; --lines) {
      enter(3);
      for (uint64_t tokens = 2 + up_to(6); tokens > 0; --tokens) leaf(4, 60);
      exit(3);
    }
    exit(2);
  }
  void find_key() {
    enter(5);
    leaf(16, 90);
    const uint32_t lock = static_cast<uint32_t>(up_to(kLocks));
    enter(18);
    take(lock);
    walk(static_cast<uint32_t>(2 + up_to(5)));
    give(lock);
    exit(18);
    exit(5);
  }
  void walk(uint32_t depth) {
    enter(6);
    leaf(7, 40);
    if (depth > 0) walk(depth - 1);
    if (depth > 1 && up_to(3) == 0) walk(depth - 2);
    exit(6);
  }
  void render() {
    enter(8);
    for (uint64_t parts = 3 + up_to(12); parts > 0; --parts) {
      enter(10);
      leaf(9, 120);
      if (up_to(3) == 0) allocate(32 + up_to(40) * 16);
      if (up_to(5) == 0) leaf(21, 200);
      leaf(17, 50);
      exit(10);
    }
    exit(8);
    enter(12);
    now_ += up_to(200) == 0 ? up_to(2'000'000) : up_to(8'000);
    sent_ += up_to(9000);
    exit(12);
  }
  void flush_log() {
    enter(14);
    for (int i = 0; i < 40; ++i) leaf(15, 9'000);
    now_ += up_to(30'000'000);
    point(kFlush, {requests_, 40});
    exit(14);
  }

  void allocate(uint64_t size) {
    const size_t at = up_to(kMostBlocks);
    uint64_t& block = blocks_[at];
    if (block != 0) {
      uint64_t words[2] = {penna_full_header(PENNA_KIND_FREE, 2, now_), block};
      record(words, 2);
    }
    now_ += 30 + up_to(40);
    block = kHeap + (uint64_t{number_} << 32) + at * 4096 + up_to(4) * 1024;
    uint64_t words[3] = {penna_full_header(PENNA_KIND_ALLOC, 3, now_), block, size << 32 | (1 + up_to(4))};
    record(words, 3);
  }
  // Now and then another thread holds it.
  void take(uint32_t lock) {
    const uint64_t address = kData + lock * 64;
    if (up_to(150) != 0) {
      uint64_t words[2] = {penna_full_header(PENNA_KIND_LOCK, 2, now_ += 20), address};
      return record(words, 2);
    }
    const uint64_t begin = now_;
    now_ += 2'000 + up_to(up_to(50) == 0 ? 4'000'000 : 40'000);
    const penna_lock_wait wait{address, begin, 1, kTid + static_cast<uint32_t>(up_to(kThreads)), PENNA_WAIT_GOT, 0};
    uint64_t words[1 + sizeof wait / 8] = {penna_full_header(PENNA_KIND_LOCK_WAIT, 1 + sizeof wait / 8, now_)};
    std::memcpy(words + 1, &wait, sizeof wait);
    record(words, std::size(words));
  }
  void give(uint32_t lock) {
    uint64_t words[2] = {penna_full_header(PENNA_KIND_UNLOCK, 2, now_ += 15), kData + lock * 64};
    record(words, 2);
  }
  void point(uint32_t site, std::array<uint64_t, 2> values) {
    uint64_t words[4] = {penna_full_header(PENNA_KIND_POINT, 4, now_ += 20), site, values[0], values[1]};
    record(words, 4);
  }
  void call(uint32_t tag, uint32_t function) {
    now_ += 4 + up_to(12);
    uint64_t word = penna_call_header(tag, pc_of(function), now_);
    record(&word, 1);
  }

  void record(const uint64_t* words, size_t count) {
    // A call has 30 bits of its time.
    if (used_ + count * 8 > PENNA_CHUNK_BYTES || now_ - begun_ >= 1u << 29) close();
    if (used_ == 0) open();
    std::memcpy(chunk_.data() + used_, words, count * 8);
    used_ += count * 8;
    ++events_;
  }
  void open() {
    penna_chunk header{};
    header.ctf_magic = PENNA_CTF_MAGIC;
    header.time_begin = begun_ = now_;
    header.packet_bits = uint64_t{PENNA_CHUNK_BYTES} * 8;
    header.tid = kTid + number_;
    header.thread_serial = number_ + 1;
    header.sequence = sequence_++;
    header.pc_high = kCode >> 32;
    std::memcpy(chunk_.data(), &header, sizeof header);
    used_ = sizeof header;
  }
  void close() {
    if (used_ == 0) return;
    const uint64_t end = now_, bits = used_ * 8;
    std::memcpy(chunk_.data() + offsetof(penna_chunk, time_end), &end, sizeof end);
    std::memcpy(chunk_.data() + offsetof(penna_chunk, content_bits), &bits, sizeof bits);
    const std::span<const uint8_t> content(chunk_.data(), used_);
    check(writer_.write_chunk(0, content, scan_chunk(content)));
    used_ = 0;
  }

  const uint32_t number_;
  RecordingWriter& writer_;
  uint64_t& events_;
  uint64_t random_, now_, begun_ = 0, sequence_ = 0, requests_ = 0, sent_ = 0;
  std::array<uint64_t, kMostBlocks> blocks_{};
  std::vector<uint8_t> chunk_ = std::vector<uint8_t>(PENNA_CHUNK_BYTES);
  size_t used_ = 0;
};

FileNames names() {
  FileNames names;
  names.path = "/usr/bin/server";
  names.texts = {""};
  const auto add = [&](uint64_t address, const std::string& name, uint32_t flags) {
    FileNames::Place place;
    place.address = place.start = address;
    place.flags = flags | FileNames::kStart;
    place.frames = {{static_cast<uint32_t>(names.texts.size()), 0, 0, false}};
    names.places.push_back(place);
    names.texts.push_back(name);
  };
  for (uint32_t i = 0; i < std::size(kFunctions); ++i) add(pc_of(i) - kCode, kFunctions[i], 0);
  for (uint32_t i = 0; i < kLocks; ++i) add(kData - kCode + i * 64, "table" + std::to_string(i), FileNames::kData);
  return names;
}

Site site(uint32_t id, const char* name, const char* first, const char* second) {
  Site site;
  site.id = id;
  site.kind = PENNA_SITE_EVENT;
  site.provider = "server";
  site.name = name;
  site.arguments = {{PENNA_ARG_UINT, first}, {PENNA_ARG_UINT, second}};
  return site;
}

void write_metadata(RecordingWriter& writer) {
  Session session;
  session.command = {"server"};
  session.classes = 15;
  session.ticks_per_second = 1'000'000'000;
  session.start = {0, 1'000'000'000, 1'700'000'000'000'000'000};
  check(writer.write_session(session));
  check(writer.write_clock(session.start));
  Process process;
  process.pid = kTid;
  process.executable = "/usr/bin/server";
  process.command = session.command;
  check(writer.write_process(process));
  std::vector<Module> modules(1);
  modules[0].path = process.executable;
  modules[0].bias = modules[0].start = kCode;
  modules[0].end = kCode + 0x40000;
  check(writer.write_modules(0, modules));
  const Site sites[] = {site(kRequest, "request", "number", "sent"), site(kFlush, "flush", "requests", "blocks")};
  check(writer.write_sites(0, sites));
  std::vector<penna_stack_node> nodes;
  for (uint32_t i = 0; i < 4; ++i) nodes.push_back({pc_of(8 + i) + 0x20, i, i + 1});
  check(writer.write_stacks(0, 1, nodes));
  check(writer.write_names(names()));
  std::vector<Thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i)
    threads.push_back({i + 1, kTid + i, i == 0 ? "server" : "worker-" + std::to_string(i), 0});
  check(writer.write_threads(0, threads));
}

int run(uint64_t wanted, const char* path) {
  Result<RecordingWriter> writer = RecordingWriter::create(path, {.overwrite = true});
  if (!writer) return fmt::print(stderr, "make_recording: {}\n", writer.error().text), 1;
  write_metadata(*writer);
  uint64_t events = 0;
  std::vector<std::unique_ptr<ServerThread>> threads;
  for (uint32_t i = 0; i < kThreads; ++i) threads.push_back(std::make_unique<ServerThread>(i, *writer, &events));
  while (events < wanted) {
    ServerThread* behind = threads[0].get();
    for (const auto& one : threads)
      if (one->now() < behind->now()) behind = one.get();
    behind->request();
  }
  uint64_t end = 0;
  for (const auto& one : threads) one->finish(), end = std::max(end, one->now());
  ProcessEnd ended;
  ended.end_ticks = end;
  ended.how = EndKind::kExited;
  check(writer->write_process_end(ended));
  check(writer->finish());
  fmt::print("events={} seconds={:.3f} bytes={}\n", events, static_cast<double>(end) / 1e9, writer->file_bytes());
  return 0;
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  const uint64_t events = argc == 3 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (events == 0) return fmt::print(stderr, "usage: make_recording N FILE\n"), 2;
  return penna::run(events, argv[2]);
}
