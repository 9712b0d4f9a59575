// SPDX-License-Identifier: MIT
// See value_list.h.
#include "symbols/dwarf/value_list.h"

#include <dwarf.h>
#include <fmt/core.h>

#include <algorithm>

#include "penna/event.h"
#include "symbols/dwarf/enumerators.h"

namespace penna {
namespace {

constexpr size_t kMaxNameBytes = 120;

// The place of the object whose address is at `place`.
std::optional<ValuePlace> behind(const ValuePlace& place) {
  if (place.kind != ValuePlace::Kind::kRegisters && place.kind != ValuePlace::Kind::kStack) return std::nullopt;
  ValuePlace pointed;
  pointed.kind = ValuePlace::Kind::kBehind;
  pointed.words[0] = place.words[0];
  return pointed;
}

bool is_text(const DwarfType& pointed) {
  return pointed.kind == TypeKind::kChar || (pointed.kind == TypeKind::kSigned && pointed.name == "signed char");
}

}  // namespace

std::optional<ValueList::Scalar> ValueList::pointer_of(const DwarfType& type) {
  DwarfType to = reader_.target_of(type);
  // Signed and plain char are text by convention; uint8_t is bytes.
  if (type.kind == TypeKind::kPointer && is_text(to)) return Scalar{PENNA_ARG_STRING, PENNA_VALUE_TO_ZERO, 0, {}};
  const bool code = to.die.addr != nullptr && ::dwarf_tag(&to.die) == DW_TAG_subroutine_type;
  return Scalar{PENNA_ARG_POINTER, 0, 8, code ? "p" : ""};
}

std::optional<ValueList::Scalar> ValueList::scalar_of(const DwarfType& type) {
  const auto bytes = static_cast<uint8_t>(std::min<uint64_t>(type.bytes, 16));
  const bool loadable = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  switch (type.kind) {
    case TypeKind::kBool:
      if (bytes == 1) return Scalar{PENNA_ARG_BOOL, 0, 1, {}};
      break;
    case TypeKind::kChar:
      if (bytes == 1) return Scalar{PENNA_ARG_CHAR, 0, 1, {}};
      break;
    case TypeKind::kSigned:
    case TypeKind::kUnsigned: {
      const uint8_t as = type.kind == TypeKind::kSigned ? PENNA_ARG_INT : PENNA_ARG_UINT;
      if (loadable) return Scalar{as, 0, bytes, {}};
      // __int128: a target copies at most eight bytes, and the format says which.
      if (type.bytes == 16) return Scalar{as, 0, 8, "low"};
      break;
    }
    case TypeKind::kEnum:
      if (loadable) {
        const uint8_t as = type.is_signed ? PENNA_ARG_INT : PENNA_ARG_UINT;
        return Scalar{as, 0, bytes, enumerators_of(reader_, type)};
      }
      break;
    case TypeKind::kFloat:
      // long double: the 80 bits of the x87; the other six bytes are padding with arbitrary contents.
      if (type.bytes == 16) return Scalar{PENNA_ARG_FLOAT, 0, 10, {}};
      if (bytes == 4 || bytes == 8) return Scalar{PENNA_ARG_FLOAT, 0, bytes, {}};
      break;
    case TypeKind::kPointer:
    case TypeKind::kReference: return pointer_of(type);
    case TypeKind::kString:
    case TypeKind::kAddressView: return Scalar{PENNA_ARG_STRING, PENNA_VALUE_ADDRESS_FIRST, 0, {}};
    case TypeKind::kLengthView: return Scalar{PENNA_ARG_STRING, PENNA_VALUE_LENGTH_FIRST, 0, {}};
    case TypeKind::kSmartPointer: return Scalar{PENNA_ARG_POINTER, 0, 8, {}};
    default: break;
  }
  return std::nullopt;
}

void ValueList::leave_out() {
  left_out_ = true;
  mark_last();
}

void ValueList::mark_last() {
  if (values_.empty()) return;
  std::string& format = values_.back().format;
  if (format == "..." || (format.size() > 4 && format.compare(format.size() - 4, 4, " ...") == 0)) return;
  format += format.empty() ? "..." : " ...";
}

// False: the target cannot access it.
bool ValueList::put(const std::string& name, const Scalar& scalar, const ValuePlace& place, uint64_t offset) {
  if (values_.size() == PENNA_MAX_ARGS || offset > UINT16_MAX) return false;
  penna_value where{};
  where.type = scalar.type;
  where.text = scalar.text;
  where.bytes = scalar.bytes;
  where.offset = static_cast<uint16_t>(offset);
  ValueWord word = place.words[0];
  switch (place.kind) {
    case ValuePlace::Kind::kNothing:
    case ValuePlace::Kind::kLeftOut: return false;
    case ValuePlace::Kind::kBehind: where.behind = 1; break;
    case ValuePlace::Kind::kStack: break;
    case ValuePlace::Kind::kRegisters: {
      if (offset / 8 >= place.words.size()) return false;
      word = place.words[offset / 8];
      where.offset = static_cast<uint16_t>(offset % 8);
      const uint64_t bytes = scalar.type == PENNA_ARG_STRING ? 8 : scalar.bytes;
      // The target loads one register, or one place in memory: never parts of two registers.
      if (where.offset + bytes > 8) return false;
      // The second word of a text must be the next register.
      if (scalar.text == PENNA_VALUE_ADDRESS_FIRST || scalar.text == PENNA_VALUE_LENGTH_FIRST) {
        if (offset != 0 || place.words[1].place != word.place || place.words[1].number != word.number + 1) return false;
      }
      break;
    }
  }
  if (word.place == 0) return false;
  where.place = word.place;
  where.number = word.number;
  values_.push_back({name.substr(0, kMaxNameBytes), where, scalar.format});
  return true;
}

void ValueList::gather_fields(const std::string& name, const DwarfType& type, const ValuePlace& place, uint64_t offset,
                              int depth) {
  auto members = reader_.members(type);
  if (!members || depth > TypeReader::kMaxDepth) {
    field_left_out_ = true;
    return;
  }
  for (const DwarfMember& member : *members) {
    // Pointers to vtables; and empty bases, which share the address of something else.
    if (member.artificial || (member.base && member.type.bytes <= 1)) continue;
    if (field_left_out_ && fields_ == Signatures::kMaxFields) return;
    const bool inside = member.base || (member.name.empty() && member.type.kind == TypeKind::kClass);
    if (inside && !member.virtual_base && member.type.kind == TypeKind::kClass) {
      gather_fields(name, member.type, place, offset + member.offset, depth + 1);
      continue;
    }
    std::optional<Scalar> scalar;
    if (member.bits == 0 && !member.name.empty()) scalar = scalar_of(member.type);
    if (scalar && fields_ < Signatures::kMaxFields &&
        put(name + "." + std::string(member.name), *scalar, place, offset + member.offset)) {
      ++fields_;
    } else {
      field_left_out_ = true;
    }
  }
}

void ValueList::add_fields(const std::string& name, const DwarfType& type, const ValuePlace& place) {
  fields_ = 0;
  field_left_out_ = false;
  gather_fields(name, type, place, 0, 0);
  if (field_left_out_) mark_last();
}

// A pointer is shown itself, along with the fields of a class that it points to; a reference as what it refers to.
void ValueList::add_pointed(const std::string& name, const DwarfType& type, const ValuePlace& place) {
  const DwarfType to = reader_.target_of(type);
  const auto pointed = behind(place);
  auto scalar = scalar_of(to);
  if (type.kind == TypeKind::kReference && scalar && pointed) {
    if (!put(name, *scalar, *pointed, 0)) leave_out();
    return;
  }
  if (!put(name, *pointer_of(type), place, 0)) return leave_out();
  if (!pointed) return;
  const bool text =
      to.kind == TypeKind::kString || to.kind == TypeKind::kLengthView || to.kind == TypeKind::kAddressView;
  if (text) {
    if (!put("*" + name, *scalar, *pointed, 0)) leave_out();
  } else if (to.kind == TypeKind::kClass) {
    add_fields(name, to, *pointed);
  }
}

void ValueList::add(const std::string& name, const DwarfType& type, const ValuePlace& place) {
  if (place.kind == ValuePlace::Kind::kNothing) return;
  if (place.kind == ValuePlace::Kind::kLeftOut) return leave_out();
  if (type.kind == TypeKind::kPointer || type.kind == TypeKind::kReference) return add_pointed(name, type, place);
  if (type.kind == TypeKind::kClass) return add_fields(name, type, place);
  if (type.kind == TypeKind::kComplex && (type.bytes == 8 || type.bytes == 16)) {
    const Scalar part{PENNA_ARG_FLOAT, 0, static_cast<uint8_t>(type.bytes / 2), {}};
    if (!put(name + ".real", part, place, 0) || !put(name + ".imag", part, place, type.bytes / 2)) leave_out();
    return;
  }
  auto scalar = scalar_of(type);
  if (!scalar || !put(name, *scalar, place, 0)) leave_out();
}

}  // namespace penna
