// SPDX-License-Identifier: MIT
// Any bytes as a stream of penna/stream.h: each byte is accounted for, and the result opens as a recording.
//
// Input: a selector byte, then the data. Even: a stream as it is; odd: the units of one with a valid header.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "collect/import/stream_import.h"
#include "must_be_readable.h"

using namespace penna;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<uint8_t> bytes;
  if (data[0] % 2 == 1) {
    penna_stream_header header{};
    header.magic = PENNA_STREAM_MAGIC;
    header.version = PENNA_STREAM_VERSION;
    header.bytes = sizeof header;
    const auto* from = reinterpret_cast<const uint8_t*>(&header);
    bytes.assign(from, from + sizeof header);
  }
  bytes.insert(bytes.end(), data + 1, data + size);
  auto stream = StreamImport::open(bytes);
  if (!stream) return 0;

  const std::string path = "/dev/shm/penna-stream-fuzz-" + std::to_string(::getpid());
  auto writer = RecordingWriter::create(path, {.overwrite = true});
  if (!writer) std::abort();
  StreamSummary summary = stream->write(*writer, {});
  if (!writer->finish()) std::abort();
  size_t units = bytes.size() - stream->header().bytes;
  if (summary.units * 16 + summary.damaged_bytes + summary.cut_bytes > units) std::abort();
  if (summary.units == 0 && summary.damaged_bytes + summary.cut_bytes != units) std::abort();
  must_be_readable(path);
  return 0;
}
