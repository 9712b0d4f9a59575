// SPDX-License-Identifier: MIT
// See compressed_sink.h.
#include "export/text/compressed_sink.h"

#include <zlib.h>
#include <zstd.h>

#include "base/check.h"

namespace penna {

// code() passes `text` on compressed; with `last` also what is still buffered.
struct CompressedSink::Coder {
  virtual ~Coder() = default;
  virtual bool code(std::string_view text, bool last, const TextSink& sink) = 0;
  char buffer[64 << 10];
};

namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest, with gzip's header

}  // namespace

struct Gzip : CompressedSink::Coder {
  Gzip() {
    // Fails only if out of memory, or if the arguments are wrong.
    PENNA_CHECK(::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~Gzip() override { ::deflateEnd(&stream); }
  bool code(std::string_view text, bool last, const TextSink& sink) override {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write there
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof buffer;
      ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      const size_t made = sizeof buffer - stream.avail_out;
      if (made != 0 && !sink({buffer, made})) return false;
      // There is room left only once zlib has consumed all of the text.
    } while (stream.avail_out == 0);
    return true;
  }
  z_stream stream{};
};

struct Zstd : CompressedSink::Coder {
  Zstd() : stream(ZSTD_createCCtx()) {
    PENNA_CHECK(stream != nullptr);
    // gzip always has a checksum; zstd readers should notice a truncated or damaged file, too.
    ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1);
  }
  ~Zstd() override { ZSTD_freeCCtx(stream); }
  bool code(std::string_view text, bool last, const TextSink& sink) override {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{buffer, sizeof buffer, 0};
      const size_t left = ZSTD_compressStream2(stream, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      PENNA_CHECK(!ZSTD_isError(left));
      if (out.pos != 0 && !sink({buffer, out.pos})) return false;
      if (last ? left == 0 : in.pos == in.size) return true;
    }
  }
  ZSTD_CCtx* stream;
};

Compression compression_of(const std::string& path) {
  const auto ends_with = [&](std::string_view end) {
    return path.size() >= end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
  };
  return ends_with(".gz") ? Compression::kGzip : ends_with(".zst") ? Compression::kZstd : Compression::kNone;
}

CompressedSink::CompressedSink(Compression compression, TextSink sink) : sink_(std::move(sink)) {
  if (compression == Compression::kGzip) coder_ = std::make_unique<Gzip>();
  if (compression == Compression::kZstd) coder_ = std::make_unique<Zstd>();
}
CompressedSink::~CompressedSink() = default;

bool CompressedSink::write(std::string_view text) {
  // zlib counts in 32 bits.
  for (constexpr size_t kPart = size_t{1} << 30; coder_ != nullptr && text.size() > kPart; text.remove_prefix(kPart))
    if (!coder_->code(text.substr(0, kPart), false, sink_)) return false;
  return coder_ == nullptr ? sink_(text) : coder_->code(text, false, sink_);
}

bool CompressedSink::finish() { return coder_ == nullptr || coder_->code({}, true, sink_); }

}  // namespace penna
