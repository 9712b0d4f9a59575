// SPDX-License-Identifier: MIT
// See ctf_writer.h. A signature is the event's name and, for each field, a kind character, its type and its name, each
// terminated by a zero: it identifies the event class, and the class's declaration is made from it.
#include "export/timeline/ctf_writer.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <set>

#include "base/check.h"
#include "penna/event.h"

namespace penna {
namespace {

constexpr size_t kPacketBytes = 256 << 10;  // roughly: a packet ends with the event that exceeds it
// In the packet header (CTF 1.8); readers detect the byte order by it.
constexpr uint32_t kMagic = 0xc1fc1fc1;

// The constant part of every trace's metadata.
constexpr std::string_view kTypes = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 8; align = 8; signed = true; } := int8_t;
typealias integer { size = 16; align = 8; signed = true; } := int16_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;
typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := real32_t;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real64_t;
typealias enum : uint8_t { "false" = 0, "true" = 1 } := truth_t;
)";

// Everything is byte-aligned, so there is no padding to account for: a packet is the sum of its parts.
constexpr std::string_view kStream = R"(stream {
  id = 0;
  packet.context := struct {
    time_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;
    uint64_t events_discarded;
  };
  event.header := struct { uint32_t id; time_t timestamp; };
  event.context := struct { uint32_t pid; uint32_t tid; };
};
)";

// An identifier: letters, digits and '_', with an extra leading '_', which readers remove: so no word is reserved.
std::string identifier(std::string_view name) {
  std::string result = "_";
  for (char c : name) result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return result.size() == 1 ? "_unnamed" : result;
}

// A string literal: characters that might end or escape it are replaced.
std::string literal(std::string_view text) {
  std::string result = "\"";
  for (char c : text) result += c >= 0x20 && c < 0x7f && c != '"' && c != '\\' ? c : '?';
  return result + '"';
}

std::string_view element_type_name(uint8_t type, uint8_t bytes) {
  static constexpr std::string_view kSigned[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
  static constexpr std::string_view kUnsigned[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  // Sizes come from a recording: other ones have no type here.
  const int log = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
  if (log < 0) return "";
  switch (type) {
    case PENNA_ARG_INT: return kSigned[log];
    case PENNA_ARG_UINT: return kUnsigned[log];
    case PENNA_ARG_CHAR: return log == 0 ? "uint8_t" : "";
    case PENNA_ARG_BOOL: return log == 0 ? "truth_t" : "";
    case PENNA_ARG_FLOAT: return log == 2 ? "real32_t" : log == 3 ? "real64_t" : "";
    case PENNA_ARG_POINTER: return log == 3 ? "address_t" : "";
    default: return "";
  }
}

std::string_view next_word(std::string_view& signature) {
  const std::string_view word = signature.substr(0, signature.find('\0'));
  signature.remove_prefix(word.size() + 1);
  return word;
}

// A name that no field of the class uses yet, nor, for an array, its two companions.
std::string unused(const std::string& plain, bool is_array, std::set<std::string>& used) {
  std::string name = plain;
  const auto is_free = [&] {
    return used.count(name) == 0 && (!is_array || used.count(name + "_cut") + used.count(name + "_length") == 0);
  };
  for (int number = 2; !is_free(); ++number) name = fmt::format("{}_{}", plain, number);
  used.insert(name);
  if (is_array) used.insert({name + "_cut", name + "_length"});
  return name;
}

// Signatures are split at zeros.
void append_without_zeros(std::string& to, std::string_view text) {
  for (char c : text) to += c == '\0' ? '?' : c;
}

std::string declaration(std::string_view type, bool is_array, const std::string& name) {
  if (!is_array) return fmt::format("    {} {};\n", type, name);
  return fmt::format("    truth_t {0}_cut; uint32_t {0}_length; {1} {0}[{0}_length];\n", name, type);
}

}  // namespace

template <typename T>
void CtfWriter::put(T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  payload_.append(bytes, sizeof bytes);
}

void CtfWriter::field(std::string_view name, std::string_view type, bool is_array) {
  signature_ += is_array ? '*' : ' ';
  (signature_ += type) += '\0';
  append_without_zeros(signature_, name);
  signature_ += '\0';
}

void CtfWriter::begin(uint64_t timestamp, uint32_t pid, uint32_t tid) {
  PENNA_CHECK(timestamp >= timestamp_);
  timestamp_ = timestamp;
  pid_ = pid;
  tid_ = tid;
  payload_.clear();
  signature_.clear();
}

// One per field type; the names are those declared in the metadata.
void CtfWriter::number(std::string_view name, int64_t value) {
  field(name, "int64_t");
  put(value);
}
void CtfWriter::number(std::string_view name, uint64_t value) {
  field(name, "uint64_t");
  put(value);
}
void CtfWriter::address(std::string_view name, uint64_t value) {
  field(name, "address_t");
  put(value);
}
void CtfWriter::real(std::string_view name, double value) {
  field(name, "real64_t");
  put(value);
}
void CtfWriter::truth(std::string_view name, bool value) {
  field(name, "truth_t");
  put(uint8_t{value});
}
void CtfWriter::byte(std::string_view name, uint8_t value) {
  field(name, "uint8_t");
  put(value);
}

void CtfWriter::text(std::string_view name, std::string_view value) {
  field(name, "string");
  for (size_t at = 0; at < value.size();) {
    const size_t zero = std::min(value.find('\0', at), value.size());
    payload_ += value.substr(at, zero - at);
    if (zero < value.size()) payload_ += "\\0";
    at = zero + 1;
  }
  payload_ += '\0';
}

bool CtfWriter::array(std::string_view name, uint8_t element_type, uint8_t element_bytes, std::string_view elements,
                      bool cut) {
  const std::string_view type = element_type_name(element_type, element_bytes);
  if (type.empty()) return false;
  field(name, type, true);
  put(uint8_t{cut});
  const size_t count = elements.size() / element_bytes;
  put(static_cast<uint32_t>(count));
  payload_ += elements.substr(0, count * element_bytes);
  return true;
}

bool CtfWriter::end(std::string_view name) {
  std::string signature;
  append_without_zeros(signature, name);
  (signature += '\0') += signature_;
  auto known = ids_.find(signature);
  if (known == ids_.end()) {
    known = ids_.emplace(signature, static_cast<uint32_t>(signatures_.size())).first;
    signatures_.push_back(std::move(signature));
  }
  if (packet_.empty()) packet_begin_ = timestamp_;
  packet_end_ = timestamp_;
  // As event.header and event.context are declared in kStream.
  const struct [[gnu::packed]] {
    uint32_t id;
    uint64_t timestamp;
    uint32_t pid, tid;
  } header{known->second, timestamp_, pid_, tid_};
  packet_.append(reinterpret_cast<const char*>(&header), sizeof header);
  packet_ += payload_;
  return packet_.size() < kPacketBytes || flush();
}

bool CtfWriter::flush() {
  // packet.header, as declared by metadata(), and packet.context of kStream. Sizes are in bits. events_discarded counts
  // from the beginning of the stream, not of the packet.
  struct [[gnu::packed]] {
    uint32_t magic = kMagic;
    uint8_t uuid[16];
    uint32_t stream = 0;
    uint64_t begin, end, content_bits, packet_bits, sequence, lost;
  } header;
  static_assert(sizeof header == 72);
  std::memcpy(header.uuid, trace_.uuid, sizeof header.uuid);
  header.begin = packet_begin_;
  header.end = packet_end_;
  header.content_bits = header.packet_bits = (sizeof header + packet_.size()) * 8;
  header.sequence = packets_++;
  header.lost = reported_ = lost_;
  const bool taken = stream_({reinterpret_cast<const char*>(&header), sizeof header}) && stream_(packet_);
  packet_.clear();
  return taken;
}

// An empty trace also has a packet: readers take an empty file for a broken one.
bool CtfWriter::finish() {
  if (packet_.empty() && packets_ != 0 && lost_ == reported_) return true;
  if (packet_.empty()) packet_begin_ = packet_end_ = timestamp_;
  return flush();
}

std::string CtfWriter::event_class(uint32_t id) const {
  std::string_view rest = signatures_[id];
  std::string text = fmt::format("event {{\n  name = {};\n  id = {};\n  stream_id = 0;\n  fields := struct {{\n",
                                 literal(next_word(rest)), id);
  // Argument names of a program may become the same identifier; a structure's members may not.
  std::set<std::string> used;
  while (!rest.empty()) {
    const bool is_array = rest.front() == '*';
    rest.remove_prefix(1);
    const std::string_view type = next_word(rest), name = next_word(rest);
    text += declaration(type, is_array, unused(identifier(name), is_array, used));
  }
  return text + "  };\n};\n";
}

std::string CtfWriter::metadata() const {
  std::string uuid;
  for (size_t i = 0; i < sizeof trace_.uuid; ++i)
    uuid += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", trace_.uuid[i]);
  std::string text(kTypes);
  text += fmt::format(
      "trace {{\n  major = 1;\n  minor = 8;\n  uuid = \"{}\";\n  byte_order = le;\n"
      "  packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }};\n}};\n",
      uuid);
  text += fmt::format("env {{\n  tracer_name = \"penna\";\n  hostname = {};\n", literal(trace_.host));
  for (const auto& [name, value] : trace_.numbers) text += fmt::format("  {} = {};\n", name, value);
  for (const auto& [name, value] : trace_.texts) text += fmt::format("  {} = {};\n", name, literal(value));
  text += fmt::format(
      "}};\nclock {{\n  name = monotonic;\n  description = \"CLOCK_MONOTONIC\";\n  freq = 1000000000;\n"
      "  offset_s = {};\n  offset = {};\n}};\n",
      trace_.clock_offset_ns / 1'000'000'000, trace_.clock_offset_ns % 1'000'000'000);
  text += "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;\n";
  text += kStream;
  for (uint32_t id = 0; id < signatures_.size(); ++id) text += event_class(id);
  return text;
}

}  // namespace penna
