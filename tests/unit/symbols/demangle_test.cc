// SPDX-License-Identifier: MIT
// Demangling: known names, every name of libstdc++, and names that would explode.
#include "symbols/demangle.h"

#include <gtest/gtest.h>

#include "programs.h"

namespace penna::demangle_test {
namespace {

struct Case {
  const char *raw, *full, *simple;  // simple: null where it is not looked at
};

void expect_names(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(demangle(c.raw, Demangle::kFull), c.full) << c.raw;
    if (c.simple != nullptr) {
      EXPECT_EQ(demangle(c.raw, Demangle::kSimple), c.simple) << c.raw;
    }
    EXPECT_EQ(demangle(c.raw, Demangle::kNo), c.raw);
  }
}

TEST(Demangle, Styles) {
  expect_names({
      {"main", "main", "main"},
      {"cfree@GLIBC_2.2.5", "cfree", "cfree"},
      {"memcpy@@GLIBC_2.14", "memcpy", "memcpy"},
      {"init.lto_priv.0", "init", "init"},
      {"init.llvm.1234567890", "init", "init"},
      {"helper.part.0", "helper.part.0", "helper"},
      {"helper.constprop.0.isra.0", "helper.constprop.0.isra.0", "helper"},
      {".hidden", ".hidden", ".hidden"},
      {"_Z3foov.lto_priv.0", "foo()", "foo"},
      {"_ZN2ns3BoxIlE3getEl", "ns::Box<long>::get(long)", "ns::Box::get"},
      {"_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo(int)", "(anonymous namespace)::foo"},
      {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)",
       "std::vector::push_back"},
      {"_ZZ4mainENKUliE0_clEi", "main::{lambda(int)#2}::operator()(int) const", "main::{lambda#2}::operator()"},
      {"_Z5applyIZ4mainEUliE_EiT_i", "apply<main::{lambda(int)#1}>(main::{lambda(int)#1}, int)", "apply"},
      {"_ZN1AltERKS_", "A::operator<(A const&)", "A::operator<"},
      {"_ZlsRSoRK1A", "operator<<(std::ostream&, A const&)", "operator<<"},
      {"_ZStltIcEbRKSaIT_E", "std::operator< <char>(std::allocator<char> const&)", "std::operator<"},
      {"_Znam", "operator new[](unsigned long)", "operator new[]"},
      {"_ZN1AcvSsEv", "A::operator std::string()", "A::operator std::string"},
      {"_ZN1AptEv", "A::operator->()", "A::operator->"},
      {"_ZTV1A", "vtable for A", "vtable for A"},
      {"_ZThn8_N1A1fEv", "non-virtual thunk to A::f()", "non-virtual thunk to A::f"},
      {"_ZGVZ3foovE1x", "guard variable for foo()::x", "guard variable for foo::x"},
      {"_Z3fooB5cxx11v", "foo[abi:cxx11]()", "foo"},
      {"_ZNO1A1fEv", "A::f() &&", "A::f"},
      {"_Z3foov.cold", "foo() [clone .cold]", "foo"},
      {"_Z", "_Z", "_Z"},
      {"_Zwhatever", "_Zwhatever", "_Zwhatever"},
  });
}

// Instances of templates are told with what they return, which is part of the symbol and not of the name.
TEST(Demangle, LeavesOutWhatIsReturned) {
  expect_names({
      {"_Z1fIiEvT_", "f<int>(int)", "f"},
      {"_Z2ulIiEmT_", "ul<int>(int)", "ul"},
      {"_Z1gIiEPT_S0_", "g<int>(int)", "g"},
      // decltype ({parm#1}+{parm#2}) add<int>(int, int)
      {"_Z3addIiEDTplfp_fp0_ET_S1_", "add<int>(int, int)", "add"},
      // std::vector<int, std::allocator<int> > const& ref<int>(std::vector<int, std::allocator<int> > const&)
      {"_Z3refIiERKSt6vectorIT_SaIS1_EES5_", "ref<int>(std::vector<int, std::allocator<int> > const&)", "ref"},
      // void (*h<double>(double))(char), char const (&arr<int>(int)) [4], int (*(*fpp<int>(int))(int))(char)
      {"_Z1hIdEPFvcET_", "h<double>(double)", nullptr},
      {"_Z3arrIiERA4_KcT_", "arr<int>(int)", nullptr},
      {"_Z3fppIiEPFPFT_cEiES0_", "fpp<int>(int)", nullptr},
      // int A::* A::pd<int>(int), void (A::*A::pm<int>(int))()
      {"_ZN1A2pdIiEEMS_iT_", "A::pd<int>(int)", "A::pd"},
      {"_ZN1A2pmIiEEMS_FvvET_", "A::pm<int>(int)", nullptr},
      {"_ZN1AC1IiEET_", "A::A<int>(int)", "A::A"},
      {"_ZN1AclIiEEiT_", "A::operator()<int>(int)", "A::operator()"},
      {"_ZN1AlsIiEERS_T_", "A::operator<< <int>(int)", "A::operator<<"},
      {"_ZN1AcvT_IiEEv", "A::operator int<int>()", nullptr},
      {"_ZN12_GLOBAL__N_14anonIiEEvT_", "(anonymous namespace)::anon<int>(int)", "(anonymous namespace)::anon"},
      {"_ZZ4mainENKUlT_E_clIiEEDaS_", "main::{lambda(auto:1)#1}::operator()<int>(int) const",
       "main::{lambda#1}::operator()"},
      {"_ZN1AIiE1fIlEET_S2_", "A<int>::f<long>(long)", "A::f"},
      // Not what is returned: parameters that are pointers to functions, and names about other names.
      {"_Z5plainPFviE", "plain(void (*)(int))", "plain"},
      {"_ZGVZ1fIiEvT_E1x", "guard variable for f<int>(int)::x", "guard variable for f::x"},
      {"_ZTIFvvE", "typeinfo for void ()", nullptr},
  });
}

TEST(Demangle, SimpleOfWhatDwarfSays) {
  EXPECT_EQ(simple_name("std::sort<int*, main(int, char**)::<lambda(int, int)> >"), "std::sort");
  EXPECT_EQ(simple_name("(anonymous namespace)::Local::times"), "(anonymous namespace)::Local::times");
  EXPECT_EQ(simple_name("operator bool"), "operator bool");
  EXPECT_EQ(simple_name(""), "");
  EXPECT_EQ(simple_name("<"), "<");
  EXPECT_EQ(simple_name("operator"), "operator");
}

// Every exported name of libstdc++ as c++filt has it but for what templates return, and in short without argument lists.
TEST(Demangle, AllOfLibstdcxxLikeCxxfilt) {
  std::string library = test::run("gcc -print-file-name=libstdc++.so.6");
  library.pop_back();
  std::string names;
  for (const auto& symbol : test::listed_symbols(library)) names += symbol.name + "\n";
  auto raw = test::lines_of(names);
  auto full = test::lines_of(test::run("c++filt --no-verbose", names));
  ASSERT_EQ(raw.size(), full.size());
  ASSERT_GT(raw.size(), 3000u);
  size_t shortened = 0;
  for (size_t i = 0; i < raw.size(); ++i) {
    const std::string mine = demangle(raw[i], Demangle::kFull);
    if (mine != full[i]) {
      ASSERT_GT(full[i].size(), mine.size()) << mine;
      EXPECT_EQ(full[i].substr(full[i].size() - mine.size() - 1), " " + mine);
      EXPECT_NE(mine.find('<'), std::string::npos) << full[i];
      EXPECT_EQ(mine.substr(0, mine.find('(')).find(" for "), std::string::npos) << full[i];
      ++shortened;
    }
    std::string simple = demangle(raw[i], Demangle::kSimple);
    EXPECT_FALSE(simple.empty());
    if (raw[i].compare(0, 2, "_Z") == 0 && full[i].find("operator") == std::string::npos) {
      EXPECT_EQ(simple.find_first_of("(<"), std::string::npos) << full[i] << " -> " << simple;
    }
  }
  EXPECT_GT(shortened, 50u);
}

// Each level holds the one before it twice: 2^40 letters from 200.
TEST(Demangle, ExplodingNamesStayAsTheyAre) {
  std::string name = "_Z1fI1AIiiE";
  const char* const kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int level = 0; level < 40; ++level) {
    std::string reference = level == 0 ? "S0_" : level < 36 ? std::string("S") + kDigits[level] + "_" : "SZ_";
    name += "1AI" + reference + reference + "E";
  }
  name += "EvT_";
  EXPECT_GT(demangled_size_bound(name), kDemangleLimit);
  EXPECT_EQ(demangle(name, Demangle::kFull), name);
  EXPECT_LT(demangled_size_bound("_ZNSt6vectorIiSaIiEE9push_backEOi"), 4096u);
}

}  // namespace
}  // namespace penna::demangle_test
