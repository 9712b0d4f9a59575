// SPDX-License-Identifier: MIT
// See where.h. A recursive descent parser.
#include "filter/where.h"

#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/pattern.h"
#include "penna/detail/regex.h"

namespace penna {

// Longest text in characters: this limits the recursion of parser and evaluation.
constexpr size_t kMaxText = 1000;

class WhereParser {
 public:
  explicit WhereParser(std::string_view text) : whole_(text), rest_(text) {}

  Result<Where> parse() {
    if (whole_.size() > kMaxText) return Error{fmt::format("a condition has at most {} characters", kMaxText)};
    where_.root_ = PENNA_TRY(disjunction());
    skip_blanks();
    if (!rest_.empty()) return wrong("here && or || is missing");
    return std::move(where_);
  }

 private:
  using Operation = Where::Operation;
  using Literal = Where::Literal;
  using Kind = Where::Kind;

  // The grammar of where.h, one function per level: || binds less tightly than &&, and ! most.
  Result<uint32_t> disjunction() { return chain("||", Kind::kOr, &WhereParser::conjunction); }
  Result<uint32_t> conjunction() { return chain("&&", Kind::kAnd, &WhereParser::factor); }

  // Left to right: node() numbers children before their parents.
  Result<uint32_t> chain(std::string_view sign, Kind kind, Result<uint32_t> (WhereParser::*part)()) {
    uint32_t left = PENNA_TRY((this->*part)());
    while (take(sign)) left = node(kind, left, PENNA_TRY((this->*part)()));
    return left;
  }

  Result<uint32_t> factor() {
    if (take("!")) return node(Kind::kNot, PENNA_TRY(factor()), 0);
    if (!take("(")) return comparison();
    const uint32_t inner = PENNA_TRY(disjunction());
    if (!take(")")) return wrong("here a ) is missing");
    return inner;
  }

  Result<uint32_t> comparison() {
    Where::Term term;
    term.name = name();
    if (term.name.empty()) return wrong("an argument name is expected here");
    // Longer operators first: "<=" begins with "<".
    static constexpr std::pair<std::string_view, Operation> kOperations[] = {
        {"==", Operation::kEqual},        {"!=", Operation::kNotEqual}, {"<=", Operation::kLessEqual},
        {">=", Operation::kGreaterEqual}, {"<", Operation::kLess},      {">", Operation::kGreater},
        {"~", Operation::kGlob}};
    for (const auto& [sign, operation] : kOperations) {
      if (!take(sign)) continue;
      term.operation = operation;
      PENNA_TRY(literal(term));
      break;
    }
    where_.terms_.push_back(std::move(term));
    return node(Kind::kTerm, static_cast<uint32_t>(where_.terms_.size() - 1), 0);
  }

  Result<> literal(Where::Term& term) {
    skip_blanks();
    if (!rest_.empty() && (rest_[0] == '"' || rest_[0] == '\'')) {
      PENNA_TRY(text(term));
    } else if (term.operation == Operation::kGlob) {
      return wrong("a quoted glob is expected after ~");
    } else {
      PENNA_TRY(number(term));
    }
    return ok();
  }

  Result<> text(Where::Term& term) {
    const char quote = rest_[0];
    size_t at = 1;
    for (; at < rest_.size() && rest_[at] != quote; ++at) {
      // In a glob the backslash belongs to the glob.
      if (rest_[at] == '\\' && at + 1 < rest_.size() && (rest_[at + 1] == quote || term.operation != Operation::kGlob))
        ++at;
      term.text += rest_[at];
    }
    if (at >= rest_.size()) return wrong("this text has no end");
    if (term.operation == Operation::kGlob) {
      if (const auto checked = check_pattern(term.text); !checked)
        return Error{fmt::format("the condition '{}' cannot be read: {}", whole_, checked.error().text)};
    }
    rest_.remove_prefix(at + 1);
    term.literal = Literal::kText;
    return ok();
  }

  // A 64-bit integer, signed or not; what does not fit, or has a point or exponent, is a double.
  Result<> number(Where::Term& term) {
    term.literal = Literal::kInteger;
    if (take("true")) {
      term.integer = 1;
      return end_of_word();
    }
    if (take("false")) return end_of_word();
    const bool negative = take("-");
    const bool hexadecimal = rest_.size() > 2 && rest_[0] == '0' && (rest_[1] | 0x20) == 'x';
    const char* begin = rest_.data() + (hexadecimal ? 2 : 0);
    const char* end = rest_.data() + rest_.size();
    uint64_t magnitude = 0;
    auto [behind, error] = std::from_chars(begin, end, magnitude, hexadecimal ? 16 : 10);
    term.integer = negative ? -static_cast<__int128>(magnitude) : static_cast<__int128>(magnitude);
    if (!hexadecimal && (error != std::errc() || (behind != end && (*behind == '.' || (*behind | 0x20) == 'e')))) {
      double real = 0;
      const auto read = std::from_chars(begin, end, real);
      behind = read.ptr;
      error = read.ec;
      term.real = negative ? -real : real;
      term.literal = Literal::kReal;
    }
    if (error != std::errc()) return wrong("a number or a quoted string is expected here");
    rest_.remove_prefix(static_cast<size_t>(behind - rest_.data()));
    return end_of_word();
  }

  // "1x" is not a number, nor "trueish" a boolean.
  Result<> end_of_word() const {
    if (!rest_.empty() && std::isalnum(static_cast<unsigned char>(rest_[0])) != 0)
      return wrong("a blank, && or || is missing");
    return ok();
  }

  // Letters, digits, '_', '.', and "->": nameless arguments are named by their expression.
  std::string name() {
    skip_blanks();
    size_t size = 0;
    while (size < rest_.size()) {
      const auto c = static_cast<unsigned char>(rest_[size]);
      if (rest_.substr(size, 2) == "->")
        size += 2;
      else if (std::isalpha(c) != 0 || c == '_' || (size != 0 && (std::isdigit(c) != 0 || c == '.')))
        ++size;
      else
        break;
    }
    const std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return taken;
  }

  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  bool take(std::string_view sign) {
    skip_blanks();
    if (rest_.substr(0, sign.size()) != sign) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }
  uint32_t node(Kind kind, uint32_t left, uint32_t right) {
    where_.nodes_.push_back({kind, left, right});
    return static_cast<uint32_t>(where_.nodes_.size() - 1);
  }
  // Shows how far the condition was understood.
  Error wrong(const char* what) const {
    return Error{fmt::format("the condition '{}' cannot be read: after '{}' {}", whole_,
                             whole_.substr(0, whole_.size() - rest_.size()), what)};
  }

  std::string_view whole_, rest_;
  Where where_;
};

Result<Where> Where::parse(std::string_view text) {
  Where where = PENNA_TRY(WhereParser(text).parse());
  where.text_ = text;
  return where;
}

std::vector<std::string> Where::names() const {
  std::vector<std::string> names;
  for (const Term& term : terms_) names.push_back(term.name);
  return names;
}

// Whether an argument of this type can be compared this way. Numbers and texts are never converted into each other.
bool Where::fits(const Term& term, uint8_t type) {
  if (type == PENNA_ARG_STRING) return term.literal == Literal::kText || term.operation == Operation::kIsSet;
  if (type == PENNA_ARG_CHAR && term.literal == Literal::kText)
    return term.text.size() == 1 && term.operation != Operation::kGlob;
  return type != PENNA_ARG_ARRAY && term.literal != Literal::kText;
}

std::optional<Where::Places> Where::places_in(const Site& site) const {
  Places places;
  for (const Term& term : terms_) {
    size_t place = 0;
    while (place < site.arguments.size() && site.arguments[place].name != term.name &&
           fmt::format("arg{}", place + 1) != term.name)
      ++place;
    if (place == site.arguments.size() || !fits(term, site.arguments[place].type)) return std::nullopt;
    places.push_back(static_cast<uint8_t>(place));
  }
  return places;
}

bool Where::holds(const Places& places, const DecodedPoint& point) const {
  PENNA_CHECK(places.size() == terms_.size());
  return node_holds(root_, places, point);
}

// Recursive; the depth is bounded by the text, at most kMaxText. Evaluates from the left and short-circuits, as C does.
bool Where::node_holds(uint32_t number, const Places& places, const DecodedPoint& point) const {
  const Node& node = nodes_[number];
  switch (node.kind) {
    case Kind::kTerm: return term_holds(terms_[node.left], point.values[places[node.left]]);
    case Kind::kNot: return !node_holds(node.left, places, point);
    case Kind::kAnd: return node_holds(node.left, places, point) && node_holds(node.right, places, point);
    case Kind::kOr: return node_holds(node.left, places, point) || node_holds(node.right, places, point);
  }
  return false;
}

namespace {

// Compares like C operators: nothing is less than, equal to or greater than a NaN.
template <typename T, typename Operation>
bool compare(const T& value, Operation operation, const T& literal) {
  switch (operation) {
    case Operation::kEqual: return value == literal;
    case Operation::kNotEqual: return value != literal;
    case Operation::kLess: return value < literal;
    case Operation::kLessEqual: return value <= literal;
    case Operation::kGreater: return value > literal;
    case Operation::kGreaterEqual: return value >= literal;
    default: return false;
  }
}

}  // namespace

bool Where::term_holds(const Term& term, const ArgumentValue& value) {
  if (value.is_text()) {
    if (term.operation == Operation::kIsSet) return !value.text.empty();
    const std::string text(value.text);
    if (term.operation == Operation::kGlob) return penna_text_matches(term.text.c_str(), text.c_str()) != 0;
    return compare(text, term.operation, term.text);
  }
  if (value.type == PENNA_ARG_FLOAT) {
    if (term.operation == Operation::kIsSet) return value.as_float() != 0;
    const double literal = term.literal == Literal::kReal ? term.real : static_cast<double>(term.integer);
    return compare(value.as_float(), term.operation, literal);
  }
  if (value.type == PENNA_ARG_CHAR && term.literal == Literal::kText)
    return compare(static_cast<char>(value.bits), term.operation, term.text[0]);
  // Holds both int64 and uint64, so that -1 is not equal to 2^64 - 1.
  const __int128 number = value.type == PENNA_ARG_INT ? __int128{value.as_int()} : __int128{value.as_uint()};
  if (term.operation == Operation::kIsSet) return number != 0;
  if (term.literal == Literal::kReal)
    return compare(static_cast<long double>(number), term.operation, static_cast<long double>(term.real));
  return compare(number, term.operation, term.integer);
}

}  // namespace penna
