// SPDX-License-Identifier: MIT
// See residue.h. References: the ELF gABI, program headers and relocations.
#include "reach/inject/residue.h"

#include <elf.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/file.h"
#include "base/memory_ranges.h"
#include "reach/inject/guest.h"
#include "reach/inject/standalone_agent.h"
#include "reach/process/arch.h"

namespace penna {
namespace {

// A part of its memory as the file has it.
struct Pristine {
  uint64_t at = 0;  // run-time
  std::string bytes;
};

std::vector<Elf64_Phdr> segments_of(const Mapping& file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return {};
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (header.e_phoff + headers.size() * sizeof headers[0] > file.size()) return {};
  std::memcpy(headers.data(), file.data() + header.e_phoff, headers.size() * sizeof headers[0]);
  return headers;
}

std::string bytes_of(const Mapping& file, const Elf64_Phdr& segment) {
  std::string bytes(segment.p_memsz, '\0');
  if (segment.p_offset + segment.p_filesz <= file.size() && segment.p_filesz <= segment.p_memsz)
    std::memcpy(bytes.data(), file.data() + segment.p_offset, segment.p_filesz);
  return bytes;
}

bool has_code_of(const RemoteMemory& memory, uint64_t bias, const Mapping& file) {
  for (const Elf64_Phdr& segment : segments_of(file))
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
        memory.part(bias + segment.p_vaddr, segment.p_memsz) != bytes_of(file, segment))
      return false;
  return true;
}

// Applies its relocations, as found in the process: none in writable memory needs a symbol (-Bsymbolic, -z now).
void relocate(const RemoteMemory& memory, const RemoteLibrary& agent, Pristine* part) {
  constexpr uint64_t kMost = 16 << 20;
  uint64_t table_at = dynamic_value(memory, agent, DT_RELA);
  if (table_at < agent.bias) table_at += agent.bias;  // loaded by us
  const std::string table = memory.part(table_at, std::min(dynamic_value(memory, agent, DT_RELASZ), kMost));
  for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela)) {
    Elf64_Rela one;
    std::memcpy(&one, table.data() + at, sizeof one);
    const uint64_t offset = agent.bias + one.r_offset - part->at;
    if (offset >= part->bytes.size() || part->bytes.size() - offset < 8) continue;
    uint64_t value = agent.bias + static_cast<uint64_t>(one.r_addend);
    if (ELF64_R_TYPE(one.r_info) != kRelativeRelocation) value = memory.word(part->at + offset);
    std::memcpy(part->bytes.data() + offset, &value, sizeof value);
  }
}

// All writable memory; what is read-only after relocation never changes.
std::vector<Pristine> variables_of(const RemoteMemory& memory, const RemoteLibrary& agent, const Mapping& file) {
  uint64_t sealed = 0;  // end of that part
  for (const Elf64_Phdr& header : segments_of(file))
    if (header.p_type == PT_GNU_RELRO) sealed = agent.bias + header.p_vaddr + header.p_memsz;
  std::vector<Pristine> parts;
  for (const Elf64_Phdr& header : segments_of(file)) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    Pristine part{agent.bias + header.p_vaddr, bytes_of(file, header)};
    relocate(memory, agent, &part);
    // PT_GNU_RELRO lies at the beginning of the writable segment.
    const uint64_t skipped = sealed > part.at ? std::min<uint64_t>(sealed - part.at, part.bytes.size()) : 0;
    part.at += skipped;
    part.bytes.erase(0, skipped);
    parts.push_back(std::move(part));
  }
  return parts;
}

// Keeps the current contents of this range.
void keep(uint64_t at, uint64_t bytes, std::vector<Pristine>* parts) {
  for (size_t i = 0; i < parts->size(); ++i) {
    Pristine& part = (*parts)[i];
    const uint64_t offset = at - part.at;
    if (offset > part.bytes.size() || bytes > part.bytes.size() - offset) continue;
    Pristine behind{at + bytes, part.bytes.substr(offset + bytes)};
    part.bytes.resize(offset);
    parts->push_back(std::move(behind));
    return;
  }
}

// Unchanged pages are not touched: most of its tables were never used.
bool write_changed(const RemoteMemory& memory, const Pristine& part) {
  constexpr size_t kPiece = 4096;
  const std::string now = memory.part(part.at, part.bytes.size());
  if (now.size() != part.bytes.size()) return false;
  for (size_t at = 0; at < now.size(); at += kPiece) {
    const size_t bytes = std::min(kPiece, now.size() - at);
    if (std::memcmp(now.data() + at, part.bytes.data() + at, bytes) != 0 &&
        !memory.write(part.at + at, part.bytes.data() + at, bytes))
      return false;
  }
  return true;
}

std::optional<Residue> find_standalone_residue(const Target& target) {
  const uint64_t base = find_standalone_agent(target.memory, memory_ranges(target.pid));
  if (base == 0) return {};
  Residue residue{standalone_library(target.memory, base), 0, 0, 0};
  const RemoteSymbols symbols(target.memory, residue.agent);
  residue.attach = symbols.find("penna_agent_attach");
  residue.attachment_at = symbols.find("penna_agent_attachment");
  residue.attachment = target.memory.word(residue.attachment_at);
  return residue;
}

}  // namespace

std::optional<Residue> find_residue(const Target& target) {
  if (target.standalone) return find_standalone_residue(target);
  const RemoteMemory& memory = target.memory;
  for (const RemoteLibrary& one : target.libraries) {
    const bool is_named = one.name.ends_with("/libpenna-agent.so");
    if (!is_named && !one.name.starts_with(Guest::kAgentFolder)) continue;
    const RemoteSymbols symbols(memory, one);
    Residue residue{one, symbols.find("penna_agent_attach"), symbols.find("penna_agent_attachment"), 0};
    if (residue.attach == 0 || residue.attachment_at == 0) continue;
    residue.attachment = memory.word(residue.attachment_at);
    if (is_named && residue.attachment == 0) continue;  // the program was started with it
    return residue;
  }
  return {};
}

void name_agent(pid_t pid, const RemoteMemory& memory, const std::string& agent) {
  const auto libraries = list_libraries(pid, memory);
  for (size_t i = 0; libraries && i < libraries->size(); ++i) {
    const RemoteLibrary& one = (*libraries)[i];
    const uint64_t name = memory.word(one.map + offsetof(link_map, l_name));
    if (one.name.starts_with(Guest::kAgentFolder) && agent.size() <= one.name.size() &&
        RemoteSymbols(memory, one).find("penna_agent_attachment") != 0)
      memory.write(name, agent.c_str(), agent.size() + 1);
  }
}

Result<> renew(pid_t pid, const RemoteMemory& memory, const Residue& residue, const Journal& journal,
               const std::string& agent, uint32_t tls_offset_at) {
  const Mapping file = PENNA_TRY(load_file(agent));
  const auto head = memory.get<penna_attachment>(residue.attachment);
  if (!head || head->magic != PENNA_ATTACH_MAGIC || !has_code_of(memory, residue.agent.bias, file))
    return Error{fmt::format("process {} was recorded by another version of Penna: restart it", pid)};
  // Its recorder was killed, and so was the surgeon.
  if (head->state != PENNA_ATTACH_LEFT) PENNA_TRY(journal.put_back());
  if (!journal.finish_putting_back())
    return Error{
        fmt::format("process {} has threads that still wait in functions hooked by the last recording: try "
                    "again once they have returned, or use --via breakpoint",
                    pid)};
  const bool is_standalone = residue.agent.map == 0;  // then its threads' variables are among its own
  const auto offset =
      is_standalone ? std::optional<int64_t>(0) : memory.get<int64_t>(residue.agent.map + tls_offset_at);
  std::string thread_image;
  for (const Elf64_Phdr& header : segments_of(file))
    if (header.p_type == PT_TLS) thread_image = bytes_of(file, header);
  if (!is_standalone && (!offset || *offset <= 0 || thread_image.empty()))
    return Error{fmt::format("process {} does not say where the agent's thread-local variables are", pid)};
  const uint64_t facts_at = is_standalone ? RemoteSymbols(memory, residue.agent).find("penna_agent_standalone") : 0;
  return journal.while_unused(
      [&](const RemoteMemory&, const StoppedProcess& process, const penna_attachment& now) -> std::string {
        if (memory.word(now.in_linker) != 0) return "loading a library";
        std::vector<Pristine> parts = variables_of(memory, residue.agent, file);
        keep(now.real, now.real_bytes, &parts);
        keep(residue.attachment_at, 8, &parts);
        if (facts_at != 0) keep(facts_at, sizeof(penna_standalone), &parts);
        keep(now.link_count_at, 4, &parts);
        keep(now.links, now.trampoline_bytes / PENNA_TRAMPOLINE_BYTES * PENNA_LINK_BYTES, &parts);
        for (const Pristine& part : parts)
          if (!write_changed(memory, part)) return "out of reach";
        for (const StoppedThread& one : process.threads()) {
          const uint64_t thread = one.state.thread_pointer();
          if (thread == 0 || is_standalone) continue;
          std::vector<Pristine> own{{thread - static_cast<uint64_t>(*offset), thread_image}};
          keep(thread + static_cast<uint64_t>(now.thread_kept), 4, &own);
          for (const Pristine& part : own) write_changed(memory, part);
        }
        return {};
      });
}

}  // namespace penna
