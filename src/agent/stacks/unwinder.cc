// SPDX-License-Identifier: MIT
// See unwinder.h.
#include "agent/stacks/unwinder.h"

#include <dlfcn.h>

#include <type_traits>

#include "agent/modules/dynamic_symbols.h"

namespace penna::agent {

bool find_unwinder(uintptr_t caller, Unwinder* found) {
  dl_find_object module;
  if (_dl_find_object(reinterpret_cast<void*>(caller), &module) != 0) return false;
  const DynamicSymbols symbols(*module.dlfo_link_map);
  const auto find = [&symbols](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(symbols.find(name).address);
    return *function != nullptr;
  };
  return find("_Unwind_GetIP", &found->get_ip) && find("_Unwind_SetIP", &found->set_ip) &&
         find("_Unwind_SetGR", &found->set_register) && find("_Unwind_Resume", &found->resume);
}

}  // namespace penna::agent
