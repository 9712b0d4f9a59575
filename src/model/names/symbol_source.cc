// SPDX-License-Identifier: MIT
// See symbol_source.h: the real source, over the Symbolizer.
#include "model/names/symbol_source.h"

#include "symbols/symbolizer.h"

namespace penna {
namespace {

class ElfSymbolSource : public SymbolSource {
 public:
  explicit ElfSymbolSource(const SymbolOptions& options) : symbolizer_(options) {}

  std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) override {
    std::vector<SourceFrame> frames;
    // The caller has already moved back into the call instruction, so this is not a call site to the Symbolizer.
    for (const FrameName& frame : symbolizer_.frames(module(file), address, false))
      frames.push_back({std::string(frame.function), std::string(frame.file), frame.line, frame.inlined});
    return frames;
  }

  std::vector<std::string> names(const NamedFile& file, uint64_t start) override {
    return symbolizer_.names(module(file), start);
  }

  std::optional<uint64_t> function_start(const NamedFile& file, uint64_t address) override {
    const auto symbol = symbolizer_.find(module(file), address);
    return symbol ? std::optional(symbol->start) : std::nullopt;
  }

  std::optional<uint64_t> unnamed_start(const NamedFile& file, uint64_t address) override {
    const auto range = symbolizer_.find_unnamed(module(file), address);
    return range ? std::optional(range->begin) : std::nullopt;
  }

  std::optional<DataSymbol> data(const NamedFile& file, uint64_t address) override {
    auto object = symbolizer_.find_object(module(file), address);
    if (!object) return std::nullopt;
    return DataSymbol{std::string(object->name), object->offset, object->member};
  }

  std::vector<std::string> enums_of_point(const NamedFile& file, uint64_t slot,
                                          std::span<const SiteArgument> arguments) override {
    std::vector<PointValueName> values;
    for (const SiteArgument& argument : arguments)
      values.push_back({argument.name, argument.type == PENNA_ARG_INT || argument.type == PENNA_ARG_UINT});
    return symbolizer_.enums_of_point(module(file), slot, values);
  }

  bool is_entry(const NamedFile& file, uint64_t address) override {
    return symbolizer_.is_entry(module(file), address);
  }

  std::string problem(const NamedFile& file) override { return symbolizer_.status(module(file)).advice; }

  bool is_lost(const NamedFile& file) override { return !symbolizer_.is_there(module(file)); }

 private:
  Symbolizer::ModuleId module(const NamedFile& file) {
    return symbolizer_.add({file.path, {file.build_id.begin(), file.build_id.end()}});
  }

  Symbolizer symbolizer_;
};

}  // namespace

std::unique_ptr<SymbolSource> make_symbol_source(const SymbolOptions& options) {
  return std::make_unique<ElfSymbolSource>(options);
}
std::unique_ptr<SymbolSource> make_symbol_source() { return make_symbol_source(SymbolOptions{}); }

}  // namespace penna
