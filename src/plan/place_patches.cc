// SPDX-License-Identifier: MIT
// See place_patches.h.
#include "plan/place_patches.h"

#include <cstddef>

#include "plan/plan_parts.h"

namespace penna {
namespace {

// Nops where a function begins: a call of the hook takes the place of the first.
std::optional<penna_patch> patch_nops(const CallSite& site, CodePtr place, const NearMemory& near) {
  const auto call = call_from(place, near.entrance());
  if (!call) return {};
  return code_patch(place, site.before, *call, call->size());
}

// A sled jumps over its nops: there goes the call, and then the jump becomes a nop.
std::optional<penna_patch> patch_sled(const CallSite& site, CodePtr place, const NearMemory& near) {
  const auto call = sled_call_from(place, near.entrance());
  if (!call) return {};
  return code_patch(place, site.before, *call, kSledHead.size());
}

// penna_stub::target, which the target fills once it has read what the pointer held.
CodePtr word_of_stub(const NearMemory::Stub& stub) {
  return stub.code - static_cast<int64_t>(sizeof(penna_stub) - offsetof(penna_stub, target));
}

// A stub that calls the hook and jumps on to whatever the pointer held.
std::optional<penna_patch> patch_pointer(const ImportSite& site, CodePtr slot, NearMemory& near, PatchPlan* plan) {
  const auto stub = near.begin_stub(CodePtr(), kJumpThroughBytes);
  if (!stub) return {};
  near.append_jump_through(word_of_stub(*stub));
  penna_patch patch{};
  patch.address = slot.number();
  patch.kind = PENNA_PATCH_IMPORT;
  patch.stub = stub->code.number();
  patch.name = plan->add_name(site.name);
  patch.version = site.version.empty() ? UINT32_MAX : plan->add_name(site.version);
  return patch;
}

// The same for a pointer that must stay: the jump through it leads to the stub, and the stub continues through the
// pointer.
std::optional<penna_patch> patch_jump_through(const ImportSite& site, uint64_t bias, NearMemory& near,
                                              PatchPlan* plan) {
  const CodePtr entry = in_target(site.entry, bias);
  const auto stub = near.begin_stub(CodePtr(), kJumpThroughBytes);
  if (!stub) return {};
  near.append_jump_through(in_target(site.slot, bias));
  const auto jump = jump_from(entry, stub->code);
  if (!jump) return {};
  const auto before = jump_through_from(entry, in_target(site.slot, bias));
  penna_patch patch = code_patch(entry, before, *jump, jump->size());
  patch.stub = stub->code.number();
  patch.name = plan->add_name(site.name);
  patch.version = site.version.empty() ? UINT32_MAX : plan->add_name(site.version);
  return patch;
}

}  // namespace

std::optional<penna_patch> patch_call_site(const CallSite& site, uint64_t bias, const NearMemory& near) {
  const CodePtr place = in_target(site.place, bias);
  return site.kind == CallSiteKind::kSled ? patch_sled(site, place, near) : patch_nops(site, place, near);
}

std::optional<penna_patch> patch_detour(const DetourSite& site, uint64_t bias, NearMemory* near) {
  const auto jump = write_detour(site, bias, near);
  if (!jump) return {};
  return code_patch(in_target(site.place, bias), site.code, *jump, jump->size());
}

std::optional<penna_patch> patch_import(const ImportSite& site, uint64_t bias, NearMemory* near, PatchPlan* plan) {
  return site.entry != 0 ? patch_jump_through(site, bias, *near, plan)
                         : patch_pointer(site, in_target(site.slot, bias), *near, plan);
}

}  // namespace penna
