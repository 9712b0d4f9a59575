// SPDX-License-Identifier: MIT
// Real programs for the tests: compiled, stripped and split by the real tools into a temporary tree.
//
// Invariant: each program is built once per test binary; the tree is removed at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace penna::test {

// The folder of this run, removed at exit.
const std::string& tree();

// Runs a shell command; its output. Fails the test when it does not exit with 0.
std::string run(const std::string& command, const std::string& input = "");
bool has_command(const std::string& name);

// Builds tests/unit/symbols/programs/SOURCE with e.g. "g++ -O2 -g"; the path of the result, in the tree.
std::string build(const std::string& compiler_and_flags, const std::string& source);
// Writes `text` to a new file `name` of the tree, compiles it in the same way.
std::string build_text(const std::string& compiler_and_flags, const std::string& name, const std::string& text);

std::string copy_of(const std::string& path, const std::string& name);
void make_directory(const std::string& path);
std::vector<uint8_t> read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes);
std::vector<std::string> lines_of(const std::string& text);

// What `nm` or `readelf` say: start, size and name of each function symbol (raw names, without version).
struct ListedSymbol {
  uint64_t start, size;
  std::string type, binding, name;
};
std::vector<ListedSymbol> listed_symbols(const std::string& path);
// The address of a symbol by its raw name; fails the test when there is none.
uint64_t address_of(const std::string& path, std::string_view raw_name);

// `count` addresses within functions, from a fixed seed.
std::vector<uint64_t> random_pcs(const std::string& path, size_t count);

// What an addr2line prints for each address, innermost first: file is the last part of the path, line 0 for '?'.
struct ListedFrame {
  std::string function, file;
  uint32_t line;
};
std::map<uint64_t, std::vector<ListedFrame>> addr2line(const std::string& tool, const std::string& path,
                                                       const std::vector<uint64_t>& pcs);

}  // namespace penna::test
