// SPDX-License-Identifier: MIT
// ProgramSymbols: names for the functions of a program from a file that the user names: the program itself before it
// was stripped, its separate debug file, or a list that nm(1) has printed.
//
// Invariant: what that file does not know is named as without it; libraries always are.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/names/symbol_source.h"

namespace penna {

class ProgramSymbols : public SymbolSource {
 public:
  // `is_program`: whether this file, as a recording names it, is the program. Called for every name that is looked up.
  using IsProgram = std::function<bool(const std::string& path)>;
  // The error says why the file has no names. An empty path: no such file was given.
  static Result<std::unique_ptr<ProgramSymbols>> open(const std::string& path, std::unique_ptr<SymbolSource> others);
  // Where the file has a function of this name, with or without its parameters.
  std::optional<uint64_t> address_of(const std::string& name) const;
  void set_program(IsProgram is_program) { is_program_ = std::move(is_program); }

  std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) override;
  std::optional<DataSymbol> data(const NamedFile& file, uint64_t address) override;
  bool is_entry(const NamedFile& file, uint64_t address) override;
  std::string problem(const NamedFile& file) override;

 private:
  struct Listed {
    std::string name;
    uint64_t size = 0;  // 0: nm did not print sizes; up to the next
  };
  explicit ProgramSymbols(std::unique_ptr<SymbolSource> others) : others_(std::move(others)) {}
  static std::map<uint64_t, Listed> parse_nm(const std::string& text);
  std::vector<SourceFrame> listed(uint64_t address) const;

  std::unique_ptr<SymbolSource> others_;
  IsProgram is_program_ = [](const std::string&) { return false; };
  std::string elf_;                   // the file, if it is ELF
  std::map<uint64_t, Listed> names_;  // of the list, by address
};

}  // namespace penna
