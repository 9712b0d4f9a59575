// SPDX-License-Identifier: MIT
// The recording: how fast records are decoded, compressed, written and read back, and their size on disk.
//
// Invariant: before a figure is given, the chunks have made the round trip bit by bit.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>

#include "base/check.h"
#include "recording/columns/codec.h"
#include "recording/reader.h"
#include "recording/records.h"
#include "recording/writer.h"
#include "recording_workloads.h"

namespace penna {
namespace {

using Chunks = std::vector<std::vector<uint8_t>>;
using workload::Kind;

constexpr const char* kNames[] = {"calls", "fib", "allocs", "malloc_loop"};

const Chunks& chunks_of(benchmark::State& state) {
  static std::map<int64_t, Chunks> made;
  Chunks& chunks = made[state.range(0)];
  if (chunks.empty()) chunks = workload::chunks_of(static_cast<Kind>(state.range(0)), 256);
  state.SetLabel(kNames[state.range(0)]);
  return chunks;
}

uint64_t events_in(const Chunks& chunks) {
  uint64_t sum = 0;
  for (const auto& chunk : chunks) {
    auto summary = scan_chunk(chunk);
    PENNA_CHECK(summary.complete());
    for (uint32_t events : summary.events) sum += events;
  }
  return sum;
}

uint64_t bytes_in(const Chunks& chunks) {
  uint64_t sum = 0;
  for (const auto& chunk : chunks) sum += scan_chunk(chunk).content_bytes;
  return sum;
}

void BM_cursor(benchmark::State& state) {
  const Chunks& chunks = chunks_of(state);
  uint64_t sum = 0;
  for (auto _ : state)
    for (const auto& chunk : chunks) {
      RecordCursor in(chunk);
      for (Record record; in.next(record);) sum += record.time + record.pc + record.kind;
    }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(static_cast<int64_t>(events_in(chunks)) * state.iterations());
}

void BM_scan(benchmark::State& state) {
  const Chunks& chunks = chunks_of(state);
  for (auto _ : state)
    for (const auto& chunk : chunks) benchmark::DoNotOptimize(scan_chunk(chunk));
  state.SetItemsProcessed(static_cast<int64_t>(events_in(chunks)) * state.iterations());
}

// range(1): as columns or plain zstd. B/pair: bytes on disk per call, or per allocation with its free.
void BM_compress(benchmark::State& state) {
  const Chunks& chunks = chunks_of(state);
  Compressor compressor(1, state.range(1) != 0);
  std::vector<uint8_t> stored, back;
  uint64_t stored_bytes = 0;
  for (const auto& chunk : chunks) {
    auto content = std::span(chunk).first(scan_chunk(chunk).content_bytes);
    auto codec = compressor.compress(layout::BlockType::kChunk, content, stored);
    PENNA_CHECK(decompress(codec, stored, content.size(), back));
    PENNA_CHECK(std::equal(back.begin(), back.end(), content.begin(), content.end()));
    stored_bytes += stored.size() + sizeof(layout::BlockHeader) + sizeof(layout::ChunkHead);
  }
  for (auto _ : state)
    for (const auto& chunk : chunks) {
      benchmark::DoNotOptimize(compressor.compress(layout::BlockType::kChunk, chunk, stored));
      benchmark::ClobberMemory();
    }
  state.SetBytesProcessed(static_cast<int64_t>(bytes_in(chunks)) * state.iterations());
  state.counters["B/pair"] = 2.0 * static_cast<double>(stored_bytes) / static_cast<double>(events_in(chunks));
}

void BM_decompress(benchmark::State& state) {
  const Chunks& chunks = chunks_of(state);
  Compressor compressor(1, state.range(1) != 0);
  struct Stored {
    layout::Codec codec;
    size_t raw;
    std::vector<uint8_t> bytes;
  };
  std::vector<Stored> all;
  for (const auto& chunk : chunks) {
    Stored& one = all.emplace_back();
    one.raw = chunk.size();
    one.codec = compressor.compress(layout::BlockType::kChunk, chunk, one.bytes);
  }
  std::vector<uint8_t> back;
  for (auto _ : state)
    for (const Stored& one : all) PENNA_CHECK(decompress(one.codec, one.bytes, one.raw, back));
  state.SetBytesProcessed(static_cast<int64_t>(bytes_in(chunks)) * state.iterations());
}

// Scan, compress and write, like the collector; into memory, so that the disk is not measured.
void BM_write(benchmark::State& state) {
  const Chunks& chunks = chunks_of(state);
  std::string path = "/dev/shm/penna-recording-bench." + std::to_string(::getpid());
  WriterOptions options;
  options.overwrite = true;
  for (auto _ : state) {
    auto writer = RecordingWriter::create(path, options);
    PENNA_CHECK(writer);
    for (const auto& chunk : chunks) PENNA_CHECK(writer->write_chunk(1, chunk, scan_chunk(chunk)));
    PENNA_CHECK(writer->finish());
  }
  state.SetItemsProcessed(static_cast<int64_t>(events_in(chunks)) * state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(bytes_in(chunks)) * state.iterations());
  ::unlink(path.c_str());
}

// Open, read every chunk and scan every record.
void BM_read(benchmark::State& state) {
  const Chunks& chunks = chunks_of(state);
  std::string path = "/dev/shm/penna-recording-bench." + std::to_string(::getpid());
  auto writer = RecordingWriter::create(path);
  PENNA_CHECK(writer);
  for (const auto& chunk : chunks) PENNA_CHECK(writer->write_chunk(1, chunk, scan_chunk(chunk)));
  PENNA_CHECK(writer->finish());
  uint64_t sum = 0;
  std::vector<uint8_t> bytes;
  for (auto _ : state) {
    auto recording = Recording::open(path);
    PENNA_CHECK(recording);
    for (const ChunkRef& chunk : recording->chunks()) {
      PENNA_CHECK(recording->read_chunk(chunk, bytes));
      RecordCursor in(bytes);
      for (Record record; in.next(record);) sum += record.time + record.pc;
    }
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(static_cast<int64_t>(events_in(chunks)) * state.iterations());
  ::unlink(path.c_str());
}

BENCHMARK(BM_cursor)->DenseRange(0, 3);
BENCHMARK(BM_scan)->DenseRange(0, 3);
BENCHMARK(BM_compress)->ArgsProduct({{0, 1, 2, 3}, {0, 1}});
BENCHMARK(BM_decompress)->ArgsProduct({{0, 1, 2, 3}, {0, 1}});
BENCHMARK(BM_write)->DenseRange(0, 3);
BENCHMARK(BM_read)->DenseRange(0, 3);

}  // namespace
}  // namespace penna

BENCHMARK_MAIN();
