// SPDX-License-Identifier: MIT
// See elf_facts.h.
#include "symbols/elf/elf_facts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace penna {
namespace {

constexpr size_t kMaxInterpreters = 4;  // BINPRM depth of the kernel
constexpr size_t kMaxNeeded = 4096;

std::string machine_name(int machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "i386";
    case EM_AARCH64: return "AArch64";
    case EM_ARM: return "ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "POWER";
    case EM_S390: return "s390";
    default: return fmt::format("machine {}", machine);
  }
}

// The first bytes of a regular file.
Result<std::string> read_start(const std::string& path) {
  // O_NONBLOCK: opening a fifo would wait for its writer.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error{fmt::format("cannot stat {}: {}", path, errno_text(errno))};
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("{} is not a regular file", path)};
  std::array<char, 256> start{};  // BINPRM_BUF_SIZE
  ssize_t got = ::pread(fd.get(), start.data(), start.size(), 0);
  if (got < 0) return Error{fmt::format("cannot read {}: {}", path, errno_text(errno))};
  return std::string(start.data(), static_cast<size_t>(got));
}

// The interpreter of a "#! /path argument" line; empty if it is not a script.
std::string script_interpreter(const std::string& start) {
  if (start.compare(0, 2, "#!") != 0) return {};
  std::string line = start.substr(2, start.find('\n') == std::string::npos ? std::string::npos : start.find('\n') - 2);
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  size_t end = line.find_first_of(std::string(" \t\0", 3), begin);
  return line.substr(begin, end == std::string::npos ? end : end - begin);
}

bool gains_privileges(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  // Without the group's execute bit S_ISGID meant mandatory locking; the kernel's exec still ignores it.
  bool setgid = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
  if ((status.st_mode & S_ISUID) != 0 || setgid) return true;
  return ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// A string that starts at `offset` in the raw file and ends within `size`.
std::string string_at(const ElfFile& file, uint64_t offset, uint64_t size) {
  Elf_Data* data = ::elf_getdata_rawchunk(file.handle(), static_cast<int64_t>(offset), size, ELF_T_BYTE);
  if (data == nullptr || data->d_buf == nullptr) return {};
  const auto* text = static_cast<const char*>(data->d_buf);
  return std::string(text, strnlen(text, data->d_size));
}

// Program headers: what the kernel and the loader use.
void read_segments(const ElfFile& file, ElfFacts* facts) {
  bool dynamic = false;
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type == PT_DYNAMIC) dynamic = true;
    if (segment.p_type == PT_INTERP && segment.p_filesz < 4096) {
      facts->interpreter = string_at(file, segment.p_offset, segment.p_filesz);
    }
  }
  facts->position_independent = file.header().e_type == ET_DYN;
  // A static-pie program has a dynamic section, too, and relocates itself.
  facts->is_dynamic = dynamic && !facts->interpreter.empty();
}

// The dynamic section: libraries, and whether an ET_DYN file without interpreter is a static-pie program.
void read_dynamic(const ElfFile& file, ElfFacts* facts) {
  const ElfSection* section = file.section_of_type(SHT_DYNAMIC);
  Elf_Data* data = section == nullptr ? nullptr : file.data(*section);
  bool pie_flag = false;
  GElf_Dyn entry;
  for (int i = 0; data != nullptr && ::gelf_getdyn(data, i, &entry) != nullptr; ++i) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) pie_flag = true;
    if (entry.d_tag != DT_NEEDED || facts->needed.size() >= kMaxNeeded) continue;
    const char* name = file.string(section->link, entry.d_un.d_val);
    if (name != nullptr) facts->needed.emplace_back(name);
  }
  // Every library is ET_DYN, and so is a PIE: DF_1_PIE or an interpreter distinguishes them.
  bool executable = file.header().e_type == ET_EXEC || pie_flag;
  facts->is_program = file.header().e_entry != 0 && (executable || !facts->interpreter.empty());
  facts->is_static = facts->is_program && facts->interpreter.empty();
}

// What compilers leave in a file when they prepare its functions: a hook that these call, or a table of places.
struct CallOption {
  std::string_view symbol, section, option;
};
constexpr CallOption kCallOptions[] = {
    {"__cyg_profile_func_enter", "", "-finstrument-functions"},
    {"mcount", "", "-pg"},
    {"_mcount", "", "-pg"},
    {"__fentry__", "", "-pg -mfentry"},
    {"", "__mcount_loc", "-pg -mfentry -mrecord-mcount"},
    {"", "__patchable_function_entries", "-fpatchable-function-entry"},
    {"", "xray_instr_map", "-fxray-instrument"},
};

void add_call_option(const CallOption& option, ElfFacts* facts) {
  std::vector<std::string>& known = facts->call_options;
  if (std::find(known.begin(), known.end(), option.option) == known.end()) known.emplace_back(option.option);
}

void read_symbols(const ElfFile& file, const ElfSection& section, ElfFacts* facts) {
  Elf_Data* data = file.data(section);
  if (data == nullptr || data->d_type != ELF_T_SYM) return;
  GElf_Sym symbol;
  for (int i = 1; ::gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const char* name = file.string(section.link, symbol.st_name);
    if (name == nullptr) continue;
    bool defined = symbol.st_shndx != SHN_UNDEF;
    bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    std::string_view text(name);
    // Linkers put the version into the name in .symtab: malloc@@GLIBC_2.2.5.
    text = text.substr(0, text.find('@'));
    if (defined && !local && text == "malloc") facts->defines_malloc = true;
    for (const CallOption& option : kCallOptions)
      if (!text.empty() && option.symbol == text) add_call_option(option, facts);
  }
}

void read_elf(const ElfFile& file, ElfFacts* facts) {
  const GElf_Ehdr& header = file.header();
  facts->is_elf = true;
  facts->bits = header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
  facts->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
  facts->machine = header.e_machine;
  facts->machine_name = machine_name(header.e_machine);
  facts->build_id = file.build_id();
  facts->has_symtab = file.section_of_type(SHT_SYMTAB) != nullptr;
  facts->has_dwarf = file.has_contents(".debug_info");
  read_segments(file, facts);
  read_dynamic(file, facts);
  for (uint32_t type : {SHT_DYNSYM, SHT_SYMTAB}) {
    if (const ElfSection* section = file.section_of_type(type)) read_symbols(file, *section, facts);
  }
  for (const CallOption& option : kCallOptions)
    if (!option.section.empty() && file.section(option.section) != nullptr) add_call_option(option, facts);
}

}  // namespace

Result<ElfFacts> read_elf_facts(const std::string& path) {
  ElfFacts facts;
  facts.path = path;
  for (;;) {
    const std::string current = facts.elf_path();
    std::string start = PENNA_TRY(read_start(current));
    std::string interpreter = script_interpreter(start);
    if (interpreter.empty()) {
      if (start.compare(0, 4, "\177ELF") != 0) return facts;
      auto file = ElfFile::open(current);
      if (!file) return file.error();
      read_elf(*file, &facts);
      PENNA_TRY(file->unchanged());
      // The kernel looks at the bits of the ELF file that it runs, not at those of a script.
      facts.setuid = gains_privileges(current);
      return facts;
    }
    if (facts.chain.size() >= kMaxInterpreters) {
      return Error{fmt::format("{} cannot be run: its \"#!\" lines lead through more than {} interpreters", path,
                               kMaxInterpreters)};
    }
    facts.chain.push_back(interpreter);
  }
}

}  // namespace penna
