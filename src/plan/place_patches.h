// SPDX-License-Identifier: MIT
// The patches that let one place of a module lead to the hook: one function for each kind of place that planners find.
//
// Invariant: a patch of code holds what the file has at its place: the target writes nothing where it finds something
// else. Nothing: near memory has no room left, or is out of reach from the place.
#pragma once

#include <cstdint>
#include <optional>

#include "penna/patch_plan.h"
#include "plan/call_sites.h"
#include "plan/detour.h"
#include "plan/import_sites.h"
#include "plan/near_memory.h"

namespace penna {

struct PatchPlan;

// `bias`: run-time address - address in the file.
std::optional<penna_patch> patch_call_site(const CallSite& site, uint64_t bias, const NearMemory& near);
std::optional<penna_patch> patch_detour(const DetourSite& site, uint64_t bias, NearMemory* near);
// The names go into the plan.
std::optional<penna_patch> patch_import(const ImportSite& site, uint64_t bias, NearMemory* near, PatchPlan* plan);

}  // namespace penna
