// SPDX-License-Identifier: MIT
// See deep_binding.h. A module's pointers are those that its relocations name: in its linkage table, which the dynamic
// linker may fill at the first call only, and in its data.
#include "agent/modules/deep_binding.h"

#include <elf.h>
#include <link.h>

#include "agent/calls/gprof.h"
#include "agent/core/arch.h"
#include "agent/core/text.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/imports.h"
#include "agent/modules/loader.h"
#include "agent/modules/new_modules.h"
#include "agent/modules/real.h"
#include "agent/modules/scopes.h"

namespace penna::agent {
namespace {

// What is redirected to the agent.
enum Led : uint32_t { kNothing, kDeepBinding, kCallHooks, kModuleEnds };
uint32_t expected;              // one of the first three
uint32_t module_ends_expected;  // 1: these, too

struct Relocations {
  const ElfW(Rela) * first = nullptr;
  size_t bytes = 0;
  const ElfW(Rela) * begin() const { return first; }
  const ElfW(Rela) * end() const { return first + (first != nullptr ? bytes / sizeof *first : 0); }
};

// The names and pointers of a module.
struct Bindings {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  Relocations data, calls;

  explicit Bindings(const link_map& map) {
    for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
      const uintptr_t address = address_of(map, *entry);
      switch (entry->d_tag) {
        case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(address); break;
        case DT_STRTAB: names = reinterpret_cast<const char*>(address); break;
        case DT_RELA: data.first = reinterpret_cast<const ElfW(Rela)*>(address); break;
        case DT_RELASZ: data.bytes = entry->d_un.d_val; break;
        case DT_JMPREL: calls.first = reinterpret_cast<const ElfW(Rela)*>(address); break;
        case DT_PLTRELSZ: calls.bytes = entry->d_un.d_val; break;
        default: break;
      }
    }
  }
};

bool is_pointer(const ElfW(Rela) & relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == kJumpSlot || type == kGlobDat || (type == kWord && relocation.r_addend == 0);
}

bool is_text(const char* name, const char* other) { return text_begins(name, other, text_length(other) + 1); }

// Called by compiler-generated code: known by name, and in libc too short to be patched.
bool is_call_hook(const char* name) {
  constexpr const char* kHooks[] = {"__cyg_profile_func_enter", "__cyg_profile_func_exit", "__fentry__", "mcount",
                                    "_mcount"};
  for (const char* hook : kHooks)
    if (is_text(name, hook)) return true;
  return false;
}

// Called by the destructor of a module with points, if it exists.
bool is_module_end(const char* name) { return is_text(name, "penna_agent_module_unloaded"); }

// Whether the pointer that was bound to `name` is to be redirected.
bool is_expected(uint32_t what, const char* name) {
  return what == kDeepBinding || (what == kCallHooks ? is_call_hook(name) : is_module_end(name));
}

uintptr_t next_definition_after_agent(const char* name) {
  if (loaded_late) return DynamicSymbols(*libc_map()).find(name).address;
  return reinterpret_cast<uintptr_t>(next_definition(name));
}

// True if any of its calls leads to the agent now.
bool lead_to_ours(const ModuleFacts& module, const link_map& map, void* handle, uint32_t what) {
  const DynamicSymbols ours(*our_map());
  const Bindings bindings(map);
  const BindingScope scope(module.start, handle);
  bool any = false;
  if (bindings.symbols == nullptr || bindings.names == nullptr) return false;
  const auto lead = [&](const ElfW(Rela) & relocation) {
    const ElfW(Sym)& symbol = bindings.symbols[ELF64_R_SYM(relocation.r_info)];
    const char* const name = bindings.names + symbol.st_name;
    if (!is_pointer(relocation) || symbol.st_shndx != SHN_UNDEF || !is_expected(what, name)) return;
    const uintptr_t mine = ours.find(name).address, pointer = module.bias + relocation.r_offset;
    if (mine == 0 || !module.holds(pointer)) return;
    const uintptr_t now = *reinterpret_cast<const uintptr_t*>(pointer);
    if (now == mine) return;
    if (now == 0 && is_module_end(name)) return (void)write_pointer(module.start, pointer, mine);
    const uintptr_t theirs = next_definition_after_agent(name);
    const bool is_filled = !module.holds(now);
    if (theirs != 0 && theirs == (is_filled ? now : scope.find(name, nullptr).address))
      any |= write_pointer(module.start, pointer, mine);
  };
  for (const ElfW(Rela) & relocation : bindings.data) lead(relocation);
  for (const ElfW(Rela) & relocation : bindings.calls) lead(relocation);
  return any;
}

void lead_new_modules(ModuleVisitor visitor, void* opened, uint32_t what) {
  find_new_modules();
  visit_new_modules(visitor, opened, [what](const NewModules& modules) {
    bool any = false;
    for (uint32_t i = 0; i < modules.count(); ++i) {
      dl_find_object found;
      if (what == kDeepBinding && modules.handle(i) == nullptr) continue;  // no dlopen has bound it
      if (_dl_find_object(reinterpret_cast<void*>(modules[i].start), &found) == 0 && !is_ours(found.dlfo_link_map))
        any |= lead_to_ours(modules[i], *found.dlfo_link_map, modules.handle(i), what);
    }
    if (what == kCallHooks && any) begin_to_count_for_gprof();
    return true;
  });
}

}  // namespace

void expect_deep_binding() {
  if (!loaded_late) __atomic_store_n(&expected, kDeepBinding, __ATOMIC_RELAXED);
}

// Also fills lazily bound pointers that were mapped before the first such dlopen: they would get the same value later.
void redirect_deep_bindings(void* opened) {
  if (const uint32_t what = __atomic_load_n(&expected, __ATOMIC_RELAXED); what != kNothing)
    lead_new_modules(ModuleVisitor::kDeepBinding, opened, what);
}

void redirect_hooks() {
  __atomic_store_n(&expected, kCallHooks, __ATOMIC_RELAXED);
  redirect_deep_bindings(nullptr);
}

void expect_module_ends() { __atomic_store_n(&module_ends_expected, 1, __ATOMIC_RELAXED); }

void redirect_module_ends(void* opened) {
  if (__atomic_load_n(&module_ends_expected, __ATOMIC_RELAXED) != 0)
    lead_new_modules(ModuleVisitor::kModuleEnds, opened, kModuleEnds);
}

}  // namespace penna::agent
