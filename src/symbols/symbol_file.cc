// SPDX-License-Identifier: MIT
// See symbol_file.h.
#include "symbols/symbol_file.h"

#include <fmt/core.h>
#include <sys/auxv.h>

#include <algorithm>

#include "symbols/elf/other_roots.h"
#include "symbols/elf/plt.h"

namespace penna {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A file that was deleted while mapped is recorded as the kernel names it.
std::string without_deleted(const std::string& path) {
  constexpr std::string_view kMark = " (deleted)";
  bool marked = path.size() > kMark.size() && path.compare(path.size() - kMark.size(), kMark.size(), kMark) == 0;
  return marked ? path.substr(0, path.size() - kMark.size()) : path;
}

// The kernel's vdso as mapped into this process: on the machine of the recording it is the recorded one.
Result<ElfFile> open_vdso() {
  auto base = ::getauxval(AT_SYSINFO_EHDR);
  if (base == 0) return Error{"[vdso] cannot be read: this process has none"};
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  // Its size is not stored anywhere: it extends to the last of its headers and segments.
  uint64_t size = header->e_shoff + uint64_t{header->e_shnum} * header->e_shentsize;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) size = std::max(size, segments[i].p_offset + segments[i].p_filesz);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(base);
  return ElfFile::from_memory("[vdso]", std::vector<uint8_t>(bytes, bytes + size));
}

// The module's file where the process saw it.
std::optional<ElfFile> open_in_other_roots(const ModuleFile& module, const std::string& path,
                                           const std::vector<std::string>& roots) {
  if (module.build_id.empty()) return {};
  for (const std::string& root : roots) {
    Fd opened = open_below(root, path);
    if (!opened) continue;
    auto file = ElfFile::read(std::move(opened), path);
    if (file && file->build_id() == module.build_id) return std::move(*file);
  }
  return {};
}

// The module's file as found from here, verified; the error says why it cannot be used.
Result<ElfFile> open_module_here(const ModuleFile& module, const std::string& path, const SymbolOptions& options) {
  const DebugSearch& search = options.search;
  auto file = path == "[vdso]" ? open_vdso() : ElfFile::open(search.symfs + path);
  // Outside of symfs only a file proven to be the recorded one is taken.
  if (!file && !search.symfs.empty() && !module.build_id.empty()) {
    auto here = ElfFile::open(path);
    if (here && here->build_id() == module.build_id) return here;
  }
  if (!file) return file;
  if (!module.build_id.empty() && file->build_id() != module.build_id) {
    return Error{
        fmt::format("{} was rebuilt since the recording (it is build {}, recorded was {}): keep the old file, or "
                    "name its folder with --debug-dir or --symfs",
                    file->path(), file->build_id().empty() ? "without id" : build_id_text(file->build_id()),
                    build_id_text(module.build_id))};
  }
  if (module.build_id.empty() && search.symfs.empty() && file->written_ns() > options.unverified_until)
    return Error{
        fmt::format("{} was written since the recording, and has no build-id by which it could be known: keep "
                    "the old file and name its folder with --symfs, or link with -Wl,--build-id",
                    file->path())};
  return file;
}

Result<ElfFile> open_module(const ModuleFile& module, const std::string& path, const SymbolOptions& options) {
  auto file = open_module_here(module, path, options);
  if (file) return file;
  if (auto there = open_in_other_roots(module, path, options.search.other_roots)) return std::move(*there);
  return file;
}

bool has_symtab(const ElfFile& file) {
  const ElfSection* section = file.section_of_type(SHT_SYMTAB);
  return section != nullptr && section->size != 0;
}

}  // namespace

Result<std::unique_ptr<SymbolFile>> SymbolFile::open(const ModuleFile& module, const SymbolOptions& options) {
  std::unique_ptr<SymbolFile> result(new SymbolFile(options));
  std::string path = without_deleted(module.path);
  auto file = open_module(module, path, options);
  if (file) {
    BuildId id = file->build_id();
    result->main_ = std::move(*file);
    result->load(path, id, true);
    PENNA_TRY(result->unchanged());
    return result;
  }
  auto debug = find_debug_file(path, module.build_id, nullptr, options.search);
  if (!debug) return file.error();
  result->debug_ = std::move(debug);
  result->load(path, module.build_id, false);
  PENNA_TRY(result->unchanged());
  return result;
}

Result<std::unique_ptr<SymbolFile>> SymbolFile::from_memory(std::string name, std::vector<uint8_t> bytes,
                                                            const SymbolOptions& options) {
  auto file = ElfFile::from_memory(name, std::move(bytes));
  if (!file) return file.error();
  std::unique_ptr<SymbolFile> result(new SymbolFile(options));
  result->main_ = std::move(*file);
  result->load(name, {}, false);
  return result;
}

void SymbolFile::load(const std::string& path, const BuildId& build_id, bool search) {
  searched_ = search || !main_;
  bool complete = main_ && has_symtab(*main_) && has_dwarf(*main_);
  if (search && !complete) debug_ = find_debug_file(path, build_id, &*main_, options_.search);
  bool symbols = (main_ && has_symtab(*main_)) || (debug_ && has_symtab(*debug_));
  if (main_ && !symbols) mini_ = unpack_minidebug(*main_);
  load_symbols();
  set_status(path, !main_);
}

Result<> SymbolFile::unchanged() const {
  for (const std::optional<ElfFile>* file : {&main_, &debug_, &alt_})
    if (*file) PENNA_TRY((*file)->unchanged());
  return ok();
}

void SymbolFile::load_symbols() {
  for (const std::optional<ElfFile>* file : {&main_, &debug_, &mini_}) {
    if (!*file) continue;
    // The debug file repeats the symbols of the main one.
    if (file == &debug_ && main_ && has_symtab(*main_)) continue;
    if (const ElfSection* section = (*file)->section_of_type(SHT_SYMTAB)) table_.add(**file, *section);
  }
  if (main_) {
    if (const ElfSection* section = main_->section_of_type(SHT_DYNSYM)) table_.add(*main_, *section);
    add_plt_symbols(*main_, &table_);
  }
  table_.finish(shape());
}

void SymbolFile::set_status(const std::string& path, bool alone) {
  std::string name = base_name(path);
  bool dwarf = (main_ && has_dwarf(*main_)) || (debug_ && has_dwarf(*debug_));
  bool symtab = mini_ || (main_ && has_symtab(*main_)) || (debug_ && has_symtab(*debug_));
  bool any = !table_.functions().empty();
  if (debug_) status_.debug_file = debug_->path();
  if (dwarf) {
    status_.level = SymbolLevel::kDwarf;
  } else if (symtab && any) {
    status_.level = SymbolLevel::kSymbols;
    status_.advice = fmt::format("{} has no line information: build it with -g, or install its -dbgsym package", name);
  } else if (any) {
    status_.level = SymbolLevel::kDynamic;
    status_.advice = fmt::format(
        "{} is stripped, only its exported functions have names: install its -dbgsym package "
        "or pass --debug-dir",
        name);
  } else {
    status_.advice = fmt::format("{} has no symbols: install its -dbgsym package or pass --debug-dir", name);
  }
  if (main_ && main_->is_cut())
    status_.advice = fmt::format("{} ends before its section headers: it is being written, or damaged", main_->path());
  if (alone && status_.advice.empty()) {
    status_.advice = fmt::format("{} is gone or was rebuilt: its names come from {}", name, status_.debug_file);
  }
}

void SymbolFile::open_dwarf() {
  dwarf_opened_ = true;
  if (!options_.reads_dwarf) return;
  const ElfFile* file = main_ && has_dwarf(*main_) ? &*main_ : debug_ && has_dwarf(*debug_) ? &*debug_ : nullptr;
  if (file == nullptr) return;
  std::string missing;
  if (searched_) alt_ = find_alt_file(*file, options_.search, &missing);
  auto units = DwarfUnits::open(*file, alt_ ? &*alt_ : nullptr, shape().code_ranges());
  // libdw has read everything it will need: from here on, the files may change.
  if (const Result<> same = unchanged(); !same) {
    status_.level = SymbolLevel::kSymbols;
    status_.advice = same.error().text + "; its names come from the symbol table";
    return;
  }
  if (units == nullptr) {
    status_.level = SymbolLevel::kSymbols;
    status_.advice = fmt::format("the DWARF of {} is damaged: its names come from the symbol table", file->path());
    return;
  }
  if (!missing.empty()) {
    status_.advice = fmt::format(
        "the DWARF of {} needs {}, which is missing: install the same -dbgsym package again or "
        "pass --debug-dir",
        file->path(), missing);
  }
  dwarf_ = std::make_unique<DwarfFrames>(std::move(units));
}

std::string_view SymbolFile::keep(std::string text) { return strings_.emplace_back(std::move(text)); }

std::string_view SymbolFile::display(const char* linkage_name) {
  auto [entry, added] = displayed_.try_emplace(linkage_name);
  if (!added) return entry->second;
  std::string text = demangle_budget_ == 0 ? std::string(linkage_name) : demangle(linkage_name, options_.demangle);
  // A file may consist of names that demangle to megabytes each: beyond the budget they are shown raw.
  demangle_budget_ -= std::min(demangle_budget_, text.size());
  return entry.value() = keep(std::move(text));
}

std::string_view SymbolFile::display(const RawSymbol& symbol) {
  if (symbol.kind != SymbolKind::kPlt) return display(symbol.name.data());
  // Keyed by the entry itself: the name without "@plt" may also be displayed.
  auto found = displayed_.find(&symbol);
  if (found != displayed_.end()) return found->second;
  auto text = keep(std::string(display(symbol.name.data())) + "@plt");
  displayed_[&symbol] = text;
  return text;
}

// Chooses among the names of a function.
const RawSymbol& SymbolFile::shown_of(const RawSymbol& symbol) {
  if (!options_.rank) return symbol;
  const RawSymbol* best = &symbol;
  int highest = 0;
  for (const RawSymbol& one : table_.names_at(symbol.start)) {
    const int rank = options_.rank(std::string(display(one.name.data())));
    if (rank > highest) best = &one;
    highest = std::max(highest, rank);
  }
  return *best;
}

std::vector<std::string> SymbolFile::names(uint64_t start) {
  std::vector<std::string> names;
  for (const RawSymbol& one : table_.names_at(start)) {
    names.emplace_back(display(one.name.data()));
    if (one.name.find('@') != one.name.npos) names.emplace_back(one.name);
  }
  return names;
}

std::optional<Symbol> SymbolFile::find(uint64_t address) {
  const RawSymbol* symbol = table_.function_at(address);
  if (symbol == nullptr) return {};
  return Symbol{display(shown_of(*symbol)), symbol->name, symbol->start, symbol->size, symbol->kind, symbol->binding};
}

std::optional<AddressRange> SymbolFile::find_unnamed(uint64_t address) {
  if (!unwind_table_) unwind_table_.emplace(shape());
  return unwind_table_->function_at(address);
}

std::string_view SymbolFile::file_name(const DwarfFrame& frame) {
  auto [entry, added] = files_.try_emplace(frame.file);
  if (added) entry.value() = keep(source_path(frame.directory == nullptr ? "" : frame.directory, frame.file));
  return entry->second;
}

FrameName SymbolFile::name_frame(const DwarfFrame& frame, uint64_t address) {
  FrameName name;
  name.line = frame.line;
  name.inlined = frame.inlined;
  if (frame.file != nullptr) name.file = file_name(frame);
  // A real function is named as in the symbol table, so that a name does not depend on debug information; but foo.cold,
  // which starts elsewhere, is foo.
  const RawSymbol* symbol = frame.inlined ? nullptr : table_.function_at(frame.entry != 0 ? frame.entry : address);
  bool unnamed = frame.linkage_name == nullptr && frame.name.empty();
  if (symbol != nullptr && (unnamed || symbol->start == frame.entry)) {
    name.function = display(shown_of(*symbol));
  } else if (frame.linkage_name != nullptr) {
    name.function = display(frame.linkage_name);
  } else if (!unnamed) {
    name.function = keep(in_style(frame.name, options_.demangle));
  }
  return name;
}

std::vector<FrameName> SymbolFile::frames(uint64_t address, bool call_site) {
  // A return address may be the first of the next line, or of the next function: the call is before it.
  if (call_site) --address;
  std::vector<FrameName> names;
  if (!dwarf_opened_) open_dwarf();
  if (dwarf_ != nullptr) {
    for (const DwarfFrame& frame : dwarf_->find(address)) names.push_back(name_frame(frame, address));
    // Padding between functions belongs to a line, but to no function.
    if (!names.empty() && names.back().function.empty()) names.clear();
  }
  if (names.empty()) {
    if (const RawSymbol* symbol = table_.function_at(address))
      names.push_back({display(shown_of(*symbol)), {}, 0, false});
  }
  return names;
}

std::optional<ObjectName> SymbolFile::find_object(uint64_t address) {
  const RawSymbol* symbol = table_.object_at(address);
  if (symbol == nullptr) return {};
  if (!dwarf_opened_) open_dwarf();
  // All entries of the file are scanned once, within a second: in larger files parts of variables remain offsets.
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  const auto is_small = [](const std::optional<ElfFile>& file) {
    const ElfSection* entries = file ? file->section(".debug_info") : nullptr;
    return entries == nullptr || entries->size <= kMostBytes;
  };
  if (dwarf_ && !members_ && is_small(main_) && is_small(debug_))
    members_ = std::make_unique<DataMembers>(dwarf_->units());
  const uint64_t offset = address - symbol->start;
  return ObjectName{display(*symbol), offset, symbol->size, members_ ? members_->path(symbol->start, offset) : ""};
}

std::vector<std::string> SymbolFile::enums_of_point(uint64_t slot, std::span<const PointValueName> values) {
  if (!dwarf_opened_) open_dwarf();
  return dwarf_ != nullptr ? penna::enums_of_point(dwarf_->units(), slot, values) : std::vector<std::string>{};
}

bool SymbolFile::is_entry(uint64_t address) const {
  if (const RawSymbol* symbol = table_.function_at(address))
    return symbol->name == "_start" || symbol->name == "_dl_start_user";
  // No symbol, as in a stripped dynamic linker. In glibc on x86-64 both together are 61 bytes.
  constexpr uint64_t kEntryBytes = 64;
  const uint64_t entry = shape().header().e_entry;
  return entry != 0 && address >= entry && address - entry < kEntryBytes;
}

std::vector<Symbol> SymbolFile::functions() {
  std::vector<Symbol> all;
  all.reserve(table_.functions().size());
  for (const RawSymbol& symbol : table_.functions()) {
    all.push_back({display(shown_of(symbol)), symbol.name, symbol.start, symbol.size, symbol.kind, symbol.binding});
  }
  return all;
}

}  // namespace penna
