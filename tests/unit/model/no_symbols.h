// SPDX-License-Identifier: MIT
// NoSymbols: a source of symbols that knows none.
#pragma once

#include "model/names/symbol_source.h"

namespace penna {

struct NoSymbols : SymbolSource {
  std::vector<SourceFrame> code(const NamedFile&, uint64_t) override { return {}; }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t) override { return false; }
  std::string problem(const NamedFile&) override { return ""; }
};

}  // namespace penna
