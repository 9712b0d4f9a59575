// SPDX-License-Identifier: MIT
// The end of every fuzz target that writes a recording: whatever the input, the file is intact. Removes it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "recording/reader.h"

namespace penna {

inline void must_be_readable(const std::string& path) {
  auto recording = Recording::open(path);
  if (!recording || recording->damage().any()) std::abort();
  std::vector<uint8_t> bytes;
  for (const ChunkRef& chunk : recording->chunks())
    if (!recording->read_chunk(chunk, bytes)) std::abort();
  ::unlink(path.c_str());
}

}  // namespace penna
