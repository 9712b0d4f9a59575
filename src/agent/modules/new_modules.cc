// SPDX-License-Identifier: MIT
// See new_modules.h.
#include "agent/modules/new_modules.h"

#include <dlfcn.h>
#include <errno.h>

#include "agent/core/patience.h"
#include "agent/core/text.h"
#include "agent/modules/linker_turns.h"
#include "agent/modules/loader.h"
#include "agent/modules/real.h"
#include "agent/modules/scopes.h"

namespace penna::agent {
namespace {

bool left;  // some module was left to another thread

constexpr size_t kMaxName = 1024;

// The linker's own name of the module, by which it finds it again even if the file is gone.
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

}  // namespace

bool ModulePin::pin(const ModuleFacts& module) {
  char name[kMaxName];
  handle_ = nullptr;
  if (module.stays) return true;
  if (!copy_name(module, name)) return false;
  const int error = errno;
  handle_ = real.dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  errno = error;
  if (handle_ == nullptr) return false;
  // Another module of this name may have replaced it.
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

// Pinned first: a holder of the dynamic linker's lock must not wait for a visit that waits for this lock.
NewModules::NewModules(ModuleVisitor visitor, void* opened) : visitor_(visitor) {
  const OpenedScope scope(opened);
  const LinkerTurn turn;
  for (uint32_t slot = 0; count_ < kMost && next_module_unvisited(visitor, &slot, &facts_[count_]); ++slot) {
    ModulePin& pin = pins_[count_];
    const bool is_opened = !facts_[count_].stays && scope.holds_any(facts_[count_].start, facts_[count_].end);
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
  for (uint32_t i = 0; i < count_; ++i) pins_[i].unpin();  // last: it may run destructors
}

bool wait_for_visits(ModuleVisitor visitor, void* opened) {
  const auto any = [](const ModuleFacts&, const void*) { return true; };
  if (!is_visited_now(visitor, any, nullptr)) return true;
  if (opened == nullptr) return within_a_second([&] { return !is_visited_now(visitor, any, nullptr); });
  const OpenedScope scope(opened);
  const auto is_in_scope = [](const ModuleFacts& module, const void* of) {
    return static_cast<const OpenedScope*>(of)->holds_any(module.start, module.end);
  };
  return within_a_second([&] { return !is_visited_now(visitor, is_in_scope, &scope); });
}

}  // namespace penna::agent
