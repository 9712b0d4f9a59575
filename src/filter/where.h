// SPDX-License-Identifier: MIT
// Where: a condition on the arguments of points, as users write it: rows > 100 && (table ~ "ord*" || !cached).
//
// Grammar, in the terms of the kernel's event filters: NAME, or NAME with one of == != < <= > >= and a number, true,
// false or a quoted text, or NAME ~ and a quoted glob; joined by && and ||, negated by !, grouped by ( ). NAME is an
// argument's name, or argN for the Nth, from 1. NAME by itself: not zero, not empty.
// Invariant: a condition is evaluated only for points that have all its arguments, in types that allow the comparison.
// The caller decides to keep what it does not apply to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recording/arguments.h"
#include "recording/types.h"

namespace penna {

class Where {
 public:
  // The error says what is wrong, and where.
  static Result<Where> parse(std::string_view text);

  // For points of one site: which of its arguments each name means.
  using Places = std::vector<uint8_t>;
  // Nothing if the condition does not apply to the site.
  std::optional<Places> places_in(const Site& site) const;
  const std::string& text() const { return text_; }
  std::vector<std::string> names() const;  // of the arguments it uses
  // `point` must be of the site that `places` comes from, and not malformed.
  bool holds(const Places& places, const DecodedPoint& point) const;

 private:
  friend class WhereParser;
  enum class Operation : uint8_t { kIsSet, kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kGlob };
  enum class Literal : uint8_t { kNone, kInteger, kReal, kText };
  // One comparison: an argument, an operation, and what it is compared with.
  struct Term {
    std::string name;
    Operation operation = Operation::kIsSet;
    Literal literal = Literal::kNone;
    __int128 integer = 0;  // any 64-bit value, signed or unsigned
    double real = 0;
    std::string text;
  };
  enum class Kind : uint8_t { kTerm, kNot, kAnd, kOr };
  struct Node {
    Kind kind = Kind::kTerm;
    uint32_t left = 0, right = 0;  // nodes; for kTerm `left` is a term
  };

  bool node_holds(uint32_t node, const Places& places, const DecodedPoint& point) const;
  static bool fits(const Term& term, uint8_t type);
  static bool term_holds(const Term& term, const ArgumentValue& value);

  std::string text_;  // as written
  std::vector<Term> terms_;
  std::vector<Node> nodes_;
  uint32_t root_ = 0;
};

}  // namespace penna
