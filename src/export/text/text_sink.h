// SPDX-License-Identifier: MIT
// TextSink and TextBuffer: where exported text goes, in large pieces.
//
// Why: an export is as long as its recording; neither one string nor one call per line will do.
// Invariant: once the sink has returned false it is never called again, and ok() stays false.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

namespace penna {

// Takes the next piece of text. False: no more can be taken (the reader left, the disk is full), stop.
using TextSink = std::function<bool(std::string_view)>;

// Collects text and passes it on in pieces of about 64 KiB. Call flush() at the end; the destructor does not.
class TextBuffer {
 public:
  explicit TextBuffer(TextSink sink) : sink_(std::move(sink)) {}

  void text(std::string_view piece) {
    buffer_.append(piece.data(), piece.data() + piece.size());
    if (buffer_.size() >= kPiece) flush();
  }
  // Much faster than format(): most of an export is numbers.
  template <typename Integer>
  void integer(Integer value) {
    const fmt::format_int text(value);
    buffer_.append(text.data(), text.data() + text.size());
  }
  void character(char c) { buffer_.push_back(c); }
  template <typename... Args>
  void format(fmt::format_string<const Args&...> pattern, const Args&... args) {
    // Not format_to(): each file would compile all of fmt's writers again for it, which takes four seconds.
    buffer_.append(fmt::vformat(pattern, fmt::make_format_args(args...)));
  }
  bool flush() {
    if (ok_ && buffer_.size() != 0) ok_ = sink_({buffer_.data(), buffer_.size()});
    buffer_.clear();
    return ok_;
  }
  bool ok() const { return ok_; }

 private:
  static constexpr size_t kPiece = 64 << 10;
  TextSink sink_;
  fmt::memory_buffer buffer_;
  bool ok_ = true;
};

}  // namespace penna
