// SPDX-License-Identifier: MIT
// See loader.h.
#include "agent/loader.h"

#include <dlfcn.h>
#include <errno.h>

#include "agent/dynamic_symbols.h"
#include "agent/linker_turns.h"
#include "agent/patience.h"
#include "agent/text.h"

namespace penna::agent {
namespace {

constexpr size_t kMaxName = 1024;

// The linker's own name of the module, by which it finds it again even where the file is gone.
bool copy_name(const ModuleFacts& module, char (&name)[kMaxName]) {
  bool copied = false;
  hold_modules([&] {
    dl_find_object found;
    if (_dl_find_object(reinterpret_cast<void*>(module.start), &found) != 0) return;
    const size_t bytes = text_length(found.dlfo_link_map->l_name) + 1;
    copied = bytes > 1 && bytes <= kMaxName;
    if (copied) __builtin_memcpy(name, found.dlfo_link_map->l_name, bytes);
  });
  return copied;
}

// Calls visit(name) for the entries of one tag: DT_NEEDED, DT_SONAME.
template <typename Visit>
void for_each_name(const link_map& map, long tag, Visit&& visit) {
  uintptr_t names = 0;
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB) names = address_of(map, *entry);
  for (const ElfW(Dyn)* entry = map.l_ld; names != 0 && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) visit(reinterpret_cast<const char*>(names + entry->d_un.d_val));
}

bool is_same(const char* one, const char* other) { return text_begins(one, other, text_length(other) + 1); }

bool goes_by(const link_map& map, const char* needed) {
  bool same = is_same(map.l_name, needed) || is_same(file_name(map.l_name), needed);
  for_each_name(map, DT_SONAME, [&](const char* name) { same |= is_same(name, needed); });
  return same;
}

bool left;  // a module to another thread

const link_map* module_named(const char* needed) {
  const link_map* found = nullptr;
  walk_modules([&](const link_map& map) {
    if (map.l_ld != nullptr && goes_by(map, needed)) found = &map;
    return found == nullptr;
  });
  return found;
}

}  // namespace

OpenedScope::OpenedScope(void* opened) {
  if (opened == nullptr) return;
  const auto add = [this](const link_map* map) {
    const auto dynamic = map != nullptr ? reinterpret_cast<uintptr_t>(map->l_ld) : 0;
    for (uint32_t i = 0; i < count_; ++i)
      if (dynamic_[i] == dynamic) return;
    if (dynamic != 0 && count_ < kMost) dynamic_[count_++] = dynamic;
  };
  hold_modules([&] {
    add(static_cast<const link_map*>(opened));
    for (uint32_t i = 0; i < count_; ++i) {
      dl_find_object found;
      if (_dl_find_object(reinterpret_cast<void*>(dynamic_[i]), &found) == 0)
        for_each_name(*found.dlfo_link_map, DT_NEEDED, [&](const char* needed) { add(module_named(needed)); });
    }
  });
}

bool OpenedScope::holds(const ModuleFacts& module) const {
  for (uint32_t i = 0; i < count_; ++i)
    if (module.holds(dynamic_[i])) return true;
  return false;
}

bool ModulePin::pin(const ModuleFacts& module) {
  char name[kMaxName];
  handle_ = nullptr;
  if (module.stays) return true;
  if (!copy_name(module, name)) return false;
  const int error = errno;
  handle_ = real.dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  errno = error;
  if (handle_ == nullptr) return false;
  // Another one of this name may have taken its place.
  if (static_cast<const link_map*>(handle_)->l_addr == module.bias) return true;
  unpin();
  return false;
}

void ModulePin::unpin() {
  if (handle_ != nullptr) close_in_turn(handle_);
  handle_ = nullptr;
}

bool modules_were_left() {
  return __atomic_load_n(&left, __ATOMIC_RELAXED) && __atomic_exchange_n(&left, false, __ATOMIC_RELAXED);
}

// Pinned first: who holds the dynamic linker's lock does not wait for a visit that waits for this lock.
NewModules::NewModules(ModuleVisitor visitor, void* opened) : visitor_(visitor) {
  const OpenedScope scope(opened);
  const LinkerTurn turn;
  for (uint32_t slot = 0; count_ < kMost && next_module_unvisited(visitor, &slot, &facts_[count_]); ++slot) {
    ModulePin& pin = pins_[count_];
    const bool is_opened = !facts_[count_].stays && scope.holds(facts_[count_]);
    if (!is_opened && !facts_[count_].stays && !turn) {
      __atomic_store_n(&left, true, __ATOMIC_RELAXED);
      continue;
    }
    if (!is_opened && !pin.pin(facts_[count_])) continue;
    handles_[count_] = is_opened ? opened : pin.handle();
    if (begin_visit(visitor, slot))
      slots_[count_++] = slot;
    else
      pin.unpin();
  }
}

NewModules::~NewModules() {
  for (uint32_t i = 0; i < count_; ++i) end_visit(visitor_, slots_[i]);
  for (uint32_t i = 0; i < count_; ++i) pins_[i].unpin();  // the last: it may run destructors
}

bool wait_for_visits(ModuleVisitor visitor, void* opened) {
  const auto any = [](const ModuleFacts&, const void*) { return true; };
  if (!is_visited_now(visitor, any, nullptr)) return true;
  if (opened == nullptr) return within_a_second([&] { return !is_visited_now(visitor, any, nullptr); });
  const OpenedScope scope(opened);
  const auto is_in_scope = [](const ModuleFacts& module, const void* of) {
    return static_cast<const OpenedScope*>(of)->holds(module);
  };
  return within_a_second([&] { return !is_visited_now(visitor, is_in_scope, &scope); });
}

}  // namespace penna::agent
