// SPDX-License-Identifier: MIT
// See residue.h. References: the ELF gABI, program headers and relocations.
#include "reach/inject/residue.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "base/memory_ranges.h"
#include "reach/inject/guest.h"
#include "reach/inject/standalone_agent.h"
#include "reach/process/arch.h"

namespace penna {
namespace {

// A part of its memory as the file has it.
struct Pristine {
  RemotePtr<char> at;
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

bool has_code_of(const RemoteMemory& memory, const RemoteLibrary& agent, const Mapping& file) {
  for (const Elf64_Phdr& segment : segments_of(file))
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
        memory.part(agent.at<uint8_t>(segment.p_vaddr), segment.p_memsz) != bytes_of(file, segment))
      return false;
  return true;
}

// Applies its relocations, as found in the process: none in writable memory needs a symbol (-Bsymbolic, -z now).
void relocate(const RemoteMemory& memory, const RemoteLibrary& agent, Pristine* part) {
  constexpr uint64_t kMost = 16 << 20;
  uint64_t table_at = dynamic_value(memory, agent, DT_RELA);
  if (table_at < agent.bias) table_at += agent.bias;  // loaded by us
  const std::string table =
      memory.part(RemoteBytes(table_at), std::min(dynamic_value(memory, agent, DT_RELASZ), kMost));
  for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela)) {
    Elf64_Rela one;
    std::memcpy(&one, table.data() + at, sizeof one);
    const uint64_t offset = bytes_between(part->at, agent.at<char>(one.r_offset));
    if (offset >= part->bytes.size() || part->bytes.size() - offset < 8) continue;
    uint64_t value = agent.bias + static_cast<uint64_t>(one.r_addend);
    if (ELF64_R_TYPE(one.r_info) != kRelativeRelocation) value = memory.get_or_zero((part->at + offset).as<uint64_t>());
    std::memcpy(part->bytes.data() + offset, &value, sizeof value);
  }
}

// All writable memory; what is read-only after relocation never changes.
std::vector<Pristine> variables_of(const RemoteMemory& memory, const RemoteLibrary& agent, const Mapping& file) {
  RemotePtr<char> sealed;  // end of that part
  for (const Elf64_Phdr& header : segments_of(file))
    if (header.p_type == PT_GNU_RELRO) sealed = agent.at<char>(header.p_vaddr + header.p_memsz);
  std::vector<Pristine> parts;
  for (const Elf64_Phdr& header : segments_of(file)) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    Pristine part{agent.at<char>(header.p_vaddr), bytes_of(file, header)};
    relocate(memory, agent, &part);
    // PT_GNU_RELRO lies at the beginning of the writable segment.
    const uint64_t skipped =
        sealed > part.at ? std::min<uint64_t>(bytes_between(part.at, sealed), part.bytes.size()) : 0;
    part.at = part.at + skipped;
    part.bytes.erase(0, skipped);
    parts.push_back(std::move(part));
  }
  return parts;
}

// Keeps the current contents of `count` objects.
template <typename T>
void keep(RemotePtr<T> from, uint64_t count, std::vector<Pristine>* parts) {
  const auto at = from.template as<char>();
  const uint64_t bytes = count * sizeof(T);
  for (size_t i = 0; i < parts->size(); ++i) {
    Pristine& part = (*parts)[i];
    const uint64_t offset = bytes_between(part.at, at);
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
  const std::string now = memory.part(part.at.as<uint8_t>(), part.bytes.size());
  if (now.size() != part.bytes.size()) return false;
  for (size_t at = 0; at < now.size(); at += kPiece) {
    const size_t bytes = std::min(kPiece, now.size() - at);
    const std::string_view piece = std::string_view(part.bytes).substr(at, bytes);
    if (std::string_view(now).substr(at, bytes) != piece && !memory.write(part.at + at, piece)) return false;
  }
  return true;
}

// Null where `agent` is no agent.
Residue residue_of(const RemoteMemory& memory, const RemoteLibrary& agent) {
  const RemoteSymbols symbols(memory, agent);
  Residue residue{agent,
                  symbols.find<const uint8_t>("penna_agent_attach"),
                  symbols.find<RemotePtr<penna_attachment>>("penna_agent_attachment"),
                  {}};
  residue.attachment = memory.get_or_zero(residue.attachment_at);
  return residue;
}

std::optional<Residue> find_standalone_residue(const Target& target) {
  const RemoteBytes base = find_standalone_agent(target.memory, memory_ranges(target.pid));
  if (!base) return {};
  return residue_of(target.memory, standalone_library(target.memory, base));
}

}  // namespace

std::optional<Residue> find_residue(const Target& target) {
  if (target.standalone) return find_standalone_residue(target);
  const RemoteMemory& memory = target.memory;
  for (const RemoteLibrary& one : target.libraries) {
    const bool is_named = one.name.ends_with("/libpenna-agent.so");
    if (!is_named && !one.name.starts_with(Guest::kAgentFolder)) continue;
    Residue residue = residue_of(memory, one);
    if (!residue.attach || !residue.attachment_at) continue;
    if (is_named && !residue.attachment) continue;  // the program was started with it
    return residue;
  }
  return {};
}

void name_agent(pid_t pid, const RemoteMemory& memory, const std::string& agent) {
  const auto libraries = list_libraries(pid, memory);
  for (size_t i = 0; libraries && i < libraries->size(); ++i) {
    const RemoteLibrary& one = (*libraries)[i];
    const RemotePtr<char> name = memory.get_or_zero(field(one.map, &link_map::l_name));
    if (one.name.starts_with(Guest::kAgentFolder) && agent.size() <= one.name.size() &&
        RemoteSymbols(memory, one).find("penna_agent_attachment"))
      memory.write(name, {agent.c_str(), agent.size() + 1});
  }
}

Result<> renew(pid_t pid, const RemoteMemory& memory, const Residue& residue, const Journal& journal,
               const std::string& agent, uint32_t tls_offset_at) {
  const Mapping file = PENNA_TRY(load_file(agent));
  const auto head = memory.get(residue.attachment);
  if (!head || head->magic != PENNA_ATTACH_MAGIC || !has_code_of(memory, residue.agent, file))
    return Error{fmt::format("process {} was recorded by another version of Penna: restart it", pid)};
  // Its recorder was killed, and so was the surgeon.
  if (head->state != PENNA_ATTACH_LEFT) PENNA_TRY(journal.put_back());
  if (!journal.finish_putting_back())
    return Error{
        fmt::format("process {} has threads that still wait in functions hooked by the last recording: try "
                    "again once they have returned, or use --via breakpoint",
                    pid)};
  const bool is_standalone = !residue.agent.map;  // then its threads' variables are among its own
  const auto offset = is_standalone ? std::optional<int64_t>(0) : tls_offset_of(memory, residue.agent, tls_offset_at);
  std::string thread_image;
  for (const Elf64_Phdr& header : segments_of(file))
    if (header.p_type == PT_TLS) thread_image = bytes_of(file, header);
  if (!is_standalone && (!offset || *offset <= 0 || thread_image.empty()))
    return Error{fmt::format("process {} does not say where the agent's thread-local variables are", pid)};
  RemotePtr<penna_standalone> facts_at;
  if (is_standalone) facts_at = RemoteSymbols(memory, residue.agent).find<penna_standalone>("penna_agent_standalone");
  return journal.while_unused(
      [&](const RemoteMemory&, const StoppedProcess& process, const penna_attachment& now) -> std::string {
        if (memory.get_or_zero(RemotePtr<uint64_t>(now.in_linker)) != 0) return "loading a library";
        std::vector<Pristine> parts = variables_of(memory, residue.agent, file);
        keep(RemoteBytes(now.real), now.real_bytes, &parts);
        keep(residue.attachment_at, 1, &parts);
        if (facts_at) keep(facts_at, 1, &parts);
        keep(RemotePtr<uint32_t>(now.link_count_at), 1, &parts);
        keep(RemoteBytes(now.links), now.trampoline_bytes / PENNA_TRAMPOLINE_BYTES * PENNA_LINK_BYTES, &parts);
        for (const Pristine& part : parts)
          if (!write_changed(memory, part)) return "out of reach";
        for (const StoppedThread& one : process.threads()) {
          const RemoteBytes thread = one.state.thread_pointer();
          if (!thread || is_standalone) continue;
          std::vector<Pristine> own{{(thread - *offset).as<char>(), thread_image}};
          keep((thread + now.thread_kept).as<uint32_t>(), 1, &own);
          for (const Pristine& part : own) write_changed(memory, part);
        }
        return {};
      });
}

}  // namespace penna
