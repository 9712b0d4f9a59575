// SPDX-License-Identifier: MIT
// Any text as an etrace TRACE file: each line is a call's entry or exit, skipped, or a header; and the result is
// readable. Input: the text.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/fd.h"
#include "text_trace.h"

using namespace penna;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string path = "/dev/shm/penna-text-trace-fuzz-" + std::to_string(::getpid());
  {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  const auto lines = static_cast<uint64_t>(std::count(data, data + size, '\n')) + 1;
  (void)is_text_trace(path);
  const auto trace = read_text_trace(path, size % 2 == 0 ? "./app" : "", [](const std::string& name) {
    return name == "main" ? std::optional<uint64_t>(0x1169) : std::nullopt;
  });
  ::unlink(path.c_str());
  if (!trace) return 0;
  uint64_t calls = 0;
  for (const ChunkRef& chunk : trace->recording.chunks()) calls += chunk.events[PENNA_CALLS];
  if (calls + trace->other_lines > lines) std::abort();
  return 0;
}
