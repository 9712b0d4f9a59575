// SPDX-License-Identifier: MIT
// What a guardian gets before it starts. Invariant: none.
#pragma once

#include <functional>
#include <string>

namespace penna {

// Whether calls of a function are recorded, by its demangled name and its file.
using WantedFunctions = std::function<bool(const std::string& name, const std::string& file)>;

struct GuardianPlan {
  std::string socket_path;  // of the recorder
  WantedFunctions wanted;   // functions whose calls are recorded; empty: none
  WantedFunctions also;     // further ones that filters must see; likewise
};

}  // namespace penna
