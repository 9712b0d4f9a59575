// SPDX-License-Identifier: MIT
// See patch_planner.h.
#include "attach/patch_planner.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "attach/call_sites.h"
#include "attach/import_sites.h"
#include "attach/near_memory.h"
#include "symbols/symbol_file.h"

namespace penna {

// What is known of a file, for whatever process maps it.
struct PatchPlanner::Module {
  std::vector<CallSite> sites;      // of functions that are wanted
  std::vector<ImportSite> imports;  // the same
};

namespace {

// The parts of a plan, in the making.
struct Plan {
  std::vector<penna_near> nears;
  std::vector<penna_patch> patches;
  std::vector<uint8_t> code, names;

  uint32_t add_name(const std::string& name) {
    const auto at = static_cast<uint32_t>(names.size());
    names.insert(names.end(), name.c_str(), name.c_str() + name.size() + 1);
    return at;
  }
  std::vector<uint8_t> encode() const {
    penna_patch_plan head{};
    head.magic = PENNA_PATCH_MAGIC;
    head.version = PENNA_ABI_VERSION;
    head.modules = static_cast<uint32_t>(nears.size());
    head.patches = static_cast<uint32_t>(patches.size());
    head.near_bytes = static_cast<uint32_t>(code.size());
    head.name_bytes = static_cast<uint32_t>(names.size());
    std::vector<uint8_t> bytes;
    const auto put = [&bytes](const void* from, size_t size) {
      const auto* first = static_cast<const uint8_t*>(from);
      bytes.insert(bytes.end(), first, first + size);
    };
    put(&head, sizeof head);
    put(nears.data(), nears.size() * sizeof(penna_near));
    put(patches.data(), patches.size() * sizeof(penna_patch));
    put(code.data(), code.size());
    put(names.data(), names.size());
    return bytes;
  }
};

constexpr uint8_t kCall = 0xe8;
constexpr size_t kJumpThroughBytes = 6;

penna_patch code_patch(uint64_t place, std::span<const uint8_t> before, std::span<const uint8_t> after, size_t head) {
  penna_patch patch{};
  patch.address = place;
  patch.kind = PENNA_PATCH_CODE;
  patch.bytes = static_cast<uint8_t>(after.size());
  patch.head = static_cast<uint8_t>(head);
  std::copy_n(before.begin(), after.size(), patch.before);
  std::copy(after.begin(), after.end(), patch.after);
  return patch;
}

// Nops where a function begins: a call of the hook takes the place of the first five bytes.
std::optional<penna_patch> patch_nops(const CallSite& site, uint64_t place, const NearMemory& near) {
  const auto call = relative_branch(kCall, place, near.entrance());
  if (!call) return {};
  return code_patch(place, site.before, *call, call->size());
}

// A sled jumps over nine bytes: there goes the call, and then the jump becomes a nop.
std::optional<penna_patch> patch_sled(const CallSite& site, uint64_t place, const NearMemory& near) {
  const auto call = relative_branch(kCall, place + 2, near.entrance());
  if (!call) return {};
  std::array<uint8_t, 11> after{0x66, 0x90, 0, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0x00};
  std::copy(call->begin(), call->end(), after.begin() + 2);
  return code_patch(place, site.before, after, 2);
}

// A stub that calls the hook and jumps on to whatever the pointer held.
std::optional<penna_patch> patch_import(const ImportSite& site, uint64_t slot, NearMemory& near, Plan* plan) {
  const auto stub = near.begin_stub(0, kJumpThroughBytes);
  if (!stub) return {};
  near.append_jump_through(stub->code - sizeof(penna_stub) + offsetof(penna_stub, target));
  penna_patch patch{};
  patch.address = slot;
  patch.kind = PENNA_PATCH_IMPORT;
  patch.stub = stub->code;
  patch.name = plan->add_name(site.name);
  patch.version = site.version.empty() ? UINT32_MAX : plan->add_name(site.version);
  return patch;
}

template <typename Module>
void add_module(Plan* plan, const penna_patch_question& question, const Module& module) {
  NearMemory near(question.near, question.near_bytes, question.enter);
  penna_near result{};
  result.first = static_cast<uint32_t>(plan->patches.size());
  result.offset = static_cast<uint32_t>(plan->code.size());
  const auto add = [&](uint64_t address, const std::optional<penna_patch>& patch) {
    if (patch && address >= question.start && address < question.end) plan->patches.push_back(*patch);
  };
  if (near.has_room(0)) {
    for (const CallSite& site : module.sites) {
      const uint64_t place = site.place + question.bias;
      add(place, site.kind == CallSiteKind::kSled ? patch_sled(site, place, near) : patch_nops(site, place, near));
    }
    for (const ImportSite& site : module.imports)
      add(site.slot + question.bias, patch_import(site, site.slot + question.bias, near, plan));
  }
  result.patches = static_cast<uint32_t>(plan->patches.size()) - result.first;
  if (result.patches != 0) {
    result.bytes = static_cast<uint32_t>(near.bytes().size());
    plan->code.insert(plan->code.end(), near.bytes().begin(), near.bytes().end());
  }
  plan->nears.push_back(result);
}

// libc and the dynamic linker: what they call elsewhere is their own business, and part of how they work.
bool calls_are_its_own(const ElfFile& file) {
  const std::string name = std::filesystem::path(file.path()).filename();
  return name.rfind("libc.so", 0) == 0 || name.rfind("ld-linux", 0) == 0;
}

// Where functions begin, by the file's own symbols; sorted.
std::vector<uint64_t> functions_of(const ElfFile& file) {
  SymbolTable table;
  for (const ElfSection& section : file.sections())
    if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM) table.add(file, section);
  table.finish(file);
  std::vector<uint64_t> starts;
  for (const RawSymbol& symbol : table.functions())
    if (symbol.kind == SymbolKind::kFunction) starts.push_back(symbol.start);
  return starts;
}

}  // namespace

PatchPlanner::PatchPlanner(PatchWishes wishes) : wishes_(std::move(wishes)) {}
PatchPlanner::~PatchPlanner() = default;

const PatchPlanner::Module& PatchPlanner::module_of(const penna_patch_question& question, const std::string& root) {
  const std::string path(question.path, std::min<size_t>(question.path_bytes, sizeof question.path));
  const BuildId build_id(question.build_id, question.build_id + std::min<size_t>(question.build_id_bytes, 32));
  const std::string key = path + '\0' + std::string(build_id.begin(), build_id.end());
  if (auto known = modules_.find(key); known != modules_.end() && !build_id.empty()) return *known->second;
  auto module = std::make_unique<Module>();
  if (auto file = ElfFile::open(root + path); file && file->build_id() == build_id)
    read_module(*file, path, module.get());
  return *(modules_[key] = std::move(module));
}

void PatchPlanner::read_module(const ElfFile& file, const std::string& path, Module* module) {
  CallSites found = find_call_sites(file, functions_of(file));
  if (wishes_.wanted && !found.sites.empty()) {
    auto names = SymbolFile::open({path, file.build_id()}, {});
    const auto unwanted = [&](const CallSite& site) {
      const auto symbol = names ? (*names)->find(site.function) : std::nullopt;
      return !wishes_.wanted(symbol ? std::string(symbol->name) : std::string(), path);
    };
    std::erase_if(found.sites, unwanted);
  }
  module->sites = std::move(found.sites);
  if (!wishes_.libcalls || calls_are_its_own(file)) return;
  module->imports = find_import_sites(file);
  if (wishes_.wanted)
    std::erase_if(module->imports,
                  [&](const ImportSite& site) { return !wishes_.wanted(demangle(site.name, Demangle::kFull), path); });
}

std::vector<uint8_t> PatchPlanner::answer(std::span<const penna_patch_question> questions, const std::string& root) {
  Plan plan;
  for (const penna_patch_question& question : questions) {
    add_module(&plan, question, module_of(question, root));
  }
  return plan.encode();
}

}  // namespace penna
