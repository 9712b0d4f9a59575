// SPDX-License-Identifier: MIT
// ValueList: the values of a record, made from typed objects and the places where they are.
//
// Why: a reader wants the number, the text or the name behind a type; the target can only copy what a penna_value
// describes.
// Invariant: every penna_value in it is one that the target can execute (value_plan.h); others are not named, and the
// value before them is marked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symbols/dwarf/dwarf_types.h"
#include "symbols/dwarf/signature.h"
#include "symbols/dwarf/value_places.h"

namespace penna {

class ValueList {
 public:
  explicit ValueList(TypeReader* reader) : reader_(*reader) {}

  // Everything shown for one parameter or result: itself, or its fields, or what it points to.
  void add(const std::string& name, const DwarfType& type, const ValuePlace& place);
  // A parameter or result at this position is not shown.
  void leave_out();

  // Whether any parameter or result is missing; for fields, only the marks say so.
  bool anything_left_out() const { return left_out_; }
  std::vector<CapturedValue> release() { return std::move(values_); }

 private:
  // How a type is copied as one value.
  struct Scalar {
    uint8_t type = 0, text = 0, bytes = 0;
    std::string format;
  };
  std::optional<Scalar> scalar_of(const DwarfType& type);
  std::optional<Scalar> pointer_of(const DwarfType& type);
  void add_pointed(const std::string& name, const DwarfType& type, const ValuePlace& place);
  void add_fields(const std::string& name, const DwarfType& type, const ValuePlace& place);
  void gather_fields(const std::string& name, const DwarfType& type, const ValuePlace& place, uint64_t offset,
                     int depth);
  void mark_last();
  bool put(const std::string& name, const Scalar& scalar, const ValuePlace& place, uint64_t offset);

  TypeReader& reader_;
  std::vector<CapturedValue> values_;
  size_t fields_ = 0;  // of the current class
  bool field_left_out_ = false;
  bool left_out_ = false;
};

}  // namespace penna
