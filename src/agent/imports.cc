// SPDX-License-Identifier: MIT
// See imports.h.
#include "agent/imports.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include "agent/dynamic_symbols.h"
#include "agent/sites.h"
#include "agent/sys.h"

extern "C" void penna_call_enter();

namespace penna::agent {
namespace {

constexpr uintptr_t kPage = 4096;

bool lies_in(uintptr_t address, uintptr_t start, uintptr_t end) { return address - start < end - start; }

const link_map* map_of(uintptr_t address) {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

// What the dynamic linker would find at the first call.
uintptr_t look_up(const char* name, const char* version) {
  if (version != nullptr)
    if (void* found = dlvsym(RTLD_DEFAULT, name, version)) return reinterpret_cast<uintptr_t>(found);
  return reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, name));
}

// The function that users know: an ifunc by its own name, not by that of the form chosen; and not ours that stands in front.
uintptr_t function_behind(uintptr_t target, const char* name) {
  const link_map* ours = map_of(reinterpret_cast<uintptr_t>(&penna_call_enter));
  const link_map* map = map_of(target);
  if (map == nullptr) return target;
  if (map != ours) {
    const uintptr_t known = DynamicSymbols(*map).find(name);
    return known != 0 ? known : target;
  }
  for (const link_map* other = _r_debug.r_map; other != nullptr; other = other->l_next) {
    const uintptr_t known = other != ours ? DynamicSymbols(*other).find(name) : 0;
    if (known != 0) return known;
  }
  return target;
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
                    const char* version) {
  const uintptr_t* pointer = pointer_of(patch, question);
  penna_stub* stub = stub_of(patch, question);
  if (pointer == nullptr || stub == nullptr || name == nullptr) return;
  // Not looked up yet: it still leads back into the module's own linkage table.
  const bool unresolved = lies_in(*pointer, question.start, question.end) || *pointer == 0;
  const uintptr_t target = unresolved ? look_up(name, version) : *pointer;
  if (target == 0) return;
  stub->function = function_behind(target, name);
  stub->target = target;
}

bool switch_import(const penna_patch& patch, const penna_patch_question& question) {
  uintptr_t* pointer = pointer_of(patch, question);
  const penna_stub* stub = stub_of(patch, question);
  if (pointer == nullptr || stub == nullptr || stub->target == 0) return false;
  const penna_elf_module elf = elf_of_module(question.start);
  const penna_elf_range sealed = penna_elf_relro(&elf);
  const bool is_sealed = lies_in(patch.address, sealed.start, sealed.end);
  const auto page = static_cast<long>(patch.address & ~(kPage - 1));
  if (is_sealed && sys_failed(sys(SYS_mprotect, page, kPage, PROT_READ | PROT_WRITE))) return false;
  __atomic_store_n(pointer, patch.stub, __ATOMIC_RELEASE);  // pairs with the processor's order of loads at each call
  if (is_sealed) sys(SYS_mprotect, page, kPage, PROT_READ);
  return true;
}

}  // namespace penna::agent
