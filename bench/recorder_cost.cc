// SPDX-License-Identifier: MIT
// recorder_cost [--rounds N] REC...: the recorder's cost per event, on one thread and in memory.
//
// Why separate from recording_bench: its chunks come from recordings of real programs, and it measures each step of a
// chunk's way separately, which shows what a change gains. One round under callgrind counts instructions.
// Invariant: every step gets the same chunks in every round; the steps take turns, and all run the same number of
// rounds. A figure is the median of the rounds, in this thread's processor time.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "collect/chunk_sink.h"
#include "recording/columns/columns.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "recording_workloads.h"

namespace penna {
namespace {

using Chunks = std::vector<std::vector<uint8_t>>;

constexpr size_t kMostChunks = 256;

uint64_t thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct Work {
  std::string name;
  Chunks chunks;
  uint64_t events = 0, bytes = 0;
};

Work counted(std::string name, Chunks chunks) {
  Work work{std::move(name), std::move(chunks)};
  for (const auto& chunk : work.chunks) {
    const ChunkSummary summary = scan_chunk(chunk);
    for (const uint32_t count : summary.events) work.events += count;
    work.bytes += summary.content_bytes;
  }
  PENNA_CHECK(work.events != 0);
  return work;
}

Work of_recording(const std::string& path) {
  auto recording = Recording::open(path);
  if (!recording) {
    std::fprintf(stderr, "recorder_cost: %s\n", recording.error().text.c_str());
    std::exit(1);
  }
  Chunks chunks;
  for (const ChunkRef& chunk : recording->chunks()) {
    if (chunks.size() == kMostChunks) break;
    if (chunk.raw_bytes > PENNA_CHUNK_BYTES / 2) PENNA_CHECK(recording->read_chunk(chunk, chunks.emplace_back()));
  }
  return counted(path.substr(path.rfind('/') + 1), std::move(chunks));
}

// The steps of a chunk's way through the recorder. What they need is created once.
class Way {
 public:
  explicit Way(const Work& work)
      : work_(work),
        path_("/dev/shm/penna-recorder-cost." + std::to_string(::getpid())),
        copy_(PENNA_CHUNK_BYTES),
        pool_(kPool * PENNA_CHUNK_BYTES) {}
  ~Way() {
    ::unlink(path_.c_str());
    ::unlink((path_ + "-fast").c_str());
  }

  // Copies each chunk out of a pool and zeroes its place there, as the recorder does.
  void take_over() {
    for (const auto& chunk : work_.chunks) {
      uint8_t* const place = pool_.data() + at_++ % kPool * PENNA_CHUNK_BYTES;
      std::memcpy(copy_.data(), place, chunk.size());
      std::memset(place, 0, chunk.size());
    }
  }
  void scan() {
    ChunkSink sink(1);
    for (const auto& chunk : work_.chunks) (void)sink.scan(chunk);
  }
  void columns() {
    for (const auto& chunk : work_.chunks) PENNA_CHECK(encoder_.encode(chunk, out_));
  }
  // Everything after the copy, into a file that is created at the first call. Returns the bytes of the chunks in it.
  uint64_t store(Packing packing) {
    auto& writer = writers_[packing == Packing::kFast];
    if (!writer) {
      auto made = RecordingWriter::create(path_ + (packing == Packing::kFast ? "-fast" : ""),
                                          {.overwrite = true, .remembers_code = true, .packing = packing});
      PENNA_CHECK(made);
      writer.emplace(std::move(*made));
    }
    const uint64_t before = writer->chunk_stored_bytes();
    ChunkSink sink(1);
    for (const auto& chunk : work_.chunks) {
      const ChunkSummary summary = sink.scan(chunk);
      sink.store(*writer, chunk, summary);
    }
    return writer->chunk_stored_bytes() - before;
  }

 private:
  static constexpr size_t kPool = 64;
  const Work& work_;
  std::string path_;
  std::vector<uint8_t> copy_, pool_, out_;
  size_t at_ = 0;
  std::optional<RecordingWriter> writers_[2];
  ColumnEncoder encoder_;
};

void measure(const Work& work, size_t rounds) {
  Way way(work);
  const std::array<std::function<void()>, 5> steps = {[&] { way.take_over(); }, [&] { way.scan(); },
                                                      [&] { way.columns(); }, [&] { (void)way.store(Packing::kSmall); },
                                                      [&] { (void)way.store(Packing::kFast); }};
  std::array<std::vector<uint64_t>, steps.size()> times;
  for (size_t round = 0; round < rounds; ++round)
    for (size_t step = 0; step < steps.size(); ++step) {
      const uint64_t begin = thread_ns();
      steps[step]();
      times[step].push_back(thread_ns() - begin);
    }
  const auto events = static_cast<double>(work.events);
  std::printf("| %-14s | %5.1f | %8.3f | %8.3f |", work.name.c_str(), static_cast<double>(work.bytes) / events,
              static_cast<double>(way.store(Packing::kSmall)) / events,
              static_cast<double>(way.store(Packing::kFast)) / events);
  for (auto& time : times) {
    std::nth_element(time.begin(), time.begin() + static_cast<ptrdiff_t>(rounds / 2), time.end());
    std::printf(" %8.2f |", static_cast<double>(time[rounds / 2]) / events);
  }
  std::printf("\n");
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  using namespace penna;
  size_t rounds = 21;
  int first = 1;
  if (argc > 2 && std::string_view(argv[1]) == "--rounds") {
    rounds = static_cast<size_t>(std::max(1, std::atoi(argv[2])));
    first = 3;
  }
  std::printf(
      "| events of      | bytes | small | fast | copied, zeroed, ns | scan | columns | all behind the copy, small | "
      "fast |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (int i = first; i < argc; ++i) measure(of_recording(argv[i]), rounds);
  if (first < argc) return 0;
  measure(counted("calls", workload::chunks_of(workload::Kind::kCalls, kMostChunks)), rounds);
  measure(counted("fib", workload::chunks_of(workload::Kind::kFib, kMostChunks)), rounds);
  measure(counted("allocs", workload::chunks_of(workload::Kind::kAllocs, kMostChunks)), rounds);
  measure(counted("malloc_loop", workload::chunks_of(workload::Kind::kMallocLoop, kMostChunks)), rounds);
}
