// SPDX-License-Identifier: MIT
// See program_symbols.h.
#include "program_symbols.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "symbols/demangle.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 20;
constexpr std::string_view kFunctions = "TtWwVvi";  // of nm's letters: code, weak, indirect

bool is_hex(const std::string& word) {
  return !word.empty() && word.size() <= 16 && word.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}
uint64_t hex(const std::string& word) { return std::strtoull(word.c_str(), nullptr, 16); }

}  // namespace

// By its first bytes: ELF, else the output of nm. The ELF file is not opened here, but when names are looked up.
Result<std::unique_ptr<ProgramSymbols>> ProgramSymbols::open(const std::string& path,
                                                             std::unique_ptr<SymbolSource> others) {
  std::unique_ptr<ProgramSymbols> symbols(new ProgramSymbols(std::move(others)));
  if (path.empty()) return symbols;
  const std::string start = PENNA_TRY(read_file(path, 4));
  if (start == "\177ELF") {
    symbols->elf_ = path;
    return symbols;
  }
  symbols->names_ = parse_nm(PENNA_TRY(read_file(path, kMaxFileBytes)));
  if (!symbols->names_.empty()) return symbols;
  return Error{
      fmt::format("{} is neither a program, nor its debug file, nor a list of functions as nm prints it", path)};
}

// "ADDRESS [SIZE] LETTER NAME", as nm, nm -S, nm -C and nm -D print it; other lines are skipped. A second word of one
// letter is the letter, even if it is a hexadecimal digit. A version (name@GLIBC_2.17) is cut off.
std::map<uint64_t, ProgramSymbols::Listed> ProgramSymbols::parse_nm(const std::string& text) {
  std::map<uint64_t, Listed> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address, size, letter, name;
    if (!(words >> address >> letter) || !is_hex(address)) continue;
    if (letter.size() > 1 && is_hex(letter)) {
      size = letter;
      if (!(words >> letter)) continue;
    }
    if (letter.size() != 1 || kFunctions.find(letter[0]) == std::string_view::npos) continue;
    std::getline(words >> std::ws, name);
    if (const size_t version = name.find('@'); version != std::string::npos) name.resize(version);
    if (!name.empty()) names.insert_or_assign(hex(address), Listed{demangle(name, Demangle::kFull), hex(size)});
  }
  return names;
}

// With or without parameters: the text trace has C names, the file may have C++ ones.
std::optional<uint64_t> ProgramSymbols::address_of(const std::string& name) const {
  const auto is_it = [&](std::string_view shown) {
    return shown.substr(0, name.size()) == name && (shown.size() == name.size() || shown[name.size()] == '(');
  };
  for (const auto& [address, listed] : names_)
    if (is_it(listed.name)) return address;
  if (elf_.empty()) return std::nullopt;
  const auto file = SymbolFile::open({elf_, {}}, {});
  if (!file) return std::nullopt;
  for (const Symbol& symbol : (*file)->functions())
    if (symbol.raw == name || is_it(symbol.name)) return symbol.start;
  return std::nullopt;
}

// The function that begins at or before the address. Without sizes it reaches up to the next one.
std::vector<SourceFrame> ProgramSymbols::listed(uint64_t address) const {
  auto found = names_.upper_bound(address);
  if (found == names_.begin()) return {};
  --found;
  if (found->second.size != 0 && address - found->first >= found->second.size) return {};
  return {{found->second.name, "", 0, false}};
}

// First the file that was named, then what is known without it.
std::vector<SourceFrame> ProgramSymbols::code(const NamedFile& file, uint64_t address) {
  std::vector<SourceFrame> frames;
  if (is_program_(file.path)) frames = elf_.empty() ? listed(address) : others_->code({elf_, file.build_id}, address);
  return frames.empty() ? others_->code(file, address) : frames;
}

std::optional<DataSymbol> ProgramSymbols::data(const NamedFile& file, uint64_t address) {
  return others_->data(file, address);
}
bool ProgramSymbols::is_entry(const NamedFile& file, uint64_t address) { return others_->is_entry(file, address); }

// A list of names has nothing more to offer: no advice is given about it.
std::string ProgramSymbols::problem(const NamedFile& file) {
  if (!is_program_(file.path) || (elf_.empty() && names_.empty())) return others_->problem(file);
  return elf_.empty() ? "" : others_->problem({elf_, file.build_id});
}

}  // namespace penna
