// SPDX-License-Identifier: MIT
// See json_writer.h.
#include "export/text/json_writer.h"

#include <cmath>

#include "base/check.h"
#include "base/printable.h"
#include "export/text/utf8.h"

namespace penna {
namespace {

// What a JSON string may contain unescaped (RFC 8259, section 7), except DEL and non-ASCII, which are checked one by
// one.
bool is_plain(char c) {
  return static_cast<uint8_t>(c) >= 0x20 && static_cast<uint8_t>(c) < 0x7f && c != '"' && c != '\\';
}

}  // namespace

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_elements_.empty()) return;
  if (has_elements_.back()) out_.character(',');
  has_elements_.back() = true;
}

void JsonWriter::open(char bracket) {
  separate();
  out_.character(bracket);
  has_elements_.push_back(false);
}

// PENNA_CHECK: an unbalanced writer is a bug in Penna, and would produce an unreadable file.
void JsonWriter::close(char bracket) {
  PENNA_CHECK(!has_elements_.empty() && !after_key_);
  has_elements_.pop_back();
  const char text[1] = {bracket};
  out_.text({text, 1});
}

void JsonWriter::key(std::string_view name) {
  separate();
  quoted(name);
  out_.character(':');
  after_key_ = true;
}

// Runs of plain characters are copied at once; most strings are a single run.
void JsonWriter::quoted(std::string_view text) {
  out_.character('"');
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_plain(text[end])) ++end;
    out_.text(text.substr(at, end - at));
    if ((at = end) == text.size()) break;
    const char c = text[at];
    const Utf8 character = decode_utf8(text, at);
    if (c == '"' || c == '\\') {
      out_.character('\\');
      out_.character(c);
    } else if (c == '\n') {
      out_.text("\\n");
    } else if (character.code == kNotUtf8) {
      out_.text(kNotUtf8Sign);
    } else if (is_control(character.code)) {
      out_.format("\\u{:04x}", character.code);
    } else {
      out_.text(text.substr(at, character.size));
    }
    at += character.size;
  }
  out_.character('"');
}

void JsonWriter::value(std::string_view text) {
  separate();
  quoted(text);
}

void JsonWriter::value(int64_t number) {
  separate();
  out_.integer(number);
}

void JsonWriter::value(uint64_t number) {
  separate();
  out_.integer(number);
}

void JsonWriter::value(double number) {
  // JSON has neither infinity nor NaN.
  if (!std::isfinite(number)) return null();
  separate();
  out_.format("{}", number);
}

void JsonWriter::value(bool truth) {
  separate();
  out_.text(truth ? "true" : "false");
}

void JsonWriter::null() {
  separate();
  out_.text("null");
}

// By hand: a double would lose digits of a time in nanoseconds.
void JsonWriter::thousandths(int64_t value) {
  separate();
  const uint64_t magnitude = value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  if (value < 0) out_.character('-');
  out_.integer(magnitude / 1000);
  const auto rest = static_cast<unsigned>(magnitude % 1000);
  for (char c : {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                 static_cast<char>('0' + rest % 10)})
    out_.character(c);
}

void JsonWriter::address(uint64_t value) {
  separate();
  out_.format("\"{:#x}\"", value);
}

void JsonWriter::new_line() {
  if (!has_elements_.empty() && has_elements_.back()) {
    out_.text(",\n");
    has_elements_.back() = false;  // the comma is written
  } else {
    out_.text("\n");
  }
}

bool JsonWriter::finish() {
  PENNA_CHECK(has_elements_.empty() && !after_key_);
  out_.character('\n');
  return out_.flush();
}

}  // namespace penna
