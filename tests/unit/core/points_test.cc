// SPDX-License-Identifier: MIT
// Points from the macro to the record, in C and C++: types, names, values, strings, and what an armed site must not
// change.
#include "penna/clock.h"
#include "penna/detail/glob.h"
#include "penna/point.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/fake_agent.h"
#include "core/points_in_c.h"

namespace {

using fake::Event;
using fake::Value;

class Points : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { fake::start(); }
  void SetUp() override { fake::rewind(); }

  // The only event since the test began, which must be of this site.
  static Event only(const char* provider, const char* name) {
    auto events = fake::events();
    const fake::Site* site = fake::site(provider, name);
    EXPECT_NE(site, nullptr) << name;
    EXPECT_EQ(events.size(), 1u) << name;
    if (site == nullptr || events.size() != 1) return {};
    EXPECT_EQ(events[0].site, site->info.site) << name;
    return events[0];
  }
  static std::vector<uint64_t> words(const Event& event) {
    std::vector<uint64_t> all;
    for (const Value& value : event.values) all.push_back(value.word);
    return all;
  }
  static std::vector<int> types(const char* provider, const char* name) {
    const fake::Site* site = fake::site(provider, name);
    if (site == nullptr) return {};
    return std::vector<int>(site->info.arg_types, site->info.arg_types + site->info.arg_count);
  }
};

PENNA_SDT_DECLARE_SEMAPHORE(unit, lazy);
PENNA_SDT_DECLARE_SEMAPHORE(in_c, lazy);

uint64_t bits_of(double number) { return __builtin_bit_cast(uint64_t, number); }
template <class T>
uint64_t extended(T number) {
  return static_cast<uint64_t>(static_cast<int64_t>(number));
}

constexpr int I = PENNA_ARG_INT, U = PENNA_ARG_UINT, F = PENNA_ARG_FLOAT, P = PENNA_ARG_POINTER, S = PENNA_ARG_STRING,
              B = PENNA_ARG_BOOL, C = PENNA_ARG_CHAR, A = PENNA_ARG_ARRAY;

// The elements of an array's value, which must be of this type.
template <class T>
std::vector<T> elements(const Value& value, int type) {
  EXPECT_EQ(value.type, static_cast<uint32_t>(A));
  EXPECT_EQ(value.element_type, static_cast<uint32_t>(type));
  EXPECT_EQ(value.element_bytes, sizeof(T));
  EXPECT_EQ(value.text.size() % sizeof(T), 0u);
  std::vector<T> all(value.text.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), value.text.data(), all.size() * sizeof(T));
  return all;
}

// ---- C --------------------------------------------------------------------------------------------------------------

TEST_F(Points, c_without_arguments) {
  c_nothing();
  EXPECT_TRUE(only("in_c", "nothing").values.empty());
  const fake::Site* site = fake::site("in_c", "nothing");
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->info.line, static_cast<uint32_t>(c_line_of_nothing));
  EXPECT_TRUE(site->file.ends_with("points_in_c.c")) << site->file;
  EXPECT_NE(site->info.address, 0u);
}

TEST_F(Points, c_integers) {
  c_integers();
  EXPECT_EQ(types("in_c", "integers"), (std::vector<int>{I, U, I, U, I, U, I, U, I, U, I, B}));
  EXPECT_EQ(words(only("in_c", "integers")),
            (std::vector<uint64_t>{extended(SCHAR_MIN), UCHAR_MAX, extended(SHRT_MIN), USHRT_MAX, extended(INT_MIN),
                                   UINT_MAX, extended(LONG_MIN), ULONG_MAX, LLONG_MAX, 1, extended(-2), 1}));
  EXPECT_EQ(fake::site("in_c", "integers")->arguments,
            (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}));
}

TEST_F(Points, c_other_types) {
  int here;
  c_others("bytes", &here);
  auto found = types("in_c", "others");
  EXPECT_EQ(found, (std::vector<int>{C, F, F, F, P, A, I, P, found.back()}));
  auto event = only("in_c", "others");
  ASSERT_EQ(event.values.size(), 9u);
  EXPECT_EQ(event.values[0].word, uint64_t{'x'});
  EXPECT_EQ(event.values[1].word, bits_of(0.5));
  EXPECT_EQ(event.values[2].word, bits_of(-1.0 / 3));
  EXPECT_EQ(event.values[3].word, bits_of(1e30));
  EXPECT_EQ(event.values[4].word, reinterpret_cast<uint64_t>(&here));
  EXPECT_EQ(event.values[6].word, 0u);
  EXPECT_EQ(event.values[8].word, 7u);
  EXPECT_EQ(fake::site("in_c", "others")->arguments[6], "&c_twelve == 0");
}

TEST_F(Points, c_bit_fields) {
  c_bits();
  const auto event = only("in_c", "bits");
  EXPECT_EQ(words(event), (std::vector<uint64_t>{extended(-2), 21, uint64_t{1} << 39, extended(-5), 1, 7, 200, UINT_MAX,
                                                 extended(-9)}));
  const std::vector<int> found = types("in_c", "bits");
  EXPECT_EQ(found[0], I);
  EXPECT_EQ(found[2], U);
  EXPECT_EQ(found[3], I);
  EXPECT_EQ(found[4], B);
  EXPECT_EQ(found[7], U);
}

TEST_F(Points, c_bit_fields_of_lazy_points) {
  c_lazy_bits();
  EXPECT_EQ(words(only("in_c", "lazy_bits")), (std::vector<uint64_t>{extended(-2), uint64_t{1} << 39, UINT_MAX}));
}

TEST_F(Points, c_names_are_those_of_the_source) {
  c_names(5);
  EXPECT_EQ(words(only("in_c", "names"))[0], 7u);
  EXPECT_EQ(fake::site("in_c", "names")->arguments,
            (std::vector<std::string>{"c_seven", "c_product(a, 3)", "c_seven", "\"a, \\\")\\\"\"", "(char)','",
                                      "c_product((2), 3)"}));
}

TEST_F(Points, c_names_of_a_macro_with_commas_are_what_it_stands_for) {
  c_values();
  EXPECT_EQ(words(only("in_c", "values")), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(fake::site("in_c", "values")->arguments, (std::vector<std::string>{"1", "2"}));
}

TEST_F(Points, c_strings_between_numbers) {
  char writable[] = "can be written";
  c_strings("constant", writable);
  EXPECT_EQ(types("in_c", "strings"), (std::vector<int>{S, I, S, S, S}));
  auto event = only("in_c", "strings");
  ASSERT_EQ(event.values.size(), 5u);
  EXPECT_EQ(event.values[0].text, "constant");
  EXPECT_EQ(event.values[1].word, 42u);
  EXPECT_EQ(event.values[2].text, "can be written");
  EXPECT_EQ(event.values[3].text, "a literal");
  EXPECT_EQ(event.values[4].text, "eightchr");  // ends where the array ends
  EXPECT_FALSE(event.values[4].cut);
}

TEST_F(Points, c_arrays_of_scalars) {
  c_arrays();
  // Of structs and of arrays only the address is known in C.
  EXPECT_EQ(types("in_c", "arrays"), (std::vector<int>{A, A, A, A, P, P, I}));
  EXPECT_EQ(fake::site("in_c", "arrays")->arguments,
            (std::vector<std::string>{"shorts", "halves", "names", "bytes", "records", "table", "7"}));
  auto event = only("in_c", "arrays");
  ASSERT_EQ(event.values.size(), 7u);
  EXPECT_EQ(elements<int16_t>(event.values[0], I), (std::vector<int16_t>{-1, 2, -32768}));
  EXPECT_EQ(elements<double>(event.values[1], F), (std::vector<double>{0.5, -2}));
  EXPECT_EQ(elements<uint64_t>(event.values[2], P).size(), 2u);
  auto bytes = elements<uint8_t>(event.values[3], U);
  ASSERT_EQ(bytes.size(), 255u);
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], static_cast<uint8_t>(i));
  EXPECT_TRUE(event.values[3].cut);
  EXPECT_FALSE(event.values[0].cut);
  EXPECT_EQ(event.values[6].word, 7u);
}

TEST_F(Points, c_lazy_arguments) {
  int evaluated = 0;
  EXPECT_EQ(c_lazy(&evaluated, "heard"), 1);  // armed
  auto event = only("in_c", "lazy");
  ASSERT_EQ(event.values.size(), 3u);
  EXPECT_EQ(event.values[0].word, 1u);
  EXPECT_EQ(event.values[1].text, "heard");
  EXPECT_EQ(event.values[2].text, "eightchr");
  EXPECT_EQ(fake::site("in_c", "lazy")->arguments, (std::vector<std::string>{"++*evaluated", "what", "c_array"}));
}

// What happened since the test began: "loop(", ")loop", "in_loop" for the beginning and end of a span and an event.
std::string story() {
  std::string text;
  for (const Event& event : fake::events()) {
    const fake::Site* site = fake::site(event.site);
    EXPECT_NE(site, nullptr);
    if (site == nullptr) continue;
    const int kind = site->info.kind;
    text += (text.empty() ? "" : " ") + std::string(kind == PENNA_SITE_SPAN_END ? ")" : "") + site->name +
            (kind == PENNA_SITE_SPAN ? "(" : "");
  }
  return text;
}

TEST_F(Points, c_spans_end_however_they_are_left) {
  EXPECT_EQ(c_spans(0), 0);
  EXPECT_EQ(story(), "before_spans outer( loop( in_loop )loop loop( in_loop )loop loop( in_loop )loop )outer");
  EXPECT_EQ(fake::events()[1].values[0].word, 0u);
  EXPECT_EQ(fake::events()[1].values[1].text, "text");
  for (int way : {1, 2, 3}) {
    fake::rewind();
    EXPECT_EQ(c_spans(way), way == 2 ? -1 : way);
    EXPECT_EQ(story(), "before_spans outer( loop( in_loop )loop loop( )loop )outer") << way;
  }
}

TEST_F(Points, c_twelve_arguments) {
  c_twelve(100);
  auto found = words(only("in_c", "twelve"));
  ASSERT_EQ(found.size(), 12u);
  for (uint64_t i = 0; i < 12; ++i) EXPECT_EQ(found[i], 100 + i);
}

TEST_F(Points, c_evaluates_once) {
  EXPECT_EQ(c_evaluations(), 1);
  EXPECT_EQ(words(only("in_c", "evaluations")), (std::vector<uint64_t>{1}));
}

// ---- C++ ------------------------------------------------------------------------------------------------------------

enum class Small : int8_t { kLow = -5 };
enum class Large : uint64_t { kHigh = UINT64_MAX };
struct Bits {
  unsigned field : 5;
  int sign : 3;
};

TEST_F(Points, numbers) {
  Bits bits{21, -3};
  wchar_t wide = L'w';
  PENNA_EVENT(unit, numbers, Small::kLow, Large::kHigh, bits.field, bits.sign, wide, 'c', true, 1.5f, -2.25, nullptr,
              static_cast<signed char>(-1), uint16_t{65535});
  EXPECT_EQ(types("unit", "numbers"), (std::vector<int>{I, U, U, I, I, C, B, F, F, P, I, U}));
  EXPECT_EQ(words(only("unit", "numbers")),
            (std::vector<uint64_t>{extended(-5), UINT64_MAX, 21, extended(-3), 'w', 'c', 1, bits_of(1.5),
                                   bits_of(-2.25), 0, extended(-1), 65535}));
}

#define SEVEN 7
TEST_F(Points, names_are_those_of_the_source) {
  const Bits bits{21, -3};
  PENNA_EVENT(unit, names, SEVEN, (std::pair<int, int>(1, 2).first), PENNA_ARG(seven, SEVEN), bits.field);
  EXPECT_EQ(fake::site("unit", "names")->arguments,
            (std::vector<std::string>{"SEVEN", "(std::pair<int, int>(1, 2).first)", "seven", "bits.field"}));
  EXPECT_EQ(words(only("unit", "names")), (std::vector<uint64_t>{7, 1, 7, 21}));
}

struct View {  // the least that looks like a string
  const char* data() const { return at; }
  int size() const { return bytes; }
  const char* at;
  int bytes;
};

TEST_F(Points, strings) {
  std::string owned = "std::string";
  std::string_view view = std::string_view("a view of more").substr(0, 6);
  const std::string with_zero("a\0b", 3);
  PENNA_EVENT(unit, strings, owned, view, with_zero, owned + "!", "literal", (View{"abcdef", 3}), std::string());
  auto event = only("unit", "strings");
  std::vector<std::string> texts;
  for (const Value& value : event.values) texts.push_back(value.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"std::string", "a view", std::string("a\0b", 3), "std::string!", "literal",
                                             "abc", ""}));
}

enum class Colour : uint16_t { kRed = 7, kBlue };

TEST_F(Points, arrays) {
  const int numbers[] = {1, -2, 3};
  std::array<Colour, 2> colours = {Colour::kBlue, Colour::kRed};
  std::vector<float> many(100, 1.5f), none;
  bool flags[2][2] = {{true, false}, {false, true}};
  char unterminated[3] = {'a', 'b', 'c'};
  const void* pointers[] = {numbers, nullptr};
  PENNA_EVENT(unit, arrays, numbers, colours, many, none, flags, unterminated, pointers, 5);
  EXPECT_EQ(types("unit", "arrays"), (std::vector<int>{A, A, A, A, A, S, A, I}));
  auto event = only("unit", "arrays");
  ASSERT_EQ(event.values.size(), 8u);
  EXPECT_EQ(elements<int>(event.values[0], I), (std::vector<int>{1, -2, 3}));
  EXPECT_EQ(elements<uint16_t>(event.values[1], U), (std::vector<uint16_t>{8, 7}));
  EXPECT_EQ(elements<float>(event.values[2], F), std::vector<float>(63, 1.5f));  // 252 bytes: whole elements only
  EXPECT_TRUE(event.values[2].cut);
  EXPECT_TRUE(elements<float>(event.values[3], F).empty());
  EXPECT_FALSE(event.values[3].cut);
  EXPECT_EQ(elements<uint8_t>(event.values[4], B), (std::vector<uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(event.values[5].text, "abc");
  EXPECT_EQ(elements<uint64_t>(event.values[6], P), (std::vector<uint64_t>{reinterpret_cast<uint64_t>(&numbers), 0}));
  EXPECT_EQ(event.values[7].word, 5u);
}

}  // namespace

struct Order {
  int id;
  std::string customer;
  double price;
  Colour colour;
  int parts[2];
};
PENNA_STRUCT(Order, id, customer, price, colour, parts);

// By hand: what is not public, and what is computed.
class Account {
 public:
  explicit Account(int64_t cents) : cents_(cents) {}
  double euros() const { return static_cast<double>(cents_) / 100; }

 private:
  friend struct penna::Fields<Account>;
  int64_t cents_;
};
template <>
struct penna::Fields<Account> {
  static constexpr const char* kNames[] = {"cents", "euros"};
  template <class Visit>
  static auto visit(const Account& account, Visit to) {
    return to(account.cents_, account.euros());
  }
};

namespace {

TEST_F(Points, structs_are_taken_field_by_field) {
  Order order{17, "Ada", 9.5, Colour::kBlue, {3, 4}};
  Account account(1250);
  PENNA_EVENT(unit, structs, 1, order, PENNA_ARG(from, account), "end");
  EXPECT_EQ(types("unit", "structs"), (std::vector<int>{I, I, S, F, U, A, I, F, S}));
  EXPECT_EQ(fake::site("unit", "structs")->arguments,
            (std::vector<std::string>{"1", "order.id", "order.customer", "order.price", "order.colour", "order.parts",
                                      "from.cents", "from.euros", "\"end\""}));
  auto event = only("unit", "structs");
  ASSERT_EQ(event.values.size(), 9u);
  EXPECT_EQ(event.values[1].word, 17u);
  EXPECT_EQ(event.values[2].text, "Ada");
  EXPECT_EQ(event.values[3].word, bits_of(9.5));
  EXPECT_EQ(event.values[4].word, 8u);
  EXPECT_EQ(elements<int>(event.values[5], I), (std::vector<int>{3, 4}));
  EXPECT_EQ(event.values[6].word, 1250u);
  EXPECT_EQ(event.values[7].word, bits_of(12.5));
  EXPECT_EQ(event.values[8].text, "end");
}

TEST_F(Points, a_struct_of_words_needs_no_copy) {
  PENNA_EVENT(unit, words_only, (Account{-5}));
  EXPECT_EQ(words(only("unit", "words_only")), (std::vector<uint64_t>{extended(-5), bits_of(-5.0 / 100)}));
}

TEST_F(Points, arguments_have_the_names_that_they_are_given) {
  int n = 3;
  std::string text = "text";
  int numbers[2] = {1, 2};
  PENNA_EVENT(unit, named, PENNA_ARG(rows, n * 2), PENNA_ARG(table, text), PENNA_ARG(pair, numbers), n);
  EXPECT_EQ(fake::site("unit", "named")->arguments, (std::vector<std::string>{"rows", "table", "pair", "n"}));
  auto event = only("unit", "named");
  ASSERT_EQ(event.values.size(), 4u);
  EXPECT_EQ(event.values[0].word, 6u);
  EXPECT_EQ(event.values[1].text, "text");
  EXPECT_EQ(elements<int>(event.values[2], I), (std::vector<int>{1, 2}));
}

struct Counter {
  int count = 0;
  int next() { return ++count; }
  void pass() { PENNA_EVENT_LAZY(unit, lazy, next(), this->count, std::string("made only when heard")); }
};

TEST_F(Points, lazy_arguments_are_evaluated_once_when_armed) {
  Counter counter;
  counter.pass();
  auto event = only("unit", "lazy");
  ASSERT_EQ(event.values.size(), 3u);
  EXPECT_EQ(counter.count, 1);
  EXPECT_EQ(event.values[0].word, 1u);
  EXPECT_EQ(event.values[2].text, "made only when heard");
}

template <class T>
int spans(T value, int way) {
  PENNA_SPAN(unit, outer, value);
  auto inner = [&](auto part) {
    PENNA_SPAN(unit, inner, PENNA_ARG(part, part));
    if (way == 1) throw way;
    PENNA_EVENT(unit, in_inner);
  };
  try {
    for (int i = 0;; ++i) {
      PENNA_SPAN(unit, loop);
      if (way == 2) return i;
      if (i == 1) break;
      inner(i);
    }
  } catch (int) {
    PENNA_EVENT(unit, caught);
  }
  return -1;
}

TEST_F(Points, spans_end_however_they_are_left) {
  EXPECT_EQ(spans(1, 0), -1);
  EXPECT_EQ(story(), "outer( loop( inner( in_inner )inner )loop loop( )loop )outer");
  fake::rewind();
  EXPECT_EQ(spans(2.5, 1), -1);
  EXPECT_EQ(story(), "outer( loop( inner( )inner )loop caught )outer");
  EXPECT_EQ(fake::events()[0].values[0].word, bits_of(2.5));
  fake::rewind();
  EXPECT_EQ(spans("text", 2), 0);
  EXPECT_EQ(story(), "outer( loop( )loop )outer");
}

TEST_F(Points, strings_are_cut_at_255_and_say_so) {
  for (size_t length : {0u, 1u, 7u, 8u, 9u, 254u, 255u, 256u, 1000u}) {
    fake::rewind();
    std::string text(length, 'x');
    for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
    for (unsigned offset = 0; offset < 8 && offset <= length; ++offset) {  // any alignment
      fake::rewind();
      const char* at = text.c_str() + offset;
      std::string_view expected = std::string_view(at).substr(0, 255);
      PENNA_EVENT(unit, cut, at, std::string_view(at));
      auto event = only("unit", "cut");
      ASSERT_EQ(event.values.size(), 2u);
      for (const Value& value : event.values) {
        EXPECT_EQ(value.text, expected);
        EXPECT_EQ(value.cut, length - offset > 255) << length;
      }
    }
  }
}

// Behind the text lies memory that cannot be read, or bytes that are not part of it. \1 and \x80 are what a search for zero
// bytes, word by word, may take for one.
TEST_F(Points, a_string_may_end_where_memory_ends) {
  auto* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + 4096, 4096, PROT_NONE);
  for (size_t length = 0; length < 300; ++length) {
    for (size_t behind : {0u, 1u, 5u, 30u}) {
      fake::rewind();
      std::string text(length, 'm');
      for (size_t i = 0; i < length; i += 3) text[i] = "\1\x80\xff\x81z"[i % 5];
      char* at = pages + 4096 - behind - 1 - length;
      std::memset(at, 'n', length + 1 + behind);
      std::memcpy(at, text.c_str(), length + 1);
      PENNA_EVENT(unit, memory_end, at, std::string_view(at + 1, length));  // the view ends with a zero byte
      auto event = only("unit", "memory_end");
      ASSERT_EQ(event.values[0].text, text.substr(0, 255)) << behind;
      ASSERT_EQ(event.values[0].cut, length > 255);
      ASSERT_EQ(event.values[1].text, std::string_view(at + 1, std::min<size_t>(length, 255))) << behind;
    }
  }
  munmap(pages, 8192);
}

// An array of characters may have no zero byte at all.
TEST_F(Points, an_array_of_characters_ends_with_its_memory) {
  auto* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + 4096, 4096, PROT_NONE);
  std::memset(pages, 'm', 4096);
  const auto text_of = [&](auto* array) {
    fake::rewind();
    PENNA_EVENT(unit, array_end, *array);
    return only("unit", "array_end").values[0].text;
  };
  EXPECT_EQ(text_of(reinterpret_cast<char(*)[1]>(pages + 4095)), "m");
  EXPECT_EQ(text_of(reinterpret_cast<char(*)[13]>(pages + 4096 - 13)), std::string(13, 'm'));
  EXPECT_EQ(text_of(reinterpret_cast<char(*)[40]>(pages + 4096 - 40)), std::string(40, 'm'));
  EXPECT_EQ(text_of(reinterpret_cast<char(*)[67]>(pages + 4096 - 67)), std::string(67, 'm'));
  EXPECT_EQ(text_of(reinterpret_cast<char(*)[300]>(pages + 4096 - 300)), std::string(255, 'm'));
  pages[4096 - 5] = '\0';
  EXPECT_EQ(text_of(reinterpret_cast<char(*)[67]>(pages + 4096 - 67)), std::string(62, 'm'));
  munmap(pages, 8192);
}

TEST_F(Points, null_and_too_much_text) {
  const char* none = nullptr;
  std::string big(255, 'b');
  PENNA_EVENT(unit, full, none, big, big, big, big, big, big, big, big, big, 5, none);
  auto event = only("unit", "full");
  ASSERT_EQ(event.values.size(), 12u);
  EXPECT_EQ(event.values[0].text, "(null)");
  size_t whole = 0, cut = 0;
  for (int i = 1; i < 10; ++i) {
    bool is_whole = event.values[i].text == big;
    ++(is_whole ? whole : cut);
    EXPECT_NE(is_whole, event.values[i].cut) << i;  // whatever is missing, is said to be
  }
  EXPECT_GE(whole, 7u);
  EXPECT_GE(cut, 1u);
  EXPECT_EQ(event.values[10].word, 5u);
}

template <class T>
T in_template(T value) {
  PENNA_EVENT(unit, in_template, value);
  return value;
}

TEST_F(Points, each_instance_of_a_template_has_its_types) {
  in_template(7);
  in_template(1.5);
  in_template(static_cast<const char*>("text"));
  auto events = fake::events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].values[0].type, static_cast<uint32_t>(I));
  EXPECT_EQ(events[1].values[0].word, bits_of(1.5));
  EXPECT_EQ(events[2].values[0].text, "text");
  EXPECT_NE(events[0].site, events[1].site);
}

__attribute__((always_inline)) inline void inlined(int value) { PENNA_EVENT(unit, inlined, value); }

TEST_F(Points, copies_of_an_inlined_site_are_one_site) {
  inlined(1);
  inlined(2);
  auto many = [](int from) {
    for (int i = from; i < from + 3; ++i) inlined(i);
  };
  many(3);
  auto events = fake::events();
  ASSERT_EQ(events.size(), 5u);
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(events[i].site, events[0].site);
    EXPECT_EQ(events[i].values[0].word, i + 1);
  }
}

TEST_F(Points, everywhere_in_the_language) {
  std::string one = "constructed";
  for (int i = 0; i < 2; ++i)
    if (i == 0)
      PENNA_EVENT(unit, then_branch, i);
    else
      PENNA_EVENT(unit, else_branch, i);
  {
    std::string two = "between the points";
    auto lambda = [&](auto part) { PENNA_EVENT(unit, in_lambda, one, part, two.size()); };
    lambda(1);
    lambda('c');
  }
  switch (one.size()) {
    case 11: PENNA_EVENT(unit, in_switch, one); break;
    default: PENNA_EVENT(unit, not_reached);
  }
  EXPECT_EQ(fake::events().size(), 5u);
}

TEST_F(Points, times_grow_and_are_ours) {
  uint64_t before = penna_arch_ticks();
  for (int i = 0; i < 100; ++i) PENNA_EVENT(unit, timed, i);
  uint64_t after = penna_arch_ticks();
  for (const Event& event : fake::events()) {
    EXPECT_GE(event.time, before);
    EXPECT_LE(event.time, after);
    before = event.time;
  }
}

TEST_F(Points, what_does_not_fit_is_counted) {
  uint64_t lost = fake::lost();
  constexpr int kMany = 10'000;  // of 24 bytes: more than a chunk
  for (int i = 0; i < kMany; ++i) PENNA_EVENT(unit, flood, i);
  EXPECT_EQ(fake::events().size() + (fake::lost() - lost), static_cast<uint64_t>(kMany));
  EXPECT_GT(fake::lost(), lost);
}

// ---- What an armed site leaves alone --------------------------------------------------------------------------------

// A leaf function with values in the red zone and in vector registers across the point.
__attribute__((noinline)) double leaf(const double* in, const uint64_t* ints, long key) {
  double a = in[0] * 3, b = in[1] * 5, c = in[2] * 7, d = in[3] * 11;
  volatile uint64_t zone[12];
  for (int i = 0; i < 12; ++i) zone[i] = ints[i % 4] + static_cast<uint64_t>(i);
  uint64_t e = ints[0] ^ 1, f = ints[1] ^ 2, g = ints[2] ^ 4, h = ints[3] ^ 8;
  PENNA_EVENT(unit, leaf, key, a, e);
  uint64_t sum = e * 31 + f * 37 + g * 41 + h * 43;
  for (int i = 0; i < 12; ++i) sum += zone[i] * static_cast<uint64_t>(i + 1);
  return a + b * 2 + c * 4 + d * 8 + static_cast<double>(sum & 0xfffff);
}

double expected_leaf(const double* in, const uint64_t* ints) {
  uint64_t sum = (ints[0] ^ 1) * 31 + (ints[1] ^ 2) * 37 + (ints[2] ^ 4) * 41 + (ints[3] ^ 8) * 43;
  for (int i = 0; i < 12; ++i) sum += (ints[i % 4] + static_cast<uint64_t>(i)) * static_cast<uint64_t>(i + 1);
  return in[0] * 3 + in[1] * 5 * 2 + in[2] * 7 * 4 + in[3] * 11 * 8 + static_cast<double>(sum & 0xfffff);
}

TEST_F(Points, registers_and_red_zone_survive_on_the_fast_and_the_slow_way) {
  fake::spoil_vectors = true;
  uint64_t lost = fake::lost();
  for (long i = 0; i < 5000; ++i) {  // the last ones find the chunk full: the slow way, with vectors spoiled
    std::array<double, 4> in = {1.0 + static_cast<double>(i), 2.5, -3.25, 1e3};
    std::array<uint64_t, 4> ints = {static_cast<uint64_t>(i), 77, 1u << 30, 9};
    ASSERT_EQ(leaf(in.data(), ints.data(), i), expected_leaf(in.data(), ints.data())) << i;
  }
  fake::spoil_vectors = false;
  EXPECT_GT(fake::lost(), lost);
}

// Every general register, by hand: filled, one point passed by its own code, compared.
TEST_F(Points, only_scratch_registers_change) {
  uint64_t seen[15] = {};
  PENNA_EVENT(unit, raw, 1);
  fake::rewind();
  const fake::Site* site = fake::site("unit", "raw");
  ASSERT_NE(site, nullptr);
  for (bool full : {false, true}) {
    uint64_t lost = fake::lost();
    while (full && fake::lost() == lost) PENNA_EVENT(unit, fill, 1);
    __asm__ volatile(
        "push %%rbp\n push %%rbx\n"
        "mov %[seen], %%rbx\n"
        "movabs $0x1111111111111111, %%rcx\n movabs $0x2222222222222222, %%rdx\n"
        "movabs $0x3333333333333333, %%rsi\n movabs $0x4444444444444444, %%rdi\n"
        "movabs $0x5555555555555555, %%rbp\n movabs $0x6666666666666666, %%r8\n"
        "movabs $0x7777777777777777, %%r9\n movabs $0x8888888888888888, %%r12\n"
        "movabs $0x9999999999999999, %%r13\n movabs $0xaaaaaaaaaaaaaaaa, %%r14\n"
        "movabs $0xbbbbbbbbbbbbbbbb, %%r15\n"
        "movq $0x77, -8(%%rsp)\n movq $0x88, -128(%%rsp)\n"
        "lea raw_state(%%rip), %%rax\n lea 1f(%%rip), %%r11\n"
        "jmp *penna_module_entries(%%rip)\n"
        "1: mov %%rcx, (%%rbx)\n mov %%rdx, 8(%%rbx)\n mov %%rsi, 16(%%rbx)\n mov %%rdi, 24(%%rbx)\n"
        "mov %%rbp, 32(%%rbx)\n mov %%r8, 40(%%rbx)\n mov %%r9, 48(%%rbx)\n mov %%r12, 56(%%rbx)\n"
        "mov %%r13, 64(%%rbx)\n mov %%r14, 72(%%rbx)\n mov %%r15, 80(%%rbx)\n"
        "mov -8(%%rsp), %%rax\n mov %%rax, 88(%%rbx)\n mov -128(%%rsp), %%rax\n mov %%rax, 96(%%rbx)\n"
        "mov %%r10, 104(%%rbx)\n"
        "test %%r10, %%r10\n je 2f\n movb $0x34, (%%r10)\n"
        "2: pop %%rbx\n pop %%rbp\n"
        ".pushsection .data\n .balign 8\n raw_state: .long 0x7fffffff\n .byte 16, 0\n .2byte 0x0237\n .quad 0\n "
        ".popsection\n"
        :
        : [seen] "r"(seen)
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory");
    for (uint64_t i = 0; i < 11; ++i) EXPECT_EQ(seen[i], (i + 1) * 0x1111111111111111u) << i << " full " << full;
    EXPECT_EQ(seen[11], 0x77u);
    EXPECT_EQ(seen[12], 0x88u);
    EXPECT_EQ(seen[13] == 0, full);
  }
}

// ---- Sites ----------------------------------------------------------------------------------------------------------

TEST_F(Points, all_sites_are_armed_and_told) {
  EXPECT_EQ(fake::sites_refused(), 0u);
  EXPECT_GE(fake::sites_armed(), fake::sites().size());
  for (const fake::Site& site : fake::sites()) {
    EXPECT_FALSE(site.provider.empty());
    EXPECT_FALSE(site.name.empty());
    if (site.info.address == 0) continue;  // the end of a span in C
    EXPECT_EQ(*reinterpret_cast<const uint8_t*>(site.info.address), 0xe9) << site.name;
  }
}

TEST(Glob, matches) {
  struct {
    const char *pattern, *text;
    bool matches;
  } cases[] = {
      {"db:*", "db:query", true},
      {"db:*", "net:send", false},
      {"*", "", true},
      {"*:send", "net:send", true},
      {"*:s*d", "net:send", true},
      {"*:s*d", "net:sent", false},
      {"a?c", "abc", true},
      {"a?c", "ac", false},
      {"a[b-d]c", "acc", true},
      {"a[b-d]c", "aec", false},
      {"a[!b-d]c", "aec", true},
      {"a[]]c", "a]c", true},
      {"a\\*c", "a*c", true},
      {"a\\*c", "abc", false},
      {"", "", true},
      {"", "a", false},
      {"a[b", "ab", false},
      {"**a**", "banana", true},
      {"x*y*z", "x1y2z", true},
      {"x*y*z", "x1z2y", false},
      {"[a-]x", "-x", true},
      {"a*", "b", false},
  };
  for (const auto& test : cases)
    EXPECT_EQ(penna_glob_matches(test.pattern, test.text) != 0, test.matches) << test.pattern << " " << test.text;
}

// Last, because nothing is armed afterwards.
TEST_F(Points, z_stopping_restores_every_byte) {
  const auto slot = [](const fake::Site& site) {
    return std::string(reinterpret_cast<const char*>(site.info.address), PENNA_SLOT_BYTES);
  };
  std::vector<std::string> armed;
  for (const fake::Site& site : fake::sites()) armed.push_back(site.info.address != 0 ? slot(site) : "");
  penna::agent::stop_points();
  for (size_t i = 0; i < armed.size(); ++i)
    if (!armed[i].empty()) {
      EXPECT_EQ(slot(fake::sites()[i]), '\xa9' + armed[i].substr(1)) << fake::sites()[i].name;
    }
  PENNA_EVENT(unit, after_stop, 1);
  c_integers();
  // Lazy arguments: not evaluated, unless a tool raises the semaphore; which does not make a record.
  Counter counter;
  int evaluated = 0;
  counter.pass();
  EXPECT_EQ(c_lazy(&evaluated, "x"), 0);
  EXPECT_EQ(counter.count, 0);
  for (auto* semaphore : {&PENNA_SDT_SEMAPHORE(unit, lazy), &PENNA_SDT_SEMAPHORE(in_c, lazy)}) *semaphore = 1;
  counter.pass();
  EXPECT_EQ(c_lazy(&evaluated, "x"), 1);
  EXPECT_EQ(counter.count, 1);
  EXPECT_TRUE(fake::events().empty());
}

}  // namespace
