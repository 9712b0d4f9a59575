// SPDX-License-Identifier: MIT
// See arguments.h.
#include "recording/arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/whole_number.h"

namespace penna {
namespace {

// penna_point: a word {length, flags}, then the bytes, padded to whole words.
void take_bytes(ByteCursor& in, ArgumentValue& value) {
  const uint32_t length = in.u32();
  const uint32_t flags = in.u32();
  const auto bytes = in.take(length);
  if (!in) return;
  in.take((8 - length % 8) % 8);
  value.present = in.ok();
  value.cut = (flags & PENNA_STRING_CUT) != 0;
  if (value.present) value.text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (!value.is_array()) return;
  value.element_type = flags >> PENNA_ELEMENT_TYPE_SHIFT & 15;
  if (value.element_type == PENNA_ARG_ARRAY || value.element_type == PENNA_ARG_STRING) value.element_type = 0;
  value.element_bytes = std::clamp<uint8_t>(flags >> PENNA_ELEMENT_BYTES_SHIFT & 15, 1, 8);
}

// The address that a penna_values entry could not be read at takes the place of the value.
void mark_bad(ArgumentValue& value) {
  value.bad = true;
  if (value.text.size() == sizeof value.bits) std::memcpy(&value.bits, value.text.data(), sizeof value.bits);
}

// One element as a value, widened to a word as the compiler would.
ArgumentValue element_at(const ArgumentValue& array, size_t index) {
  ArgumentValue value{.type = array.element_type, .present = true};
  const size_t bytes = array.element_bytes;
  std::memcpy(&value.bits, array.text.data() + index * bytes, bytes);
  const bool is_signed = value.type == PENNA_ARG_INT || value.type == PENNA_ARG_CHAR;
  if (is_signed && bytes > 0 && bytes < 8) {
    const auto shift = static_cast<unsigned>(64 - bytes * 8);
    value.bits = static_cast<uint64_t>(static_cast<int64_t>(value.bits << shift) >> shift);
  }
  if (value.type == PENNA_ARG_FLOAT && bytes == 4)
    value.bits = std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(value.bits))});
  return value;
}

std::string array_text(const ArgumentValue& array) {
  std::string text = "[";
  const size_t count = array.text.size() / std::max<size_t>(array.element_bytes, 1);
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + argument_text(element_at(array, i));
  return text + (array.cut ? count == 0 ? "...]" : ", ...]" : "]");
}

}  // namespace

double ArgumentValue::as_float() const { return std::bit_cast<double>(bits); }

double ArgumentValue::as_number() const {
  switch (type) {
    case PENNA_ARG_INT:
    case PENNA_ARG_CHAR: return static_cast<double>(as_int());
    case PENNA_ARG_FLOAT: return as_float();
    default: return static_cast<double>(bits);
  }
}

void decode_arguments(const Site* site, const Record& record, DecodedPoint& out) {
  static_assert(sizeof(penna_point) == sizeof(penna_values) &&
                offsetof(penna_values, site) == offsetof(penna_point, site));
  const auto payload = record.after<penna_point>();
  const uint16_t bad = record.kind == PENNA_KIND_VALUES ? record.as<penna_values>().bad : uint16_t{0};
  ByteCursor in(payload);
  out.values.clear();
  out.malformed = record.payload_bytes < sizeof(penna_point);
  const size_t count = site != nullptr ? site->arguments.size() : payload.size() / 8;
  for (size_t i = 0; i < count; ++i) {
    ArgumentValue& value = out.values.emplace_back();
    if (site != nullptr) value.type = site->arguments[i].type;
    if (value.is_text() || value.is_array()) {
      take_bytes(in, value);
    } else {
      value.bits = in.u64();
      value.present = in.ok();
    }
    if (i < PENNA_MAX_ARGS && (bad >> i & 1) != 0) mark_bad(value);
  }
  out.malformed |= !in.ok() || in.remaining() != 0;
}

std::string argument_text(const ArgumentValue& value) {
  if (!value.present) return "?";
  if (value.bad) return value.bits == 0 ? "NULL" : fmt::format("<bad {:#x}>", value.bits);
  switch (value.type) {
    case PENNA_ARG_INT: return fmt::format("{}", value.as_int());
    case PENNA_ARG_UINT: return fmt::format("{}", value.as_uint());
    case PENNA_ARG_FLOAT: return fmt::format("{}", value.as_float());
    case PENNA_ARG_STRING: return std::string(value.text) + (value.cut ? "..." : "");
    case PENNA_ARG_ARRAY: return array_text(value);
    case PENNA_ARG_BOOL: return value.bits != 0 ? "true" : "false";
    case PENNA_ARG_CHAR:
      if (value.bits >= 0x20 && value.bits < 0x7f) return fmt::format("'{}'", static_cast<char>(value.bits));
      return fmt::format("'\\x{:02x}'", value.bits & 0xff);
    default: return fmt::format("{:#x}", value.bits);
  }
}

namespace {

// "e:RED=0,GREEN=1": the name of a number, or the names of its bits; empty if there are none.
std::string enum_text(std::string_view names, int64_t number) {
  std::string bits;
  auto left = static_cast<uint64_t>(number);
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), one.size() + 1));
    const size_t equals = one.find('=');
    if (equals == one.npos) continue;
    const auto value = whole_number<int64_t>(one.substr(equals + 1));
    if (!value) continue;
    if (*value == number) return std::string(one.substr(0, equals));
    const auto bit = static_cast<uint64_t>(*value);
    if (!std::has_single_bit(bit) || (left & bit) == 0) continue;
    left &= ~bit;
    bits += (bits.empty() ? "" : "|") + std::string(one.substr(0, equals));
  }
  return left == 0 ? bits : "";
}

}  // namespace

std::string argument_text(const SiteArgument& described, const ArgumentValue& value) {
  const std::string& format = described.format;
  if (value.present && !value.bad && !format.empty() && !value.is_text() && value.type != PENNA_ARG_FLOAT) {
    if (format.starts_with("x")) return fmt::format("{:#x}", value.bits);
    if (format.starts_with("o")) return fmt::format("{:#o}", value.bits);
    if (format.starts_with("e:"))
      if (std::string text = enum_text(std::string_view(format).substr(2), value.as_int()); !text.empty()) return text;
  }
  return argument_text(value);
}

std::string site_name(const Site* site, uint32_t id) {
  return site != nullptr ? fmt::format("{}:{}", site->provider, site->name) : fmt::format("[unknown site {}]", id);
}

}  // namespace penna
