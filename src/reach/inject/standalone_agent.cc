// SPDX-License-Identifier: MIT
// See standalone_agent.h. References: the ELF gABI; the x86-64 psABI, relocations.
#include "reach/inject/standalone_agent.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "plan/file_symbols.h"
#include "reach/process/arch.h"

namespace penna {
namespace {

constexpr uint64_t kAgentPage = 4096;
constexpr char kStandaloneFile[] = "libpenna-agent-standalone.so";

uint64_t page_down(uint64_t address) { return address & ~(kAgentPage - 1); }
uint64_t page_up(uint64_t address) { return page_down(address + kAgentPage - 1); }

int protection_of(const GElf_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

bool is_mapped(const std::optional<int64_t>& got) { return got && (*got > 0 || *got < -4095); }

std::optional<int64_t> map_memory(BorrowedThread& thread, uint64_t at, uint64_t bytes, int protection, int flags,
                                  int descriptor, uint64_t offset) {
  return thread.call(SYS_mmap, {at, bytes, static_cast<uint64_t>(protection), static_cast<uint64_t>(flags),
                                static_cast<uint64_t>(int64_t{descriptor}), offset});
}

// A dynamic symbol of the agent, by its address in the file.
std::optional<uint64_t> symbol_of(const ElfFile& file, std::string_view wanted) {
  std::optional<uint64_t> found;
  for_each_symbol(file, [&](std::string_view name, const GElf_Sym& symbol, bool is_dynamic) {
    if (is_dynamic && name == wanted) found = symbol.st_value;
  });
  return found;
}

}  // namespace

std::string standalone_agent_file(const std::string& agent) {
  return agent.substr(0, agent.rfind('/') + 1) + kStandaloneFile;
}

Result<StandaloneAgent> StandaloneAgent::load(const std::string& path) {
  const std::string file_path = standalone_agent_file(path);
  const ElfFile file = PENNA_TRY(ElfFile::open(file_path));
  const Error damaged{fmt::format("{} is damaged: reinstall Penna", file_path)};
  StandaloneAgent agent;
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_LOAD) continue;
    const auto bytes = file.bytes_at(segment.p_vaddr, segment.p_filesz);
    if (bytes.size() != segment.p_filesz || segment.p_vaddr < agent.image_.size()) return damaged;
    agent.image_.resize(segment.p_vaddr);
    agent.image_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    agent.segments_.push_back({segment.p_vaddr, segment.p_filesz, segment.p_memsz, protection_of(segment)});
    agent.bytes_ = page_up(segment.p_vaddr + segment.p_memsz);
  }
  const auto attach = symbol_of(file, "penna_agent_attach"), thread = symbol_of(file, "penna_agent_thread");
  if (!attach || !thread) return damaged;
  agent.attach_ = *attach;
  for (const ElfSection& section : file.sections()) {
    Elf_Data* data = section.type == SHT_RELA && section.allocated() ? file.data(section) : nullptr;
    GElf_Rela one;
    for (int i = 0; data != nullptr && gelf_getrela(data, i, &one) != nullptr; ++i) {
      const auto type = GELF_R_TYPE(one.r_info);
      if (one.r_offset + 8 > agent.image_.size()) return damaged;
      if (type == kRelativeRelocation)
        agent.relocations_.push_back({one.r_offset, static_cast<uint64_t>(one.r_addend)});
      else if (type == kThreadRelocation)
        agent.relocations_.push_back({one.r_offset, *thread});
      else if (type != kImportRelocation && type != kModuleRelocation)  // imports of undefined functions: 0
        return damaged;
    }
  }
  return agent;
}

std::string StandaloneAgent::map(BorrowedThread& thread, int descriptor, RemoteBytes* base) const {
  const char* const kNoMemory = "has too little memory left for the agent";
  const auto room =
      map_memory(thread, 0, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!is_mapped(room)) return kNoMemory;
  *base = RemoteBytes(static_cast<uint64_t>(*room));
  for (const Segment& segment : segments_) {
    const uint64_t start = page_down(segment.address), end = page_up(segment.address + segment.file_bytes);
    if (!is_mapped(map_memory(thread, (*base + start).number(), end - start, segment.protection,
                              MAP_PRIVATE | MAP_FIXED, descriptor, start)))
      return (segment.protection & PROT_EXEC) != 0 ? "may not map executable memory" : kNoMemory;
  }
  return {};
}

std::string StandaloneAgent::image_at(RemoteBytes base) const {
  std::string image = image_;
  for (const Relocation& one : relocations_) {
    const uint64_t value = (base + one.value).number();
    std::memcpy(image.data() + one.at, &value, sizeof value);
  }
  return image;
}

RemoteBytes find_standalone_agent(const RemoteMemory& memory, const std::vector<MemoryRange>& ranges) {
  const std::string name = fmt::format("/memfd:{} (deleted)", StandaloneAgent::kMemoryFile);
  for (const MemoryRange& range : ranges) {
    if (range.name != name) continue;
    const RemoteBytes base(range.start);
    const RemoteLibrary library = standalone_library(memory, base);
    if (library.phdrs && RemoteSymbols(memory, library).find("penna_agent_standalone")) return base;
  }
  return {};
}

RemoteLibrary standalone_library(const RemoteMemory& memory, RemoteBytes base) {
  RemoteLibrary library;
  const auto header = memory.get(base.as<Elf64_Ehdr>());
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return library;
  library.bias = base.number();
  library.name = StandaloneAgent::kMemoryFile;
  library.phdrs = library.at<Elf64_Phdr>(header->e_phoff);
  library.phdr_count = header->e_phnum;
  for (uint32_t i = 0; i < library.phdr_count; ++i)
    if (const auto segment = memory.get(library.phdrs + i); segment && segment->p_type == PT_DYNAMIC)
      library.dynamic = library.at<Elf64_Dyn>(segment->p_vaddr);
  return library;
}

// Below the program, else far above it, beyond the growth of its heap: the agent looks for room likewise
// (near_ranges.h).
RemotePtr<char> map_frames(BorrowedThread& thread, const StandaloneProgram& program,
                           const std::vector<MemoryRange>& ranges) {
  constexpr uint64_t kReach = uint64_t{1} << 30, kHeapRoom = 256 << 20, kStep = 1 << 20, kLowest = 64 << 10;
  const uint64_t bytes = page_up(program.facts.frame_bytes), start = program.facts.program;
  if (bytes == 0) return {};
  const auto is_free = [&](uint64_t at) {
    return std::none_of(ranges.begin(), ranges.end(),
                        [&](const MemoryRange& one) { return one.start < at + bytes && at < one.end; });
  };
  std::vector<uint64_t> places;
  for (uint64_t below = bytes + kAgentPage; below < kReach && below + kLowest < start; below += kStep)
    places.push_back(start - below);
  for (uint64_t above = kHeapRoom; above < kReach; above += kStep)
    places.push_back(page_up(program.facts.program_end) + above);
  int tries = 4;
  for (const uint64_t at : places) {
    if (!is_free(at)) continue;
    const auto got =
        map_memory(thread, at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got && static_cast<uint64_t>(*got) == at) return RemotePtr<char>(at);
    if (--tries == 0) break;
  }
  return {};
}

bool describe_program_to_agent(const RemoteMemory& memory, RemoteBytes base, const StandaloneProgram& program,
                               RemotePtr<char> frames) {
  const RemoteSymbols symbols(memory, standalone_library(memory, base));
  const auto alone_at = symbols.find<penna_standalone>("penna_agent_standalone");
  const auto list_at = symbols.find<penna_standalone_symbol>("penna_agent_symbols");
  if (!alone_at || !list_at) return false;
  penna_standalone facts = program.facts;
  const auto before = memory.get(alone_at);
  // The agent was attached here before.
  if (!frames && facts.frame_bytes != 0) {
    if (!before || before->frame_bytes != facts.frame_bytes) return false;
    facts.frames = before->frames;
  }
  if (frames) {
    if (!memory.write(frames, frames_at(program, frames))) return false;
    facts.frames = frames.number();
  }
  constexpr uint32_t kMostSymbols = 1000;
  for (uint32_t i = 0; i < kMostSymbols; ++i) {
    auto one = memory.get(list_at + i);
    if (!one) return false;
    if (one->name[0] == '\0') break;
    one->address = program.function(std::string(one->name, strnlen(one->name, sizeof one->name))).number();
    if (!memory.write(list_at + i, *one)) return false;
  }
  return memory.write(alone_at, facts);
}

}  // namespace penna
