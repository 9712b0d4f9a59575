// SPDX-License-Identifier: MIT
// CsvWriter: comma-separated values as in RFC 4180, with \n as line end.
//
// Usage:  CsvWriter csv(sink); csv.field("name"); csv.field(12); csv.end_row(); csv.finish();
// Invariant: a reader that handles quotes gets the same text back, as printable() shows it: a row is a line, and
// contains nothing that a terminal obeys.
#pragma once

#include <cstdint>
#include <string_view>

#include "export/text/text_sink.h"

namespace penna {

class CsvWriter {
 public:
  explicit CsvWriter(TextSink sink) : out_(std::move(sink)) {}

  void field(std::string_view text);  // quoted if necessary
  void field(const char* text) { field(std::string_view(text)); }
  void field(int64_t number);
  void field(uint64_t number);
  void field(int number) { field(static_cast<int64_t>(number)); }
  void field(uint32_t number) { field(static_cast<uint64_t>(number)); }
  void field(double number);
  void empty() { separate(); }
  void address(uint64_t value);
  void end_row();

  bool ok() const { return out_.ok(); }
  bool finish() { return out_.flush(); }

 private:
  void separate();
  TextBuffer out_;
  bool in_row_ = false;
};

}  // namespace penna
