// SPDX-License-Identifier: MIT
// Shortened names: a table of real ones of libstdc++ and libc++, and properties of everything that these libraries
// export.
#include "symbols/shortened_name.h"

#include <gtest/gtest.h>

#include "programs.h"
#include "symbols/demangle.h"

namespace penna::shortened_name_test {
namespace {

struct Case {
  const char *full, *shortened;
};

void expect_names(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(shortened_name(c.full), c.shortened) << c.full;
    EXPECT_EQ(shortened_name(c.shortened), c.shortened) << "again";
  }
}

TEST(ShortenedName, LeavesOutWhatTemplatesHaveByThemselves) {
  expect_names({
      {"main", "main"},
      {"shop::pay(shop::Order const&)", "shop::pay(shop::Order const&)"},
      {"std::vector<Order, std::allocator<Order> >::push_back(Order const&)",
       "std::vector<Order>::push_back(Order const&)"},
      {"std::map<int, Order, std::less<int>, std::allocator<std::pair<int const, Order> > >::operator[](int const&)",
       "std::map<int, Order>::operator[](int const&)"},
      {"std::unordered_map<int, Order, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, Order> "
       "> >::find(int const&)",
       "std::unordered_map<int, Order>::find(int const&)"},
      {"std::unique_ptr<Order, std::default_delete<Order> >::~unique_ptr()", "std::unique_ptr<Order>::~unique_ptr()"},
      {"std::queue<int, std::deque<int, std::allocator<int> > >::push(int&&)", "std::queue<int>::push(int&&)"},
      {"std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >::pop()",
       "std::priority_queue<int>::pop()"},
      // What somebody chose stays.
      {"std::set<int, std::greater<int>, std::allocator<int> >::insert(int&&)",
       "std::set<int, std::greater<int>>::insert(int&&)"},
      {"std::pair<int, std::less<int> >::pair()", "std::pair<int, std::less<int>>::pair()"},
      {"Cache<int, std::less<int> >::get(int)", "Cache<int, std::less<int>>::get(int)"},
      {"std::vector<int, Arena<int> >::reserve(unsigned long)", "std::vector<int, Arena<int>>::reserve(unsigned long)"},
      {"std::allocator_traits<std::allocator<Order> >::allocate(std::allocator<Order>&, unsigned long)",
       "std::allocator_traits<std::allocator<Order>>::allocate(std::allocator<Order>&, unsigned long)"},
  });
}

TEST(ShortenedName, SaysStringsAndStreams) {
  expect_names({
      {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, "
       "unsigned long)",
       "std::string::_M_create(unsigned long&, unsigned long)"},
      {"load(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
       "load(std::string const&)"},
      {"std::basic_string_view<char, std::char_traits<char> >::find(char, unsigned long) const",
       "std::string_view::find(char, unsigned long) const"},
      {"std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >::reserve()",
       "std::wstring::reserve()"},
      {"std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> "
       ">(std::basic_ostream<char, std::char_traits<char> >&, char const*)",
       "std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)"},
      {"std::operator+<char, std::char_traits<char>, std::allocator<char> >(char const*)",
       "std::operator+<char>(char const*)"},
      {"std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >::overflow(int)",
       "std::stringbuf::overflow(int)"},
      {"A::operator std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >[abi:cxx11]() "
       "const",
       "A::operator std::string() const"},
      {"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >::append(char const*)",
       "std::string::append(char const*)"},
      {"std::__1::vector<Order, std::__1::allocator<Order> >::__push_back_slow_path<Order const&>(Order const&)",
       "std::vector<Order>::__push_back_slow_path<Order const&>(Order const&)"},
      {"std::filesystem::__cxx11::path::parent_path() const", "std::filesystem::path::parent_path() const"},
      {"std::_V2::condition_variable_any::wait()", "std::condition_variable_any::wait()"},
  });
}

TEST(ShortenedName, PutsDotsForWhatIsDeepOrLong) {
  expect_names({
      {"std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::vector<Order, "
       "std::allocator<Order> >, std::less<std::__cxx11::basic_string<char, std::char_traits<char>, "
       "std::allocator<char> > >, std::allocator<int> >::clear()",
       "std::map<std::string, std::vector<Order>>::clear()"},
      {"A<B<C<D> > >::f()", "A<B<C<…>>>::f()"},
      {"A<B<C<D<E> > > >::f()", "A<B<C<…>>>::f()"},
      {"std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
       "std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, Order>, "
       "std::_Select1st<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
       "const, Order> >, std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, "
       "std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
       "const, Order> > >::_M_insert_node()",
       "std::_Rb_tree<std::string, std::pair<…>, std::_Select1st<…>>::_M_insert_node()"},
      {"std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()(int) const"},
      {"Ids<int, 12345678901, 12345678902, 12345678903, 12345678904>::f()",
       "Ids<int, 12345678901, 12345678902, 12345678903, …>::f()"},
      {"put(std::map<int, std::vector<std::pair<int, int>, std::allocator<std::pair<int, int> > >, std::less<int>, "
       "std::allocator<int> >&)",
       "put(std::map<int, std::vector<…>>&)"},
      {"std::__invoke_impl<void, main::{lambda(int, Order const&)#2}>(std::__invoke_other, main::{lambda(int, Order "
       "const&)#2}&&)",
       "std::__invoke_impl<void, main::{lambda#2}>(std::__invoke_other, main::{lambda#2}&&)"},
      {"main::{lambda(std::vector<int, std::allocator<int> >&)#1}::operator()(std::vector<int, std::allocator<int> >&) "
       "const",
       "main::{lambda(std::vector<int>&)#1}::operator()(std::vector<int>&) const"},
  });
}

TEST(ShortenedName, OfOperatorsAndBrokenTexts) {
  expect_names({
      {"A<std::vector<int, std::allocator<int> > >::operator<(A const&)", "A<std::vector<int>>::operator<(A const&)"},
      {"operator<< <int>(std::ostream&, int)", "operator<< <int>(std::ostream&, int)"},
      {"A<int>::operator->()", "A<int>::operator->()"},
      {"operator new(unsigned long)", "operator new(unsigned long)"},
      {"foo[abi:cxx11]()", "foo()"},
      {"A<>::f()", "A<>::f()"},
      {"std::thread::thread<void (&)(), , void>(void (&)())", "std::thread::thread<void (&)(), void>(void (&)())"},
      {"A<, >::f()", "A<>::f()"},
      {"<", "<"},
      {">", ">"},
      {"a<b", "a<b"},
      {"std::", "std::"},
      {"operator", "operator"},
  });
}

// Also what nobody thought of: twice is once, and it is never longer.
TEST(ShortenedName, OfAllThatLibstdcxxExports) {
  std::string library = test::run("gcc -print-file-name=libstdc++.so.6");
  library.pop_back();
  size_t shorter = 0;
  for (const auto& symbol : test::listed_symbols(library)) {
    const std::string full = demangle(symbol.name, Demangle::kFull), once = demangle(symbol.name, Demangle::kShort);
    EXPECT_EQ(shortened_name(once), once) << full;
    EXPECT_LE(once.size(), full.size() + 2) << full;  // "…" has three bytes
    EXPECT_EQ(once.find("__cxx11::"), once.npos) << full;
    EXPECT_EQ(once.find("std::char_traits<char>, std::allocator<char>"), once.npos) << full;
    shorter += once.size() < full.size();
  }
  EXPECT_GT(shorter, 2000u);
}

}  // namespace
}  // namespace penna::shortened_name_test
