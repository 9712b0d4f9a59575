// SPDX-License-Identifier: MIT
// Any text as a functracer trace: no more events than lines, and the result opens as a recording.
//
// Input: a selector byte, then the text. Odd: preceded by a valid header.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "collect/import/rtrace_import.h"
#include "must_be_readable.h"

using namespace penna;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string text;
  if (data[0] % 2 == 1) text = "version=2.0, pid=7, process=./app, backtrace depth=3,\n<1> : memory (bytes)\n";
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto trace = RtraceImport::open(text);
  if (!trace) return 0;

  const std::string path = "/dev/shm/penna-rtrace-fuzz-" + std::to_string(::getpid());
  auto writer = RecordingWriter::create(path, {.overwrite = true});
  if (!writer) std::abort();
  const RtraceSummary summary = trace->write(*writer, trace->session());
  if (!writer->finish()) std::abort();
  const auto lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  if (summary.events[PENNA_ALLOC] + summary.other_resources + summary.damaged_lines + summary.comments > lines)
    std::abort();
  must_be_readable(path);
  return 0;
}
