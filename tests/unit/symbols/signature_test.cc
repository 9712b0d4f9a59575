// SPDX-License-Identifier: MIT
// Signatures compared with compiled programs: programs/values_runner.c reads the values from the registers and the
// stack of running functions, where we say they are; names and formats are compared with the source.
#include "symbols/dwarf/signature.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "penna/event.h"
#include "programs.h"

namespace penna::signature_test {
namespace {

using test::tree;

struct Loaded {
  std::unique_ptr<ElfFile> file;
  std::unique_ptr<Signatures> signatures;
};

Loaded load(const std::string& path) {
  auto file = ElfFile::open(path);
  EXPECT_TRUE(file.has_value()) << path;
  Loaded loaded;
  if (!file) return loaded;
  loaded.file = std::make_unique<ElfFile>(std::move(*file));
  auto opened = Signatures::open(*loaded.file, {});
  EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().text);
  if (opened) loaded.signatures = std::move(*opened);
  return loaded;
}

// "a=1" of "f: a=1 b='two words' return=3", in front of and behind the call.
struct Expected {
  std::string name;
  bool may_miss = false;
  std::vector<std::string> arguments, results;
};

// The values of "A 401136 a=1 b='two words'", in their order.
std::vector<std::string> values_of(const std::string& text) {
  std::vector<std::string> values;
  for (size_t at = 0; at < text.size();) {
    size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    size_t quote = text.find('\'', begin), blank = text.find(' ', begin);
    at = quote < blank ? text.find('\'', quote + 1) + 1 : std::min(blank, text.size());
    values.push_back(text.substr(begin, at - begin));
  }
  return values;
}

std::vector<Expected> expectations(const std::string& source) {
  std::vector<Expected> all;
  std::ifstream in(source);
  for (std::string line; std::getline(in, line);) {
    const size_t mark = line.find_first_of(":?");
    if (line.compare(0, 3, "// ") != 0 || mark == std::string::npos || line.find(' ', 3) < mark) continue;
    if (mark + 1 < line.size() && line[mark + 1] != ' ') continue;
    Expected expected{line.substr(3, mark - 3), line[mark] == '?', {}, {}};
    if (expected.name.find('-') != std::string::npos) continue;  // the licence
    for (const std::string& value : values_of(line.substr(mark + 1))) {
      (value.compare(0, 6, "return") == 0 ? expected.results : expected.arguments).push_back(value);
    }
    all.push_back(expected);
  }
  return all;
}

std::string plan_lines(char when, uint64_t address, const std::vector<CapturedValue>& values) {
  std::ostringstream out;
  for (const CapturedValue& value : values) {
    const penna_value& where = value.where;
    out << when << ' ' << std::hex << address << std::dec << ' ' << value.name;
    for (unsigned field : {unsigned{where.place}, unsigned{where.number}, unsigned{where.type}, unsigned{where.text},
                           unsigned{where.bytes}, unsigned{where.behind}, unsigned{where.offset}}) {
      out << ' ' << field;
    }
    out << '\n';
  }
  return out.str();
}

std::string joined(const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += " " + value;
  return all;
}

class Truth : public testing::TestWithParam<std::tuple<std::string, std::string, std::string>> {
 protected:
  static std::string find_symbol(const std::map<std::string, uint64_t>& symbols, const std::string& name) {
    auto found = symbols.find(name);
    std::ostringstream out;
    if (found != symbols.end()) out << "0x" << std::hex << found->second;
    return out.str();
  }
};

TEST_P(Truth, ValuesLieWhereWeSay) {
  auto [compiler, options, source] = GetParam();
  const bool cxx = source == "values.cc";
  const std::string driver = compiler == "gcc" ? (cxx ? "g++" : "gcc") : (cxx ? "clang++" : "clang");
  const std::string base = tree() + "/" + driver + options;
  std::string path = base;
  path.erase(std::remove(path.begin(), path.end(), ' '), path.end());
  const std::string programs = PENNA_TEST_PROGRAMS "/";
  test::run(compiler + " -O1 -fno-pie -c " + programs + "values_runner.c -o " + path + ".runner.o");
  // clang leaves the .dwo file of split DWARF where it runs.
  test::run("cd " + tree() + " && " + driver + (cxx ? " -std=c++20" : "") + " -w -g " + options +
            " -pg -mfentry -fno-pie -no-pie " + programs + source + " " + path + ".runner.o -o " + path);

  Loaded loaded = load(path);
  ASSERT_NE(loaded.signatures, nullptr);
  std::map<std::string, uint64_t> symbols;
  std::map<uint64_t, const Expected*> by_address;
  for (const auto& symbol : test::listed_symbols(path)) symbols[symbol.name] = symbol.start;
  const auto expected = expectations(programs + source);
  ASSERT_GT(expected.size(), 10u);
  std::string plan;
  for (const Expected& one : expected) {
    for (const auto& [name, address] : symbols) {
      // A local function may be mangled, and be a clone.
      const bool match = one.may_miss ? name.find(one.name) != std::string::npos : name == one.name;
      if (!match || !by_address.emplace(address, &one).second) continue;
      auto signature = loaded.signatures->of(address);
      EXPECT_TRUE(signature.has_value()) << name << ": " << (signature ? "" : signature.error().text);
      if (!signature) continue;
      EXPECT_EQ(signature->file, programs + source);
      plan += plan_lines('A', address, signature->arguments) + plan_lines('R', address, signature->results);
      if (one.may_miss && !joined(one.arguments).empty() &&
          signature->arguments.size() + signature->results.size() < one.arguments.size() + one.results.size()) {
        EXPECT_FALSE(signature->note.empty()) << name;
      }
    }
  }
  // A place to stop at also for functions without values.
  for (const auto& [address, one] : by_address) {
    std::ostringstream line;
    line << "N " << std::hex << address << " none 1 0 1 0 8 0 0\n";
    plan += line.str();
  }
  std::ofstream(path + ".plan") << plan;
  std::map<const Expected*, int> seen;
  for (const std::string& line : test::lines_of(test::run(path + " " + path + ".plan"))) {
    const uint64_t address = std::stoull(line.substr(2), nullptr, 16);
    auto found = by_address.find(address);
    if (found == by_address.end()) continue;
    const Expected& one = *found->second;
    size_t behind = line.find(' ', 2);
    auto values = values_of(behind == std::string::npos ? "" : line.substr(behind));
    auto wanted = line[0] == 'A' ? one.arguments : one.results;
    for (std::string& value : wanted) {
      size_t amp = value.find("=&");
      if (amp != std::string::npos) value = value.substr(0, amp + 1) + find_symbol(symbols, value.substr(amp + 2));
      if (value.size() > 4 && value.compare(value.size() - 4, 4, "=0x0") == 0) value.resize(value.size() - 2);
    }
    ++seen[&one];
    if (one.may_miss) {
      for (const std::string& value : values) {
        EXPECT_NE(std::find(wanted.begin(), wanted.end(), value), wanted.end())
            << one.name << " has no " << value << ", but" << joined(wanted);
      }
    } else {
      EXPECT_EQ(joined(values), joined(wanted)) << one.name << " " << line[0];
    }
  }
  for (const Expected& one : expected) {
    if (one.may_miss) continue;
    EXPECT_GE(seen[&one], 2) << one.name << " was never called";
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, std::string, std::string>>& test) {
  const bool cxx = std::get<2>(test.param) == "values.cc";
  std::string name = std::get<0>(test.param) + (cxx ? "Cxx" : "C");
  for (char c : std::get<1>(test.param)) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Truth,
                         testing::Combine(testing::Values("gcc", "clang"),
                                          testing::Values("-O0", "-O2 -gdwarf-4", "-O1 -gsplit-dwarf",
                                                          "-O1 -fdebug-types-section"),
                                          testing::Values("values.cc", "values_c.c")),
                         name_of);

}  // namespace
}  // namespace penna::signature_test
