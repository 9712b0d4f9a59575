// SPDX-License-Identifier: MIT
// See value_spec.h.
#include "symbols/dwarf/value_spec.h"

#include <fmt/core.h>

#include <optional>

#include "base/pattern.h"
#include "base/whole_number.h"
#include "penna/event.h"
#include "symbols/dwarf/value_places.h"

namespace penna {
namespace {

constexpr unsigned kLastArgument = kIntegerRegisters + 256;  // stack words have 8-bit numbers

// The number in a text made of `prefix` and digits; nullopt: it is something else.
std::optional<unsigned> numbered(std::string_view text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return whole_number<unsigned>(text.substr(prefix.size()));
}

Result<> read_place(std::string_view text, CapturedValue* value, bool* result) {
  *result = text == "retval";
  if (*result) {
    value->name = "return";
    value->where.place = PENNA_VALUE_INTEGER;
    return ok();
  }
  value->name = text;
  if (auto number = numbered(text, "arg"); number && *number >= 1 && *number <= kLastArgument) {
    const bool in_register = *number <= kIntegerRegisters;
    value->where.place = in_register ? PENNA_VALUE_INTEGER : PENNA_VALUE_STACK;
    value->where.number = static_cast<uint8_t>(in_register ? *number - 1 : *number - 1 - kIntegerRegisters);
    return ok();
  }
  if (auto number = numbered(text, "fparg"); number && *number >= 1 && *number <= kVectorRegisters) {
    value->where.place = PENNA_VALUE_VECTOR;
    value->where.number = static_cast<uint8_t>(*number - 1);
    return ok();
  }
  return Error{fmt::format("'{}' is not a value location: write arg1 to arg{}, fparg1 to fparg{} or retval", text,
                           kLastArgument, kVectorRegisters)};
}

Error wrong_format(std::string_view format, bool vector) {
  if (vector) return {fmt::format("'{}' is not a format of a floating-point register: write f32 or f64", format)};
  return {
      fmt::format("'{}' is not a format: write d, i, u or x with 8, 16, 32 or 64, or c, b, s, S, p (and f32, f64 of "
                  "fparg1 and retval)",
                  format)};
}

Result<> read_format(std::string_view text, bool result, CapturedValue* value) {
  penna_value& where = value->where;
  const bool vector = where.place == PENNA_VALUE_VECTOR;
  // Without a format: a signed 64-bit number, or a double.
  const char letter = text.empty() ? (vector ? 'f' : 'd') : text[0];
  unsigned bits = 64;
  const bool sized = text.size() > 1;
  if (sized) {
    auto stated = numbered(text, text.substr(0, 1));
    if (!stated) return wrong_format(text, vector);
    bits = *stated;
  }
  if (letter == 'f') {
    if (!vector && !result) return wrong_format(text, vector);
    if (bits != 32 && bits != 64) return wrong_format(text, true);
    // retval/f is in xmm0: the format determines the place.
    where.place = PENNA_VALUE_VECTOR;
    where.type = PENNA_ARG_FLOAT;
    where.bytes = static_cast<uint8_t>(bits / 8);
    return ok();
  }
  if (vector) return wrong_format(text, vector);
  where.bytes = static_cast<uint8_t>(bits / 8);
  const bool number = letter == 'd' || letter == 'i' || letter == 'u' || letter == 'x';
  if (number && bits != 8 && bits != 16 && bits != 32 && bits != 64) return wrong_format(text, vector);
  if (!number && sized) return wrong_format(text, vector);
  switch (letter) {
    case 'd':
    case 'i': where.type = PENNA_ARG_INT; return ok();
    case 'x': value->format = "x"; [[fallthrough]];
    case 'u': where.type = PENNA_ARG_UINT; return ok();
    case 'c':
    case 'b':
      where.type = letter == 'c' ? PENNA_ARG_CHAR : PENNA_ARG_BOOL;
      where.bytes = 1;
      return ok();
    case 'p':
      where.type = PENNA_ARG_POINTER;
      value->format = "p";
      return ok();
    case 's':
    case 'S':
      where.type = PENNA_ARG_STRING;
      where.bytes = 0;
      where.text = letter == 's' ? PENNA_VALUE_TO_ZERO : PENNA_VALUE_ADDRESS_FIRST;
      where.behind = letter == 'S';  // the register has the address of the std::string
      return ok();
    default: return wrong_format(text, vector);
  }
}

}  // namespace

Result<ValueSpec> parse_value_spec(std::string_view text) {
  ValueSpec spec;
  const size_t at = text.rfind('@');
  spec.function = text.substr(0, at);
  if (spec.function.empty()) return Error{fmt::format("'{}' names no function: write FUNC or FUNC@arg1/s,arg2", text)};
  PENNA_TRY(check_pattern(spec.function));
  spec.by_types = at == std::string_view::npos;
  if (spec.by_types) return spec;
  std::string_view rest = text.substr(at + 1);
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = rest.substr(0, comma);
    if (more) rest.remove_prefix(comma + 1);
    const size_t slash = part.find('/');
    CapturedValue value;
    bool result = false;
    PENNA_TRY(read_place(part.substr(0, slash), &value, &result));
    const std::string_view format = slash == std::string_view::npos ? std::string_view() : part.substr(slash + 1);
    if (slash != std::string_view::npos && format.empty()) return wrong_format(part, false);
    PENNA_TRY(read_format(format, result, &value));
    auto& values = result ? spec.results : spec.arguments;
    if (values.size() == PENNA_MAX_ARGS)
      return Error{
          fmt::format("too many values at '{}': at most {} of a function are recorded", part, +PENNA_MAX_ARGS)};
    values.push_back(value);
  }
  return spec;
}

}  // namespace penna
