// SPDX-License-Identifier: MIT
// JsonWriter: writes JSON (RFC 8259) on the fly, without keeping it.
//
// Usage:  JsonWriter json(sink); json.begin_object(); json.key("a"); json.value(1); json.end_object(); json.finish();
// Invariant: whatever the strings hold, the text is valid UTF-8 and valid JSON once every begin has its end: control
// characters are escaped and bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/text/text_sink.h"

namespace penna {

class JsonWriter {
 public:
  explicit JsonWriter(TextSink sink) : out_(std::move(sink)) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(int64_t number);
  void value(uint64_t number);
  void value(int number) { value(static_cast<int64_t>(number)); }
  void value(uint32_t number) { value(static_cast<uint64_t>(number)); }
  void value(double number);  // null if not finite: JSON cannot express it
  void value(bool truth);
  void null();
  // A number with three decimals, from thousandths: 1234567 is 1234.567.
  void thousandths(int64_t value);
  // An address as a string, "0x7f0012": JSON numbers lose bits above 2^53 in most readers.
  void address(uint64_t value);
  void new_line();  // between elements, so that a long file has lines

  template <typename T>
  void field(std::string_view name, const T& v) {
    key(name);
    value(v);
  }

  void field_of_texts(std::string_view name, const std::vector<std::string>& texts) {
    key(name);
    begin_array();
    for (const std::string& text : texts) value(text);
    end_array();
  }

  bool ok() const { return out_.ok(); }
  bool finish();  // writes a line end, then flushes; false if the sink returned false

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();  // the comma before a value, if needed
  void quoted(std::string_view text);

  TextBuffer out_;
  std::vector<bool> has_elements_;  // of the open objects and arrays, outermost first
  bool after_key_ = false;
};

// One object as text. write(JsonWriter&): its fields.
template <typename Write>
std::string json_text(Write&& write) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { return text.append(piece), true; });
  json.begin_object();
  write(json);
  json.end_object();
  json.finish();
  return text;
}

}  // namespace penna
