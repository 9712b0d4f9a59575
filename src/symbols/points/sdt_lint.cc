// SPDX-License-Identifier: MIT
// See sdt_lint.h.
#include "symbols/points/sdt_lint.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "symbols/points/sdt_args.h"

namespace penna {
namespace {

constexpr size_t kMaxArgs = 12;  // limit of libbpf, systemtap and Penna
constexpr size_t kMaxNames = 1 << 16;
constexpr size_t kMaxFindings = 100'000;  // per file, to bound memory

SdtTrap trap_of(OperandTrap trap) {
  switch (trap) {
    case OperandTrap::kFloatMarker: return SdtTrap::kFloatMarker;
    case OperandTrap::kSymbol: return SdtTrap::kSymbolOperand;
    case OperandTrap::kVectorRegister: return SdtTrap::kVectorRegister;
    case OperandTrap::kByteRegister: return SdtTrap::kByteRegister;
    case OperandTrap::kHighByteRegister: return SdtTrap::kHighByteRegister;
    case OperandTrap::kNarrowRegister: return SdtTrap::kNarrowRegister;
    case OperandTrap::kIndex: return SdtTrap::kIndexOperand;
    case OperandTrap::kSize: return SdtTrap::kArgumentSize;
    default: return SdtTrap::kUnknownOperand;
  }
}

// ---- Nops -----------------------------------------------------------------------------------------------------------

using Bytes = std::span<const uint8_t>;

bool starts_with(Bytes code, std::initializer_list<uint8_t> wanted) {
  return code.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), code.begin());
}

bool is_nop5(Bytes code) { return starts_with(code, {0x0f, 0x1f, 0x44, 0x00, 0x00}); }

// One of the nops that assemblers use as padding: 90, 66 90, and 0f 1f /0 after any prefixes.
bool is_x86_nop(Bytes code) {
  while (!code.empty() && (code[0] == 0x66 || code[0] == 0x2e)) code = code.subspan(1);
  return starts_with(code, {0x90}) || starts_with(code, {0x0f, 0x1f});
}

// 32-bit words for ARM code, 16-bit ones for Thumb code, in the byte order of x86.
bool is_arm_nop(Bytes code) {
  return starts_with(code, {0x00, 0xf0, 0x20, 0xe3}) || starts_with(code, {0x00, 0x00, 0xa0, 0xe1}) ||
         starts_with(code, {0x00, 0xbf}) || starts_with(code, {0xc0, 0x46});
}

// What is at the address where a tracer will put its breakpoint. kNop5 and kBareNop10 are valid nops, but traps in
// themselves (SdtTrap).
enum class NopKind : uint8_t { kGood, kNop5, kBareNop10, kNone };

NopKind nop_at(const ElfFile& file, uint64_t pc) {
  const Bytes code = file.bytes_at(pc, 16);
  switch (file.header().e_machine) {
    case EM_X86_64:
      if (is_nop5(code) || (starts_with(code, {0x90}) && is_nop5(code.subspan(1)))) return NopKind::kNop5;
      if (starts_with(code, {0x66, 0x2e, 0x0f, 0x1f, 0x84})) return NopKind::kBareNop10;
      return is_x86_nop(code) ? NopKind::kGood : NopKind::kNone;
    case EM_386: return is_x86_nop(code) ? NopKind::kGood : NopKind::kNone;
    case EM_AARCH64: return starts_with(code, {0x1f, 0x20, 0x03, 0xd5}) ? NopKind::kGood : NopKind::kNone;
    case EM_ARM: return is_arm_nop(code) ? NopKind::kGood : NopKind::kNone;
    default: return NopKind::kGood;  // unknown machine: not checked
  }
}

// ---- Semaphores -----------------------------------------------------------------------------------------------------

// Variables that look like semaphores, by the PROVIDER_NAME in their names. systemtap: P_N_semaphore; folly and Penna:
// .._semaphore_P_N; libbpf's usdt.h: .._sema_P_N.
using SemaphoreNames = std::map<std::string, std::string, std::less<>>;

void add_semaphore_name(std::string_view name, SemaphoreNames& names) {
  constexpr std::string_view kBehind = "_semaphore";
  if (name.size() > kBehind.size() && name.substr(name.size() - kBehind.size()) == kBehind)
    names.emplace(name.substr(0, name.size() - kBehind.size()), name);
  for (std::string_view before : {"semaphore_", "sema_"})
    if (const size_t at = name.find(before); at != std::string_view::npos)
      names.emplace(name.substr(at + before.size()), name);
}

// From both symbol tables; a stripped program has only the dynamic one, or none.
SemaphoreNames semaphore_names(const ElfFile& file) {
  SemaphoreNames names;
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    Elf_Data* data = file.data(section);
    if (data == nullptr || data->d_type != ELF_T_SYM) continue;
    GElf_Sym symbol;
    for (int i = 1; ::gelf_getsym(data, i, &symbol) != nullptr && names.size() < kMaxNames; ++i) {
      const char* name = symbol.st_shndx == SHN_UNDEF ? nullptr : file.string(section.link, symbol.st_name);
      if (name != nullptr) add_semaphore_name(name, names);
    }
  }
  return names;
}

// Whether two bytes there, a semaphore's size, are writable when the file is loaded.
bool is_writable(const ElfFile& file, uint64_t address) {
  return std::any_of(file.segments().begin(), file.segments().end(), [&](const GElf_Phdr& segment) {
    return segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0 && address >= segment.p_vaddr &&
           segment.p_memsz >= 2 && address - segment.p_vaddr <= segment.p_memsz - 2;
  });
}

// ---- The whole file -------------------------------------------------------------------------------------------------

class Lint {
 public:
  explicit Lint(const ElfFile& file) : file_(file), notes_(read_sdt_notes(file, &damaged_)) {}

  SdtLint run() {
    whole_file();
    for (const SdtNote& note : notes_) {
      arguments(note);
      place(note);
      semaphore(note);
    }
    return std::move(lint_);
  }

 private:
  void add(SdtTrap trap, const SdtNote* note, std::string detail) {
    if (lint_.findings.size() >= kMaxFindings) {
      ++lint_.left_out;
      return;
    }
    lint_.findings.push_back({trap, note == nullptr ? "" : note->provider + ":" + note->name, std::move(detail),
                              note == nullptr ? 0 : note->pc});
  }

  // Problems of the file as a whole.
  void whole_file() {
    for (const ElfSection& section : file_.sections())
      if (section.name == ".note.stapsdt" && section.type != SHT_NOTE && section.type != SHT_NOBITS)
        add(SdtTrap::kUnseenSection, nullptr, fmt::format("its type is {}", section.type));
    if (damaged_ != 0)
      add(SdtTrap::kDamagedNote, nullptr, fmt::format("{} of {} notes", damaged_, damaged_ + notes_.size()));
    if (!notes_.empty() && file_.section(".stapsdt.base") == nullptr)
      add(SdtTrap::kDiscardedBase, nullptr, fmt::format("for {} notes", notes_.size()));
    names_ = semaphore_names(file_);
    const bool named =
        std::any_of(notes_.begin(), notes_.end(), [](const SdtNote& note) { return note.semaphore != 0; });
    const ElfSection* probes = file_.section(".probes");
    // Without symbols, only the section of a semaphore remains.
    if (!named && !notes_.empty() && names_.empty() && probes != nullptr && probes->size >= 2)
      add(SdtTrap::kMissingSemaphore, nullptr,
          fmt::format("section .probes has room for {}, and no note names one", probes->size / 2));
  }

  void arguments(const SdtNote& note) {
    const std::vector<SdtArg> args = parse_sdt_args(note.args);
    const int machine = file_.header().e_machine;
    for (size_t i = 0; i < args.size(); ++i)
      if (const OperandTrap trap = operand_trap(args[i], machine); trap != OperandTrap::kNone)
        add(trap_of(trap), &note, fmt::format("argument {}: {}", i + 1, args[i].text));
    if (args.size() > kMaxArgs) add(SdtTrap::kTooManyArguments, &note, fmt::format("{} arguments", args.size()));
  }

  void place(const SdtNote& note) {
    if (!seen_.insert({note.pc, note.provider, note.name}).second) add(SdtTrap::kDuplicateSite, &note, "once more");
    const NopKind kind = nop_at(file_, note.pc);
    if (kind == NopKind::kNop5) add(SdtTrap::kNop5, &note, "");
    if (kind == NopKind::kBareNop10) add(SdtTrap::kBareNop10, &note, "");
    if (wrong_base(note, kind)) return;
    if (range_of(file_.code_ranges(), note.pc) == nullptr) {
      add(SdtTrap::kOutsideCode, &note, fmt::format("at {:#x}", note.pc));
    } else if (kind == NopKind::kNone) {
      add(SdtTrap::kNoNop, &note, fmt::format("at {:#x}: {}", note.pc, code_text(note.pc)));
    }
  }

  // Prelink may move a file; the nop is then where the correction leads. If it is at the uncorrected address, the
  // correction is wrong.
  bool wrong_base(const SdtNote& note, NopKind kind) {
    const ElfSection* base = file_.section(".stapsdt.base");
    if (base == nullptr || base->address == note.base) return false;
    if (kind != NopKind::kNone && note.base != 0) return false;
    if (nop_at(file_, note.noted_pc) == NopKind::kNone) return false;
    add(SdtTrap::kWrongBase, &note, fmt::format("{:#x}, the section is at {:#x}", note.base, base->address));
    return true;
  }

  // A tracer increments the semaphore to tell the program that it listens: it must be writable, in .probes, and named.
  void semaphore(const SdtNote& note) {
    if (note.semaphore != 0) {
      const ElfSection* probes = file_.section(".probes");
      const std::string where = fmt::format("at {:#x}", note.semaphore);
      if (!is_writable(file_, note.semaphore)) {
        add(SdtTrap::kUnwritableSemaphore, &note, where);
      } else if (probes == nullptr || !probes->range().contains(note.semaphore)) {
        add(SdtTrap::kMisplacedSemaphore, &note, where);
      }
    } else if (const auto found = names_.find(note.provider + "_" + note.name); found != names_.end()) {
      add(SdtTrap::kMissingSemaphore, &note, found->second);
    }
  }

  std::string code_text(uint64_t pc) const {
    std::string text;
    for (uint8_t byte : file_.bytes_at(pc, 5)) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", byte);
    return text;
  }

  const ElfFile& file_;
  size_t damaged_ = 0;  // declared before notes_, whose initialisation sets it
  std::vector<SdtNote> notes_;
  SemaphoreNames names_;
  std::set<std::tuple<uint64_t, std::string, std::string>> seen_;
  SdtLint lint_;
};

}  // namespace

SdtLint lint_sdt(const ElfFile& file) { return Lint(file).run(); }

}  // namespace penna
