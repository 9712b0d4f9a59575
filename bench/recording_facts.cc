// SPDX-License-Identifier: MIT
// recording_facts REC: what bench/report.py needs to know about a recording, as raw numbers on one line of key=value.
//
// Why separate from `penna info`: sizes before and after compression and the recorder's own time only interest a
// benchmark, and text for users has rounded numbers.
#include <cstdio>

#include "recording/reader.h"

int main(int argc, char** argv) {
  using namespace penna;
  if (argc != 2) {
    std::fprintf(stderr, "usage: recording_facts REC\n");
    return 2;
  }
  const auto recording = Recording::open(argv[1]);
  if (!recording) {
    std::fprintf(stderr, "recording_facts: %s\n", recording.error().text.c_str());
    return 1;
  }
  uint64_t events[PENNA_CLASS_COUNT] = {}, raw = 0, stored = 0, torn = 0, lost = 0, blocked = 0;
  for (const ChunkRef& chunk : recording->chunks()) {
    for (int i = 0; i < PENNA_CLASS_COUNT; ++i) events[i] += chunk.events[i];
    raw += chunk.raw_bytes;
    stored += chunk.stored_bytes;
    torn += chunk.torn;
  }
  const auto add = [&](const Health& health) {
    for (uint64_t count : health.lost) lost += count;
    blocked += health.blocked_ticks;
  };
  for (const RecordedProcess& process : recording->processes()) add(process.health);
  for (const RecordedThread& thread : recording->threads()) add(thread.health);
  if (const auto failures = recording->write_failures())
    for (uint64_t count : failures->lost) lost += count;
  std::printf("calls=%llu alloc=%llu locks=%llu points=%llu lost=%llu torn=%llu ",
              (unsigned long long)events[PENNA_CALLS], (unsigned long long)events[PENNA_ALLOC],
              (unsigned long long)events[PENNA_LOCKS], (unsigned long long)events[PENNA_POINTS],
              (unsigned long long)lost, (unsigned long long)torn);
  std::printf("raw=%llu stored=%llu file=%llu blocked_ns=%.0f recorder_ns=%llu finished=%d\n", (unsigned long long)raw,
              (unsigned long long)stored, (unsigned long long)recording->file_bytes(),
              static_cast<double>(blocked) * recording->time().ns_per_tick(),
              (unsigned long long)recording->collector().cpu_ns, recording->is_finished());
  return 0;
}
