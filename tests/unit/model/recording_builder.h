// SPDX-License-Identifier: MIT
// RecordingBuilder: small recordings for tests, written event by event, through the real writer and reader.
//
// Usage:  RecordingBuilder build; auto& t = build.thread(build.process(100), 1);
//         t.enter(0x1000, 5); t.exit(0x1000, 9); Recording recording = build.open();
// One tick is one nanosecond. Invariant: what is built is what a target and a collector would have written.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "recording/writer.h"

namespace penna {

class ThreadBuilder {
 public:
  ThreadBuilder(uint32_t process, uint32_t serial, uint32_t tid) : process_(process), serial_(serial), tid_(tid) {}

  void enter(uint64_t pc, uint64_t time) { word(penna_call_header(PENNA_TAG_ENTRY, pc, time), pc, time); }
  void exit(uint64_t pc, uint64_t time) { word(penna_call_header(PENNA_TAG_EXIT, pc, time), pc, time); }
  void alloc(uint64_t address, uint32_t size, uint64_t time, uint32_t stack = 1,
             uint64_t family = PENNA_FAMILY_MALLOC) {
    record(PENNA_KIND_ALLOC, time, penna_alloc{address | family << 56, stack, size});
  }
  void alloc_large(uint64_t address, uint64_t size, uint64_t time, uint32_t stack = 1) {
    record(PENNA_KIND_ALLOC_LARGE, time, penna_alloc_large{address, stack, 0, size});
  }
  void free(uint64_t address, uint64_t time, uint64_t family = PENNA_FAMILY_MALLOC) {
    record(PENNA_KIND_FREE, time, penna_free{address | family << 56});
  }
  void free_stack(uint64_t address, uint64_t time, uint32_t stack, uint64_t family = PENNA_FAMILY_MALLOC) {
    record(PENNA_KIND_FREE_STACK, time, penna_free_stack{address | family << 56, stack, 0});
  }
  void realloc_failed(uint64_t address, uint64_t time) {
    record(PENNA_KIND_REALLOC_FAILED, time, penna_free{address | uint64_t{PENNA_FAMILY_REALLOC} << 56});
  }
  void lock(uint64_t address, uint64_t time) { record(PENNA_KIND_LOCK, time, penna_lock{address}); }
  void unlock(uint64_t address, uint64_t time) { record(PENNA_KIND_UNLOCK, time, penna_lock{address}); }
  void busy(uint64_t address, uint64_t time) { record(PENNA_KIND_LOCK_BUSY, time, penna_lock{address}); }
  void lock_wait(uint64_t address, uint64_t begin, uint64_t time, uint32_t stack = 0, uint32_t owner = 0,
                 uint32_t end = PENNA_WAIT_GOT) {
    record(PENNA_KIND_LOCK_WAIT, time, penna_lock_wait{address, begin, stack, owner, end, 0});
  }
  void cond_wait(uint64_t address, uint64_t condition, uint64_t begin, uint64_t time, uint32_t end = PENNA_WAIT_GOT,
                 uint32_t stack = 0) {
    record(PENNA_KIND_COND_WAIT, time, penna_cond_wait{address, condition, begin, stack, end});
  }
  // Of everything that threads wait for: `address` may come from of_sync().
  static constexpr uint64_t of_sync(penna_sync sync, uint64_t address) { return uint64_t{sync} << 56 | address; }
  void lock_at(uint64_t address, uint64_t time, uint32_t stack) {
    record(PENNA_KIND_LOCK_AT, time, penna_lock_at{address, stack, 0});
  }
  void unlock_at(uint64_t address, uint64_t time, uint32_t stack) {
    record(PENNA_KIND_UNLOCK_AT, time, penna_lock_at{address, stack, 0});
  }
  void lock_request(uint64_t address, uint64_t time, uint32_t stack = 0, uint32_t owner = 0) {
    record(PENNA_KIND_LOCK_REQUEST, time, penna_lock_at{address, stack, owner});
  }
  // A request and its end.
  void waited(uint64_t address, uint64_t begin, uint64_t time, uint32_t stack = 0, uint32_t owner = 0,
              uint32_t end = PENNA_WAIT_GOT) {
    lock_request(address, begin, stack, owner);
    lock_wait(address, begin, time, stack, owner, end);
  }
  void wake(uint64_t address, uint64_t time, uint32_t most = 1, uint32_t stack = 0) {
    record(PENNA_KIND_WAKE, time, penna_wake{address, stack, most});
  }
  void lock_made(uint64_t address, uint64_t time, uint32_t stack) {
    record(PENNA_KIND_LOCK_MADE, time, penna_lock_at{address, stack, 0});
  }
  void lock_gone(uint64_t address, uint64_t time) { record(PENNA_KIND_LOCK_GONE, time, penna_lock{address}); }
  // `words` as they follow penna_point.
  void point(uint32_t site, uint64_t time, const std::vector<uint64_t>& words = {}, uint32_t stack = 0) {
    raw(PENNA_KIND_POINT, time, with_words(penna_point{site, stack}, words));
  }
  void name(const char* text, uint64_t time) {
    penna_thread name{};
    std::strncpy(name.name, text, sizeof name.name - 1);
    record(PENNA_KIND_THREAD, time, name);
  }
  // `words` as they follow penna_values.
  void values(uint32_t site, bool is_result, uint64_t time, const std::vector<uint64_t>& words, uint16_t bad = 0) {
    raw(PENNA_KIND_VALUES, time, with_words(penna_values{site, bad, is_result}, words));
  }
  void lost(uint32_t calls, uint64_t time) { record(PENNA_KIND_LOST, time, penna_lost{{calls, 0, 0, 0}}); }
  void jump(penna_jump_what what, uint64_t buffer, uint64_t time, uint64_t other = 0) {
    record(PENNA_KIND_JUMP, time, penna_jump{buffer, other, what, 0});
  }
  void blocked(uint64_t ticks, uint64_t time) { record(PENNA_KIND_BLOCKED, time, penna_blocked{ticks}); }
  void torn(uint64_t time) {
    reserve(16, time);
    append(penna_full_header(PENNA_KIND_FREE, 2, time) | PENNA_TAG_BUSY);
    append(0);
  }
  template <typename T>
  void record(uint32_t kind, uint64_t time, const T& payload) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&payload);
    raw(kind, time, {bytes, bytes + sizeof payload});
  }
  // The payload's size is a multiple of 8.
  void raw(uint32_t kind, uint64_t time, const std::vector<uint8_t>& payload) {
    reserve(8 + payload.size(), time);
    append(penna_full_header(kind, static_cast<uint32_t>(1 + payload.size() / 8), time));
    bytes_->insert(bytes_->end(), payload.begin(), payload.end());
  }
  void new_chunk() { bytes_ = nullptr; }
  void skip_chunk() {  // as if one had been lost
    new_chunk();
    ++sequence_;
  }
  void lose_events(uint64_t count) {
    new_chunk();
    discarded_ += count;
  }

 private:
  friend class RecordingBuilder;
  template <typename T>
  static std::vector<uint8_t> with_words(const T& payload, const std::vector<uint64_t>& words) {
    const auto* head = reinterpret_cast<const uint8_t*>(&payload);
    const auto* tail = reinterpret_cast<const uint8_t*>(words.data());
    std::vector<uint8_t> bytes(head, head + sizeof payload);
    bytes.insert(bytes.end(), tail, tail + words.size() * 8);
    return bytes;
  }
  void word(uint64_t header, uint64_t pc, uint64_t time) {
    if (bytes_ != nullptr && (pc >> 32 != pc_high_ || time - time_begin_ >= 1u << 29)) new_chunk();
    if (bytes_ == nullptr) pc_high_ = static_cast<uint32_t>(pc >> 32);
    reserve(8, time);
    append(header);
  }
  void append(uint64_t value) {
    const auto* from = reinterpret_cast<const uint8_t*>(&value);
    bytes_->insert(bytes_->end(), from, from + sizeof value);
  }
  void reserve(size_t bytes, uint64_t time) {
    if (bytes_ != nullptr && bytes_->size() + bytes <= PENNA_CHUNK_BYTES) return;
    bytes_ = chunks_.emplace_back(std::make_unique<std::vector<uint8_t>>(sizeof(penna_chunk))).get();
    time_begin_ = time;
    penna_chunk header{};
    header.ctf_magic = PENNA_CTF_MAGIC;
    header.time_begin = time;
    header.packet_bits = PENNA_CHUNK_BYTES * 8;
    header.tid = tid_;
    header.thread_serial = serial_;
    header.sequence = sequence_++;
    header.events_discarded = discarded_;
    header.pc_high = pc_high_;
    std::memcpy(bytes_->data(), &header, sizeof header);
  }

  uint32_t process_, serial_, tid_;
  uint32_t pc_high_ = 0;
  uint64_t time_begin_ = 0;
  uint64_t sequence_ = 0, discarded_ = 0;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> chunks_;
  std::vector<uint8_t>* bytes_ = nullptr;  // of the chunk being filled
};

class RecordingBuilder {
 public:
  RecordingBuilder() : path_(testing_path()) {
    auto writer = RecordingWriter::create(path_, {.overwrite = true});
    if (!writer) std::abort();
    writer_ = std::make_unique<RecordingWriter>(std::move(*writer));
    options({});
  }
  ~RecordingBuilder() { ::unlink(path_.c_str()); }
  RecordingBuilder(const RecordingBuilder&) = delete;
  RecordingBuilder& operator=(const RecordingBuilder&) = delete;

  // As record was given them: the session says so; a later one replaces an earlier one.
  void options(const std::vector<std::string>& options) {
    Session session;
    session.ticks_per_second = 1'000'000'000;
    session.classes = 15;
    session.options = options;
    check(writer_->write_session(session));
  }

  // Gives the process's number, which is also its index when all are made in order. `parent`: a pid.
  uint32_t process(uint32_t pid, uint32_t parent = 1, uint64_t start = 0, bool after_exec = false) {
    Process process;
    process.number = processes_++;
    process.pid = pid;
    process.parent_pid = parent;
    process.start_ticks = start;
    process.after_exec = after_exec;
    process.executable = "/bin/program";
    check(writer_->write_process(process));
    return process.number;
  }
  // One that a thread of the process with the pid `parent` forked then.
  uint32_t forked(uint32_t pid, uint32_t parent, uint32_t thread, uint64_t ticks) {
    Process process;
    process.number = processes_++;
    process.pid = pid;
    process.parent_pid = parent;
    process.start_ticks = ticks + 1;
    process.forked_by = thread;
    process.fork_ticks = ticks;
    check(writer_->write_process(process));
    return process.number;
  }
  void end(const ProcessEnd& end) { check(writer_->write_process_end(end)); }
  ThreadBuilder& thread(uint32_t process, uint32_t serial) {
    auto& thread = threads_[{process, serial}];
    if (!thread) thread = std::make_unique<ThreadBuilder>(process, serial, 1000 * (process + 1) + serial);
    return *thread;
  }
  void module(uint32_t process, const Module& module) { check(writer_->write_modules(process, {&module, 1})); }
  void site(uint32_t process, const Site& site) { check(writer_->write_sites(process, {&site, 1})); }
  void names(const FileNames& names) { check(writer_->write_names(names)); }
  void health(uint32_t process, const Health& health) { check(writer_->write_health(process, {&health, 1})); }
  // A stack of these return addresses, the innermost first; its nodes get the ids first, first + 1, ...: the last is it.
  uint32_t stack(uint32_t process, uint32_t first, const std::vector<uint64_t>& frames, uint32_t end = 0) {
    std::vector<penna_stack_node> nodes;
    for (size_t i = frames.size(); i-- > 0;) {
      const auto depth = static_cast<uint32_t>(nodes.size() + 1);
      nodes.push_back({frames[i], depth == 1 ? 0 : first + depth - 2, depth | (depth == 1 ? end << 16 : 0)});
    }
    check(writer_->write_stacks(process, first, nodes));
    return first + static_cast<uint32_t>(nodes.size()) - 1;
  }
  RecordingWriter& writer() { return *writer_; }

  Recording open(bool finish = true) {
    for (auto& [key, thread] : threads_) {
      for (auto& chunk : thread->chunks_) {
        const uint64_t bits = chunk->size() * 8;
        std::memcpy(chunk->data() + offsetof(penna_chunk, content_bits), &bits, sizeof bits);
        check(writer_->write_chunk(thread->process_, *chunk, scan_chunk(*chunk)));
      }
    }
    if (finish) check(writer_->finish());
    writer_.reset();
    auto recording = Recording::open(path_);
    if (!recording) {
      std::fprintf(stderr, "%s\n", recording.error().text.c_str());
      std::abort();
    }
    return std::move(*recording);
  }
  const std::string& path() const { return path_; }

 private:
  static std::string testing_path() {
    std::string path = "/tmp/penna-model-XXXXXX";
    const int fd = ::mkstemp(path.data());
    if (fd >= 0) ::close(fd);
    return path;
  }
  static void check(const Result<>& result) {
    if (result) return;
    std::fprintf(stderr, "%s\n", result.error().text.c_str());
    std::abort();
  }

  std::string path_;
  std::unique_ptr<RecordingWriter> writer_;
  uint32_t processes_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<ThreadBuilder>> threads_;
};

}  // namespace penna
