// SPDX-License-Identifier: MIT
// See programs.h.
#include "programs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace penna::test {
namespace fs = std::filesystem;

const std::string& tree() {
  struct Tree {
    std::string path;
    Tree() {
      path = (fs::temp_directory_path() / "penna-symbols-XXXXXX").string();
      if (::mkdtemp(path.data()) == nullptr) std::abort();
    }
    ~Tree() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  static const Tree kTree;
  return kTree.path;
}

std::string run(const std::string& command, const std::string& input) {
  static int number = 0;
  std::string base = tree() + "/run" + std::to_string(number++);
  std::ofstream(base + ".in") << input;
  std::string whole = "( " + command + " ) <" + base + ".in >" + base + ".out 2>" + base + ".err";
  int status = std::system(whole.c_str());
  std::ifstream out(base + ".out"), err(base + ".err");
  std::stringstream text, errors;
  text << out.rdbuf();
  errors << err.rdbuf();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << errors.str();
  return text.str();
}

bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

// A test without its program would go on with nothing: its own arithmetic would fail, and not say why.
static std::string built_at(const std::string& path, const std::string& compiler_and_flags) {
  if (!fs::exists(path)) throw std::runtime_error(compiler_and_flags + " built no program; what it said is above");
  return path;
}

std::string build(const std::string& compiler_and_flags, const std::string& source) {
  static std::map<std::string, std::string> built;
  std::string& path = built[compiler_and_flags + " " + source];
  if (path.empty()) {
    path = tree() + "/program" + std::to_string(built.size());
    run(compiler_and_flags + " -o " + path + " " PENNA_TEST_PROGRAMS "/" + source + " -pthread");
  }
  return built_at(path, compiler_and_flags);
}

std::string build_text(const std::string& compiler_and_flags, const std::string& name, const std::string& text) {
  std::string source = tree() + "/" + name;
  std::ofstream(source) << text;
  run(compiler_and_flags + " -o " + source + ".out " + source);
  return built_at(source + ".out", compiler_and_flags);
}

std::string copy_of(const std::string& path, const std::string& name) {
  std::string to = tree() + "/" + name;
  fs::create_directories(fs::path(to).parent_path());
  fs::copy_file(path, to, fs::copy_options::overwrite_existing);
  return to;
}

void make_directory(const std::string& path) { fs::create_directories(path); }

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<ListedSymbol> listed_symbols(const std::string& path) {
  std::vector<ListedSymbol> symbols;
  for (const std::string& line : lines_of(run("readelf -sW " + path + " 2>/dev/null"))) {
    std::istringstream in(line);
    std::string number, start, size, type, binding, visibility, section, name;
    if (!(in >> number >> start >> size >> type >> binding >> visibility >> section >> name)) continue;
    if (number.back() != ':' || section == "UND" || section == "ABS" || start == "Value") continue;
    symbols.push_back({std::stoull(start, nullptr, 16), std::stoull(size, nullptr, 0), type, binding,
                       name.substr(0, name.find('@'))});
  }
  return symbols;
}

uint64_t address_of(const std::string& path, std::string_view raw_name) {
  for (const ListedSymbol& symbol : listed_symbols(path)) {
    if (symbol.name == raw_name) return symbol.start;
  }
  ADD_FAILURE() << raw_name << " is not in " << path;
  return 0;
}

std::vector<uint64_t> random_pcs(const std::string& path, size_t count) {
  std::vector<ListedSymbol> functions;
  for (ListedSymbol& symbol : listed_symbols(path)) {
    if (symbol.type == "FUNC" && symbol.size != 0) functions.push_back(std::move(symbol));
  }
  std::mt19937_64 random(20240611);
  std::vector<uint64_t> pcs;
  EXPECT_FALSE(functions.empty()) << path;
  for (size_t i = 0; i < count && !functions.empty(); ++i) {
    const ListedSymbol& function = functions[random() % functions.size()];
    pcs.push_back(function.start + random() % function.size);
  }
  return pcs;
}

std::map<uint64_t, std::vector<ListedFrame>> addr2line(const std::string& tool, const std::string& path,
                                                       const std::vector<uint64_t>& pcs) {
  std::ostringstream input;
  for (uint64_t pc : pcs) input << std::hex << "0x" << pc << "\n";
  auto lines = lines_of(run(tool + " -a -i -f -C -e " + path, input.str()));
  std::map<uint64_t, std::vector<ListedFrame>> result;
  std::vector<ListedFrame>* frames = nullptr;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].compare(0, 2, "0x") == 0) {
      frames = &result[std::stoull(lines[i], nullptr, 16)];
      frames->clear();
      continue;
    }
    if (frames == nullptr || i + 1 >= lines.size()) break;
    std::string place = lines[i + 1].substr(0, lines[i + 1].find(" (discriminator"));
    size_t colon = place.rfind(':');
    std::string file = place.substr(0, colon);
    std::string number = place.substr(colon + 1);
    ListedFrame frame{lines[i], file.substr(file.rfind('/') + 1), 0};
    if (number != "?") frame.line = static_cast<uint32_t>(std::stoul(number));
    frames->push_back(frame);
    ++i;
  }
  return result;
}

}  // namespace penna::test
