// SPDX-License-Identifier: MIT
// CompressedSink: a TextSink that passes its text on compressed, as gzip (RFC 1952) or as a zstd frame (RFC 8878).
//
// Usage:  CompressedSink packed(compression_of(path), sink); write(packed.sink()); packed.finish();
// Invariant: after finish() returned true the underlying sink has one complete compressed stream.
#pragma once

#include <memory>
#include <string>

#include "export/text/text_sink.h"

namespace penna {

enum class Compression { kNone, kGzip, kZstd };
Compression compression_of(const std::string& path);  // ".gz", ".zst", anything else

class CompressedSink {
 public:
  // It must not outlive what `sink` writes to.
  CompressedSink(Compression compression, TextSink sink);
  ~CompressedSink();
  TextSink sink() {
    return [this](std::string_view text) { return write(text); };
  }
  // Without it the stream is truncated. False if the sink returned false.
  bool finish();

  struct Coder;  // of one compression

 private:
  bool write(std::string_view text);
  TextSink sink_;
  std::unique_ptr<Coder> coder_;  // null: kNone
};

}  // namespace penna
