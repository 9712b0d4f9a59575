// SPDX-License-Identifier: MIT
// See standalone_program.h. References: ELF handling for thread-local storage, variant II; LSB core, 10.6.2
// (.eh_frame_hdr); proc_pid_stat(5); musl's pthread_impl.h; glibc's nptl/descr.h.
#include "reach/start/standalone_program.h"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/auxiliary_vector.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "base/proc_stat.h"
#include "plan/file_symbols.h"
#include "reach/process/arch.h"
#include "unwind/cfi.h"

namespace penna {
namespace {

using namespace std::string_view_literals;

struct Symbols {
  std::map<std::string, GElf_Sym, std::less<>> all;  // functions, variables, thread-local ones
  const GElf_Sym* find(std::string_view name) const {
    const auto found = all.find(name);
    return found != all.end() ? &found->second : nullptr;
  }
};

Symbols symbols_of(const ElfFile& file) {
  Symbols symbols;
  for_each_symbol(file, [&](std::string_view name, const GElf_Sym& symbol, bool) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_FUNC || type == STT_OBJECT || type == STT_TLS) symbols.all.try_emplace(std::string(name), symbol);
  });
  return symbols;
}

struct LibcPlaces {
  int64_t tid_at, errno_at;
};

// For glibc's threads since 2.34. Verified in each thread before anything is written (Journal::write_all()).
std::optional<LibcPlaces> places_of_glibc(const ElfFile& file, const Symbols& symbols) {
  constexpr int64_t kTidAt = 720;
  const GElf_Sym* const number = symbols.find("errno");
  if (symbols.find("__libc_setup_tls") == nullptr || number == nullptr || GELF_ST_TYPE(number->st_info) != STT_TLS)
    return {};
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_TLS || segment.p_memsz > (1 << 20) || number->st_value >= segment.p_memsz) continue;
    const uint64_t align = std::max<uint64_t>(segment.p_align, 1);
    const uint64_t bytes = (segment.p_memsz + align - 1) / align * align;
    return LibcPlaces{kTidAt, static_cast<int64_t>(number->st_value) - static_cast<int64_t>(bytes)};
  }
  return {};
}

// By the code of musl's function:
//    64 48 8b 04 25 00 00 00 00    mov %fs:0, %rax
//    48 83 c0 34                   add $52, %rax         errno_val; the tid is just before it
//    c3                            ret
std::optional<LibcPlaces> places_of_musl(const ElfFile& file, const Symbols& symbols) {
  constexpr auto kBegin = "\x64\x48\x8b\x04\x25\0\0\0\0\x48\x83\xc0"sv;
  const GElf_Sym* const place = symbols.find("__errno_location");
  if (symbols.find("__init_tp") == nullptr || place == nullptr) return {};
  const auto code = file.bytes_at(place->st_value, kBegin.size() + 2);
  if (code.size() != kBegin.size() + 2 || std::memcmp(code.data(), kBegin.data(), kBegin.size()) != 0 ||
      code[kBegin.size() + 1] != 0xc3)
    return {};
  const int64_t errno_at = code[kBegin.size()];
  if (errno_at < 8 || errno_at >= 128 || errno_at % 4 != 0) return {};
  return LibcPlaces{errno_at - 4, errno_at};
}

Result<LibcPlaces> find_places(const ElfFile& file, const Symbols& symbols) {
  if (file.header().e_machine != kMachineOfFiles) return Error{"is not an x86-64 program"};
  if (symbols.find("runtime.g0") != nullptr || file.section(".go.buildinfo") != nullptr)
    return Error{"is a Go program, whose threads libc does not manage"};
  if (file.section(".symtab") == nullptr) return Error{"has no symbols (it was stripped)"};
  const bool throws = symbols.find("_Unwind_RaiseException") != nullptr;
  if (symbols.find("__unw_step") != nullptr || (throws && symbols.find("_Unwind_Find_FDE") == nullptr))
    return Error{"has an unknown unwinder: Penna supports libgcc's"};
  if (const auto found = places_of_glibc(file, symbols)) return *found;
  if (const auto found = places_of_musl(file, symbols)) return *found;
  return Error{"has an unsupported libc: Penna supports glibc 2.34 and later, and musl 1.2"};
}

template <typename Value>
void put(std::string* to, Value value) {
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Like the table a linker would have written (--eh-frame-hdr), but with run-time addresses in place of distances.
//    version 1, .eh_frame's address in 8 bytes, number of rows in 4, rows of two signed distances of 4 bytes
constexpr char kTableHead[] = {1, 0x04, 0x03, 0x3b};
constexpr size_t kHeadBytes = sizeof kTableHead + 8 + 4;

std::string make_frames(const ElfFile& file, uint64_t bias) {
  constexpr size_t kMostRows = 1 << 20;
  const ElfSection* const section = file.section(".eh_frame");
  if (section == nullptr || !section->allocated()) return {};
  const auto bytes = file.bytes_at(section->address, section->size);
  const unwind::Section frame{bytes.data(), bytes.size(), section->address};
  std::map<uint64_t, uint64_t> rows;  // the function's entry, by its code
  for (uint64_t at = section->address, next = at; rows.size() < kMostRows; at = next) {
    unwind::Fde fde;
    const unwind::Entry entry = unwind::read_entry(frame, at, fde, next);
    if (entry == unwind::Entry::terminator || next <= at) break;
    if (entry == unwind::Entry::fde && fde.end > fde.begin) rows.try_emplace(fde.begin, at);
  }
  std::string table(kTableHead, sizeof kTableHead);
  put(&table, section->address + bias);
  put(&table, static_cast<uint32_t>(rows.size()));
  for (const auto& [code, entry] : rows) put(&table, code + bias), put(&table, entry + bias);
  return rows.empty() ? std::string() : table;
}

Result<> find_frames(const ElfFile& file, StandaloneProgram* program) {
  for (const GElf_Phdr& segment : file.segments())
    if (segment.p_type == PT_GNU_EH_FRAME) return program->facts.frames = segment.p_vaddr + program->facts.bias, ok();
  program->made_frames = make_frames(file, program->facts.bias);
  if (program->made_frames.empty()) return Error{"has no unwind information (.eh_frame)"};
  program->facts.frame_bytes = kHeadBytes + (program->made_frames.size() - kHeadBytes) / 2;
  return ok();
}

// The program begins with the file's ELF header, as linkers put it; its padding is zero.
bool has_header(const RemoteMemory& memory, RemotePtr<Elf64_Ehdr> start) {
  constexpr unsigned char kPadding[EI_NIDENT - EI_ABIVERSION] = {};
  const auto header = memory.get(start);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         std::memcmp(header->e_ident + EI_ABIVERSION, kPadding, sizeof kPadding) == 0;
}

}  // namespace

bool is_standalone(const RemoteMemory& memory, const RemoteLibrary& program) {
  constexpr uint32_t kMostHeaders = 128;
  for (uint32_t i = 0; i < std::min(program.phdr_count, kMostHeaders); ++i) {
    const auto header = memory.get(program.phdrs + i);
    if (!header || header->p_type == PT_INTERP) return false;
  }
  return program.phdr_count != 0;
}

std::string why_no_standalone_agent(const std::string& path) {
  const auto file = ElfFile::open(path);
  if (!file) return "runs a program file that cannot be read";
  const auto places = find_places(*file, symbols_of(*file));
  return places ? std::string() : places.error().text;
}

Result<StandaloneProgram> examine_standalone_program(pid_t pid, const RemoteMemory& memory,
                                                     const RemoteLibrary& library) {
  const auto file = ElfFile::open(in_proc(pid, "exe"));
  if (!file) return Error{"runs a program file that cannot be read"};
  const Symbols symbols = symbols_of(*file);
  const LibcPlaces places = PENNA_TRY(find_places(*file, symbols));
  StandaloneProgram program;
  penna_standalone& facts = program.facts;
  facts.tid_at = places.tid_at;
  facts.errno_at = places.errno_at;
  facts.phdrs = library.phdrs.number();
  facts.phdr_count = library.phdr_count;
  // The file's own headers give the bias even if there is no PT_PHDR.
  facts.bias = library.phdrs.number() - file->header().e_phoff;
  constexpr uint64_t kPage = 4096;
  facts.program = UINT64_MAX;
  for (const AddressRange& range : file->load_ranges()) {
    facts.program = std::min(facts.program, range.begin & ~(kPage - 1));
    facts.program_end = std::max(facts.program_end, range.end);
  }
  facts.bias -= facts.program;
  facts.program += facts.bias;
  facts.program_end += facts.bias;
  facts.vdso = auxiliary_value(pid, AT_SYSINFO_EHDR);
  facts.stack_end = start_of_stack(pid);
  // The inner one is usually a part of the outer one.
  for (const char* name : {"__malloc_arena_thread_freeres", "tcache_thread_shutdown"})
    if (const GElf_Sym* const symbol = symbols.find(name)) {
      facts.cache_end = symbol->st_value + facts.bias;
      facts.cache_end_bytes = symbol->st_size;
    }
  if (!has_header(memory, RemotePtr<Elf64_Ehdr>(facts.program)) || facts.stack_end == 0)
    return Error{"has an unknown memory layout"};
  PENNA_TRY(find_frames(*file, &program));
  for (const auto& [name, symbol] : symbols.all) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const CodePtr start(symbol.st_value + facts.bias);
    program.functions.emplace(name, start);
    if (name.starts_with("_Unwind_")) program.unwinder.push_back({start, start + symbol.st_size});
  }
  PENNA_TRY(file->unchanged());
  return program;
}

std::string frames_at(const StandaloneProgram& program, RemotePtr<char> at) {
  const std::string& made = program.made_frames;
  std::string table = made.substr(0, kHeadBytes);
  for (size_t word = kHeadBytes; word + 8 <= made.size(); word += 8) {
    uint64_t address;
    std::memcpy(&address, made.data() + word, 8);
    put(&table, static_cast<int32_t>(static_cast<int64_t>(address - at.number())));
  }
  return table;
}

}  // namespace penna
