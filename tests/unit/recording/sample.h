// SPDX-License-Identifier: MIT
// A small recording with a block of every type, and helpers to write it, copy it and break it. Test-only.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "chunk_builder.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace penna {

// A directory that is gone with the test.
class TempDir {
 public:
  TempDir() {
    char name[] = "/tmp/penna-recording-XXXXXX";
    if (mkdtemp(name) != nullptr) path_ = name;
  }
  ~TempDir() {
    for (const auto& name : names_) ::unlink(name.c_str());
    ::rmdir(path_.c_str());
  }
  std::string file(const std::string& name) {
    names_.push_back(path_ + "/" + name);
    return names_.back();
  }

 private:
  std::string path_;
  std::vector<std::string> names_;
};

inline std::vector<uint8_t> slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void spill(const std::string& path, const std::vector<uint8_t>& bytes) {
  ::unlink(path.c_str());  // a file that is cut and rewritten would be synced to disk by ext4
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline Session sample_session() {
  Session session;
  session.penna_version = "0.1.0";
  session.command = {"./app", "--fast", "two words", ""};
  session.cwd = "/home/user";
  session.host = "box";
  session.kernel = "6.1.0 #1 SMP";
  session.machine = "x86_64";
  session.cpu = "Some CPU @ 2 GHz";
  session.options = {"kinds=calls,alloc", "on-full=block"};
  session.cpu_count = 2;
  session.page_size = 4096;
  session.recorder_pid = 99;
  session.classes = 3;
  session.ticks_per_second = 2'000'000'000;
  session.clock_flags = kClockInvariant;
  session.start = {1'000'000, 500'000, 1'600'000'000'000'000'000};
  session.time_shift = 3;
  return session;
}

inline Module sample_module(const std::string& path, uint64_t start, uint64_t ticks) {
  Module module;
  module.bias = start - 0x1000;
  module.start = start;
  module.end = start + 0x10000;
  module.path = path;
  module.build_id = {1, 2, 3, 4, 5};
  module.ticks = ticks;
  return module;
}

// Chunk `sequence` of a thread: 50 nested calls with an allocation in each.
inline std::vector<uint8_t> sample_chunk(uint32_t serial, uint64_t sequence) {
  uint64_t time = 1'000'000 + sequence * 1'000'000;
  ChunkBuilder chunk(time, serial, sequence);
  for (uint64_t i = 0; i < 50; ++i) {
    uint64_t pc = 0x5555'0000'1000 + i % 7 * 64, block = 0x7000'0000 + i * 32;
    chunk.entry(pc, time + 100).alloc(block, 24, 2, time + 150).free(block, time + 220).exit(pc, time + 250);
    time += 250;
  }
  return chunk.close(time);
}

inline std::vector<penna_stack_node> sample_nodes() {
  std::vector<penna_stack_node> nodes(4);
  nodes[1] = {0x5555'0000'1010, 0, 1 | PENNA_STACK_NO_RULE << 16};
  nodes[2] = {0x5555'0000'1020 | uint64_t{3} << 48, 1, 2};
  nodes[3] = {0x5555'0000'1030, 2, 3};
  return nodes;
}

inline constexpr uint32_t kSampleChunks = 5;  // of each of the 2 threads of process 1

// Everything but finish().
inline void write_sample(RecordingWriter& writer) {
  EXPECT_TRUE(writer.write_session(sample_session()));
  EXPECT_TRUE(writer.write_clock({1'000'000, 500'000, 1'600'000'000'000'000'000}));
  Process first{1, 4000, 99, true, "/usr/bin/app", {"./app", "--fast"}, 0, 1'000'000};
  EXPECT_TRUE(writer.write_process(first));
  EXPECT_TRUE(writer.write_process({2, 4010, 4000, false, "/usr/bin/app", {"./app"}, 0, 1'500'000}));
  std::vector<Module> modules{sample_module("/usr/bin/app", 0x5555'0000'0000, 1'000'000),
                              sample_module("/lib/libc.so.6", 0x7fff'0000'0000, 1'000'001)};
  EXPECT_TRUE(writer.write_modules(1, modules));
  std::vector<Thread> threads{{1, 4001, "main", 1'000'000}, {2, 4002, "worker", 1'200'000}};
  EXPECT_TRUE(writer.write_threads(1, threads));
  std::vector<Site> sites{
      {7, 12, 0x5555'0000'1100, "app", "tick", "app.c", {{PENNA_ARG_INT, "n"}, {PENNA_ARG_STRING, ""}}}};
  EXPECT_TRUE(writer.write_sites(1, sites));
  EXPECT_TRUE(writer.write_stacks(1, 0, sample_nodes()));
  for (uint64_t sequence = 0; sequence < kSampleChunks; ++sequence)
    for (uint32_t serial : {1u, 2u}) {
      auto chunk = sample_chunk(serial, sequence);
      EXPECT_TRUE(writer.write_chunk(1, chunk, scan_chunk(chunk)));
    }
  std::vector<Thread> renamed{{2, 4002, "worker/1", 1'900'000}};
  EXPECT_TRUE(writer.write_threads(1, renamed));
  ProcessEnd end{1, 9'000'000, EndKind::kSignaled, 11, {}};
  end.counters.lost[PENNA_ALLOC] = 5;
  end.counters.in_handler = 3;
  EXPECT_TRUE(writer.write_process_end(end));
  std::vector<Health> health(3);
  health[0].abandoned = 1;
  for (uint32_t serial : {1u, 2u}) {
    health[serial].thread_serial = serial;
    health[serial].stored = {500, 500, 0, 0};
    health[serial].lost = {0, serial, 0, 0};
  }
  EXPECT_TRUE(writer.write_health(1, health));
  CollectorHealth collector;
  collector.chunks = 10;
  collector.event_cost_ps = {15'400, 60'000, 0, 0};
  collector.notes = {"Process 4020 is setuid and was not recorded."};
  EXPECT_TRUE(writer.write_collector(collector));
  EXPECT_TRUE(writer.write_clock({11'000'000, 5'500'000, 1'600'000'000'005'000'000}));
}

// The bytes of a finished sample.
inline std::vector<uint8_t> sample_bytes(const WriterOptions& options = {}) {
  TempDir dir;
  std::string path = dir.file("sample.penna");
  auto writer = RecordingWriter::create(path, options);
  EXPECT_TRUE(writer);
  write_sample(*writer);
  EXPECT_TRUE(writer->finish());
  return slurp(path);
}

// Reads everything that a recording offers. The sum keeps the compiler from leaving anything out.
inline uint64_t read_all(const Recording& recording, uint64_t* bad_chunks = nullptr) {
  uint64_t sum = recording.session().command.size() + recording.clocks().size() + recording.damage().text().size();
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < recording.processes().size(); ++i) {
    sum += recording.module_map(i).find(0x5555'0000'1010, 2'000'000) + recording.stack_node_count(i);
    sum += recording.site(i, 7) != nullptr;
    uint32_t id = 3;
    for (int depth = 0; id != 0; ++depth) {
      EXPECT_LE(depth, 65536);
      auto node = recording.stack_node(i, id);
      if (!node) break;
      id = node->parent;
    }
  }
  for (const ChunkRef& chunk : recording.chunks()) {
    EXPECT_LT(chunk.thread, recording.threads().size());
    EXPECT_LT(chunk.process, recording.processes().size());
    if (!recording.read_chunk(chunk, bytes)) {
      if (bad_chunks != nullptr) ++*bad_chunks;
      continue;
    }
    EXPECT_LE(bytes.size(), size_t{PENNA_CHUNK_BYTES});
    sum += scan_chunk(bytes).records + static_cast<uint64_t>(recording.time().monotonic_ns(chunk.time_begin));
  }
  return sum;
}

// The sample, whole: every value of every block.
inline void expect_sample(const Recording& recording) {
  const Session expected = sample_session();
  const Session& session = recording.session();
  EXPECT_EQ(session.command, expected.command);
  EXPECT_EQ(session.penna_version, expected.penna_version);
  EXPECT_EQ(session.cwd + session.host + session.kernel, expected.cwd + expected.host + expected.kernel);
  EXPECT_EQ(session.machine + session.cpu, expected.machine + expected.cpu);
  EXPECT_EQ(session.options, expected.options);
  EXPECT_EQ(session.ticks_per_second, expected.ticks_per_second);
  EXPECT_EQ(session.start.realtime_ns, expected.start.realtime_ns);
  EXPECT_EQ(session.classes, 3u);
  EXPECT_EQ(session.time_shift, 3u);
  ASSERT_EQ(recording.clocks().size(), 2u);
  EXPECT_EQ(recording.time().monotonic_ns(6'000'000), 3'000'000);

  ASSERT_EQ(recording.processes().size(), 2u);
  const RecordedProcess& process = recording.processes()[0];
  EXPECT_TRUE(process.announced);
  EXPECT_TRUE(process.process.after_exec);
  EXPECT_EQ(process.process.number, 1u);
  EXPECT_EQ(process.process.pid, 4000u);
  EXPECT_EQ(process.process.executable, "/usr/bin/app");
  ASSERT_TRUE(process.end);
  EXPECT_EQ(process.end->how, EndKind::kSignaled);
  EXPECT_EQ(process.end->code, 11);
  EXPECT_EQ(process.end->counters.lost[PENNA_ALLOC], 5u);
  EXPECT_EQ(process.end->counters.in_handler, 3u);
  EXPECT_EQ(process.health.abandoned, 1u);
  EXPECT_FALSE(recording.processes()[1].end);
  EXPECT_EQ(recording.processes()[1].process.pid, 4010u);

  ASSERT_EQ(process.modules.size(), 2u);
  EXPECT_EQ(process.modules[1].path, "/lib/libc.so.6");
  EXPECT_EQ(process.modules[1].build_id, (std::vector<uint8_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(recording.module_map(0).find(0x7fff'0000'0100, 5'000'000), 1u);
  const Site* site = recording.site(0, 7);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->arguments.size(), 2u);
  EXPECT_EQ(site->provider + ":" + site->name, "app:tick");
  EXPECT_EQ(site->kind, PENNA_SITE_EVENT);  // also in files from before there were kinds
  EXPECT_EQ(recording.site(0, 8), nullptr);

  auto node = recording.stack_node(0, 2);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->pc, 0x5555'0000'1020u);
  EXPECT_EQ(node->generation, 3);
  EXPECT_EQ(node->parent, 1u);
  EXPECT_EQ(recording.stack_node(0, 1)->end, PENNA_STACK_NO_RULE);
  EXPECT_FALSE(recording.stack_node(0, 0));
  EXPECT_FALSE(recording.stack_node(1, 2));

  ASSERT_EQ(recording.threads().size(), 2u);
  EXPECT_EQ(process.threads, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(recording.threads()[1].name, "worker/1");
  EXPECT_EQ(recording.threads()[1].names.size(), 2u);
  EXPECT_EQ(recording.threads()[1].tid, 4002u);
  EXPECT_EQ(recording.threads()[1].health.lost[PENNA_ALLOC], 2u);
  EXPECT_EQ(recording.collector().chunks, 10u);
  EXPECT_EQ(recording.collector().notes.size(), 1u);

  ASSERT_EQ(recording.chunks().size(), 2 * kSampleChunks);
  std::vector<uint8_t> bytes;
  for (uint32_t thread : {0u, 1u}) {
    ASSERT_EQ(recording.chunks(thread).size(), size_t{kSampleChunks});
    uint64_t sequence = 0;
    for (const ChunkRef& chunk : recording.chunks(thread)) {
      EXPECT_EQ(chunk.sequence, sequence);
      EXPECT_EQ(chunk.events, (std::array<uint32_t, 4>{100, 100, 0, 0}));
      ASSERT_TRUE(recording.read_chunk(chunk, bytes));
      auto original = sample_chunk(thread + 1, sequence++);
      original.resize(scan_chunk(original).content_bytes);
      EXPECT_EQ(bytes, original) << "bit by bit";
    }
  }
}

}  // namespace penna
