// SPDX-License-Identifier: MIT
// See value_places.h. "Step n" is a step of psABI 3.2.3, page 24 onwards.
#include "symbols/dwarf/value_places.h"

#include <dwarf.h>

#include <algorithm>

namespace penna {
namespace {

constexpr uint64_t kMostPassedBytes = 64;  // the most that registers can take

using Classes = std::array<PassClass, Passing::kMaxWords>;

// Step 4: the class of an eightbyte that two fields share.
PassClass merge(PassClass a, PassClass b) {
  if (a == b || b == PassClass::kNone) return a;
  if (a == PassClass::kNone) return b;
  if (a == PassClass::kMemory || b == PassClass::kMemory) return PassClass::kMemory;
  if (a == PassClass::kInteger || b == PassClass::kInteger) return PassClass::kInteger;
  auto is_x87 = [](PassClass one) {
    return one == PassClass::kX87 || one == PassClass::kX87Up || one == PassClass::kComplexX87;
  };
  return is_x87(a) || is_x87(b) ? PassClass::kMemory : PassClass::kSse;
}

// clang calls all of them "_BitInt", gcc 14 includes the width; both pass two-word ones like a class of two words.
bool is_bit_int(const DwarfType& type) {
  Dwarf_Die die = type.die;
  return text_of(&die, DW_AT_name).find("_BitInt") != std::string_view::npos;
}

class Classifier {
 public:
  explicit Classifier(TypeReader* reader) : reader_(*reader) {}

  // False: not fully known.
  bool add(const DwarfType& type, uint64_t offset, int depth);
  const Classes& classes() const { return classes_; }
  uint64_t align() const { return align_; }
  bool unaligned() const { return unaligned_; }
  bool flexible() const { return flexible_; }

 private:
  void put(uint64_t offset, PassClass value) {
    if (offset / 8 < classes_.size()) classes_[offset / 8] = merge(classes_[offset / 8], value);
  }
  // A scalar; one that is not at a multiple of its alignment puts the whole class into memory (step 1).
  void put_scalar(uint64_t offset, uint64_t bytes, uint64_t align, PassClass first, PassClass then) {
    align_ = std::max(align_, align);
    if (align != 0 && offset % align != 0) unaligned_ = true;
    for (uint64_t at = 0; at < bytes; at += 8) put(offset + at, at == 0 ? first : then);
  }
  bool add_members(const DwarfType& type, uint64_t offset, int depth);
  bool add_elements(const DwarfType& type, uint64_t offset, int depth);

  TypeReader& reader_;
  Classes classes_{};
  uint64_t align_ = 1;
  bool unaligned_ = false;
  bool flexible_ = false;
};

bool Classifier::add(const DwarfType& type, uint64_t offset, int depth) {
  if (depth > TypeReader::kMaxDepth || !reader_.spend()) return false;
  const uint64_t bytes = type.bytes;
  switch (type.kind) {
    case TypeKind::kBool:
    case TypeKind::kChar:
    case TypeKind::kSigned:
    case TypeKind::kUnsigned:
    case TypeKind::kEnum:
    case TypeKind::kPointer:
    case TypeKind::kReference:
      if (bytes == 0 || bytes > 16) return false;  // a wider _BitInt
      // _BitInt is aligned to no more than a word, whatever its width; __int128 to 16 bytes.
      put_scalar(offset, bytes, bytes > 8 && is_bit_int(type) ? 8 : bytes, PassClass::kInteger, PassClass::kInteger);
      return true;
    case TypeKind::kMethodPointer:
    case TypeKind::kLengthView:
    case TypeKind::kAddressView: put_scalar(offset, 16, 8, PassClass::kInteger, PassClass::kInteger); return true;
    case TypeKind::kFloat:
      // long double: passed in memory, and returned in st0.
      if (bytes == 16)
        put_scalar(offset, 16, 16, PassClass::kX87, PassClass::kX87Up);
      else if (bytes == 2 || bytes == 4 || bytes == 8)
        put_scalar(offset, bytes, bytes, PassClass::kSse, PassClass::kSse);
      else
        return false;
      return true;
    case TypeKind::kQuad:
    case TypeKind::kDecimal:
    case TypeKind::kVector:
      if (bytes == 0 || bytes > kMostPassedBytes || (bytes & (bytes - 1)) != 0) return false;
      put_scalar(offset, bytes, bytes, PassClass::kSse, PassClass::kSseUp);
      return true;
    case TypeKind::kComplex:
      if (bytes == 32)
        put_scalar(offset, 32, 16, PassClass::kComplexX87, PassClass::kComplexX87);
      else if (bytes == 4 || bytes == 8 || bytes == 16)
        put_scalar(offset, bytes, bytes / 2, PassClass::kSse, PassClass::kSse);
      else
        return false;
      return true;
    case TypeKind::kArray: return add_elements(type, offset, depth);
    case TypeKind::kClass:
    case TypeKind::kUnion: return add_members(type, offset, depth);
    case TypeKind::kString:  // passed by reference, and so is a class that has one
    case TypeKind::kSmartPointer:
    case TypeKind::kUnknown:
    case TypeKind::kVoid: break;
  }
  return false;
}

bool Classifier::add_elements(const DwarfType& type, uint64_t offset, int depth) {
  const DwarfType element = reader_.target_of(type);
  const auto count = reader_.elements(type);
  if (element.kind == TypeKind::kUnknown) return false;
  if (!count) flexible_ = true;
  if (element.bytes == 0 || !count) return true;
  // Anything beyond is in memory by its size; only its alignment still matters, and the first elements tell that.
  for (uint64_t i = 0; i < std::min(*count, kMostPassedBytes); ++i) {
    if (!add(element, offset + i * element.bytes, depth + 1)) return false;
  }
  return true;
}

bool Classifier::add_members(const DwarfType& type, uint64_t offset, int depth) {
  auto members = reader_.members(type);
  if (!members) return false;
  // An empty class has one byte, in C none. A larger one has members, listed or not (gcc omits those of transparent
  // unions, as in glibc's accept).
  if (members->empty() && type.bytes > 1) return false;
  Dwarf_Die die = type.die;
  align_ = std::max(align_, std::min<uint64_t>(number_of(&die, DW_AT_alignment).value_or(1), 4096));
  for (const DwarfMember& member : *members) {
    if (member.virtual_base) return false;
    if (member.bits != 0) {
      for (uint64_t bit = member.first_bit & ~uint64_t{7}; bit < member.first_bit + member.bits; bit += 8) {
        put(offset + bit / 8, PassClass::kInteger);
      }
      // A bit-field aligns its class like its declared type.
      align_ = std::max(align_, std::min<uint64_t>(member.type.bytes, 16));
    } else if (!add(member.type, offset + member.offset, depth + 1)) {
      return false;
    }
  }
  return true;
}

// Step 5, the clean-up after merging.
bool belongs_in_memory(const Classes& classes, size_t words) {
  for (size_t i = 0; i < words; ++i) {
    if (classes[i] == PassClass::kMemory) return true;
    if (classes[i] == PassClass::kX87Up && (i == 0 || classes[i - 1] != PassClass::kX87)) return true;
  }
  if (words <= 2) return false;
  if (classes[0] == PassClass::kComplexX87) return false;
  if (classes[0] != PassClass::kSse) return true;
  return std::any_of(classes.begin() + 1, classes.begin() + static_cast<ptrdiff_t>(words),
                     [](PassClass one) { return one != PassClass::kSseUp; });
}

}  // namespace

std::optional<Passing> classify(TypeReader* reader, const DwarfType& type, const AbiVariant& variant) {
  Passing passing;
  passing.bytes = type.bytes;
  if (type.kind == TypeKind::kArray) return std::nullopt;  // a pointer, when a parameter
  auto by_reference = reader->by_reference(type);
  if (!by_reference) return std::nullopt;
  if (*by_reference) {
    passing.by_reference = true;
    return passing;
  }
  Classifier classifier(reader);
  if (!classifier.add(type, 0, 0)) return std::nullopt;
  passing.classes = classifier.classes();
  // A packed class is aligned less strictly than its members, which shows in its size.
  const uint64_t align = classifier.align();
  if (!classifier.unaligned() && align > 8 && type.bytes % align == 0) passing.align = align;
  const size_t words = static_cast<size_t>((std::min(type.bytes, kMostPassedBytes + 8) + 7) / 8);
  passing.words = std::min(words, Passing::kMaxWords);
  passing.memory = words > Passing::kMaxWords || classifier.unaligned() ||
                   (variant.flexible_in_memory && classifier.flexible()) || belongs_in_memory(passing.classes, words);
  if (!passing.memory) {
    for (size_t i = 0; i < words; ++i) {
      if (passing.classes[i] == PassClass::kSseUp &&
          (i == 0 || (passing.classes[i - 1] != PassClass::kSse && passing.classes[i - 1] != PassClass::kSseUp))) {
        passing.classes[i] = PassClass::kSse;
      }
    }
    passing.x87 = passing.classes[0] == PassClass::kX87 || passing.classes[0] == PassClass::kComplexX87;
    passing.memory = passing.x87;  // as an argument
  }
  const bool integer = type.kind == TypeKind::kSigned || type.kind == TypeKind::kUnsigned;
  const bool int128 = integer && passing.words == 2 && !is_bit_int(type);
  passing.split = variant.split_int128 && int128;
  passing.takes_last = variant.int128_takes_last && int128;
  const bool empty = std::all_of(passing.classes.begin(), passing.classes.end(),
                                 [](PassClass one) { return one == PassClass::kNone; });
  if (empty && !passing.memory) passing.words = 0;
  return passing;
}

ValuePlace ArgumentPlaces::on_stack(const Passing& passing) {
  ValuePlace place;
  // "Memory" arguments are aligned to 8 bytes, or as their type requires (3.2.3, Passing).
  stack_ = (stack_ + passing.align - 1) / passing.align * passing.align;
  const uint64_t word = stack_ / 8;
  stack_ += (std::min(passing.bytes, uint64_t{1} << 32) + 7) / 8 * 8;
  // The target identifies a stack word by 8 bits.
  place.kind = word > UINT8_MAX ? ValuePlace::Kind::kLeftOut : ValuePlace::Kind::kStack;
  place.words[0] = {PENNA_VALUE_STACK, static_cast<uint8_t>(word)};
  return place;
}

ValuePlace ArgumentPlaces::next(const Passing& passing) {
  ValuePlace place;
  Passing word;
  word.bytes = 8;
  word.words = 1;
  word.classes[0] = PassClass::kInteger;
  if (passing.split) {
    place = next(word);
    for (size_t i = 1; i < passing.words; ++i) next(word);
    return place;
  }
  if (passing.by_reference) {
    place = next(word);
    if (place.kind != ValuePlace::Kind::kLeftOut) place.kind = ValuePlace::Kind::kBehind;
    return place;
  }
  if (passing.memory) return on_stack(passing);
  uint64_t integers = 0, vectors = 0;
  for (size_t i = 0; i < passing.words; ++i) {
    if (passing.classes[i] == PassClass::kInteger) ++integers;
    if (passing.classes[i] == PassClass::kSse) ++vectors;
  }
  if (integers == 0 && vectors == 0) return place;
  // All of it, or none: otherwise the registers stay free for the next one.
  if (integers_ + integers > kIntegerRegisters || vectors_ + vectors > kVectorRegisters) {
    if (passing.takes_last) integers_ = kIntegerRegisters;
    return on_stack(passing);
  }
  place.kind = ValuePlace::Kind::kRegisters;
  for (size_t i = 0; i < std::min(passing.words, place.words.size()); ++i) {
    if (passing.classes[i] == PassClass::kInteger) {
      place.words[i] = {PENNA_VALUE_INTEGER, static_cast<uint8_t>(integers_++)};
    } else if (passing.classes[i] == PassClass::kSse) {
      place.words[i] = {PENNA_VALUE_VECTOR, static_cast<uint8_t>(vectors_++)};
    }
  }
  return place;
}

ValuePlace result_place(const Passing& passing) {
  ValuePlace place;
  if (result_takes_pointer(passing)) {
    place.kind = ValuePlace::Kind::kBehind;  // rax has the hidden pointer
    place.words[0] = {PENNA_VALUE_INTEGER, 0};
    return place;
  }
  if (passing.x87) {
    place.kind = ValuePlace::Kind::kLeftOut;
    return place;
  }
  return ArgumentPlaces().next(passing);  // rax, rdx and xmm0, xmm1 are numbered like the first arguments
}

}  // namespace penna
