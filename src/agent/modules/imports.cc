// SPDX-License-Identifier: MIT
// See imports.h.
#include "agent/modules/imports.h"

#include <sys/mman.h>

#include "agent/core/attachment.h"
#include "agent/core/pages.h"
#include "agent/core/sys.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"

namespace penna::agent {
namespace {

bool lies_in(uintptr_t address, uintptr_t start, uintptr_t end) { return address - start < end - start; }

// In a program that is not position independent, the address of an imported function is an entry of the program's
// linkage table, which would lead back to the stub. This returns what that entry leads to, which may be a hook; 0 if
// only its resolver knows.
uintptr_t behind_linkage_table(uintptr_t target, const char* name, const char* version) {
  const link_map* map = map_of(target);
  if (map == nullptr || map->l_name[0] != '\0' || DynamicSymbols(*map).find(name).address != 0) return target;
  const DynamicSymbols::Found found = BindingScope(target, nullptr).find(name, version);
  return found.is_resolver ? 0 : found.address;
}

// The function by the name that users know: the name of an ifunc, not of the chosen implementation; and not the hook
// that precedes it.
uintptr_t function_behind(uintptr_t target, const char* name) {
  const link_map* map = map_of(target);
  if (map == nullptr) return target;
  const uintptr_t known = is_ours(map) ? first_definition(name).address : DynamicSymbols(*map).find(name).address;
  return known != 0 ? known : target;
}

uintptr_t* pointer_of(const penna_patch& patch, const penna_patch_question& question) {
  const bool inside = lies_in(patch.address, question.start, question.end) && patch.address % sizeof(uintptr_t) == 0;
  return inside ? reinterpret_cast<uintptr_t*>(patch.address) : nullptr;
}

penna_stub* stub_of(const penna_patch& patch, const penna_patch_question& question) {
  const bool inside = lies_in(patch.stub - sizeof(penna_stub), question.near, question.near + question.near_bytes);
  return inside ? reinterpret_cast<penna_stub*>(patch.stub) - 1 : nullptr;
}

}  // namespace

void prepare_import(const penna_patch& patch, const penna_patch_question& question, const char* name,
                    const char* version, const BindingScope& scope) {
  const uintptr_t* pointer = patch.kind == PENNA_PATCH_IMPORT ? pointer_of(patch, question) : nullptr;
  penna_stub* stub = stub_of(patch, question);
  if (stub == nullptr || name == nullptr) return;
  // Not bound yet: it still points into the module's own linkage table.
  const bool unresolved = pointer == nullptr || *pointer == 0 || lies_in(*pointer, question.start, question.end);
  const uintptr_t target =
      unresolved ? resolved(scope.find(name, version)) : behind_linkage_table(*pointer, name, version);
  if (target == 0) return;
  stub->function = function_behind(target, name);
  stub->target = target;
}

bool write_pointer(uintptr_t module_start, uintptr_t pointer, uintptr_t value) {
  if (!note_pointer(pointer, *reinterpret_cast<const uintptr_t*>(pointer), value)) return false;
  if (holds_writes()) return true;
  const penna_elf_module elf = elf_of_module(module_start);
  const penna_elf_range sealed = penna_elf_relro(&elf);
  const bool is_sealed = lies_in(pointer, sealed.start, sealed.end);
  const auto page = static_cast<long>(page_down(pointer));
  if (is_sealed && sys_failed(sys(SYS_mprotect, page, kPageBytes, PROT_READ | PROT_WRITE))) return false;
  // Release: pairs with the processor's load order at each call.
  __atomic_store_n(reinterpret_cast<uintptr_t*>(pointer), value, __ATOMIC_RELEASE);
  if (is_sealed) sys(SYS_mprotect, page, kPageBytes, PROT_READ);
  return true;
}

bool switch_import(const penna_patch& patch, const penna_patch_question& question) {
  const penna_stub* stub = stub_of(patch, question);
  if (pointer_of(patch, question) == nullptr || stub == nullptr || stub->target == 0) return false;
  return write_pointer(question.start, patch.address, patch.stub);
}

}  // namespace penna::agent
