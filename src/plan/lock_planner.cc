// SPDX-License-Identifier: MIT
// See patch_planner.h: the plans for functions of locks.
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/nearest_name.h"
#include "plan/patch_planner.h"
#include "plan/plan_parts.h"
#include "symbols/demangle.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

// What is compared with a wrong name: that alone, unless it has a scope, too.
std::string_view in_scope_of(std::string_view name, std::string_view wanted) {
  const size_t colons = wanted.find("::") == std::string_view::npos ? name.rfind("::") : std::string_view::npos;
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

// The jump leads to a push of the number, and a jump to the hook.
std::optional<penna_patch> patch_lock(const LockFunction& function, uint64_t bias, uint32_t number, NearMemory* near) {
  constexpr size_t kPushAndJump = 2 * kBranchBytes;
  if (!near->has_entrance() || !near->has_room(kPushAndJump)) return {};
  const CodePtr stub = near->end();
  near->append_push(number);
  if (!near->append_jump(near->entrance())) return {};
  const DetourSite& site = function.site;
  const auto moved = move_beginning(site, bias, near);
  const auto jump = jump_from(in_target(site.place, bias), stub);
  if (!moved || !jump) return {};
  penna_patch patch = code_patch(in_target(site.place, bias), site.code, *jump, jump->size());
  patch.kind = PENNA_PATCH_LOCK;
  patch.stub = moved->number();
  patch.role = static_cast<uint8_t>(function.role);
  patch.sync = static_cast<uint8_t>(function.sync);
  patch.answer = static_cast<uint8_t>(function.answer);
  patch.subject = static_cast<uint8_t>(function.subject);
  patch.name = number;
  patch.version = UINT32_MAX;
  return patch;
}

bool is_libc(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  return name.starts_with("libc.so") || name.starts_with("libpthread.so") || name.starts_with("ld-linux");
}

}  // namespace

const LockFunctions& PatchPlanner::locks_of(const penna_patch_question& question, const std::string& root) {
  const std::string path = path_of(question);
  auto [known, is_new] = locks_.try_emplace(key_of(question));
  if (!is_new && question.build_id_bytes != 0) return known->second;
  known->second = {};
  if (is_libc(path)) return known->second;
  const auto file = open_file(question, root);
  if (!file) return known->second;
  const auto prepared = [&] { return beginnings_of(*file, question, root); };
  known->second = find_lock_functions(*file, question.function != 0, requests_.own_locks, prepared);
  if (has_changed(*file, path)) known->second = {};
  if (!is_new) return known->second;
  for (const RefusedLock& one : known->second.refused)
    refused_.push_back({one.function, path, one.reason, RefusedFunction::kLock, one.lock});
  met_locks_.insert(known->second.own.begin(), known->second.own.end());
  return known->second;
}

// Each lock is named once per file, by any of its functions.
void PatchPlanner::refuse_locks(const std::string& path, const LockFunctions& locks, const char* reason) {
  for (const LockFunction& one : locks.found)
    if (refused_pointers_.insert(path + '\0' + one.lock).second)
      refused_.push_back({one.name, path, reason, RefusedFunction::kLock, one.lock});
}

void PatchPlanner::note_timed_locks(const std::string& path, const LockFunctions& locks) {
  if (!noted_locks_.insert(path).second) return;
  for (const LockFunction& one : locks.found)
    if (one.role == PENNA_LOCK_TAKES && one.tried_by < 0) timed_locks_.push_back({one.name, path});
}

// All functions of locks in one module, or none; `*used` numbers are already in use.
void PatchPlanner::add_locks(PatchPlan* plan, const penna_patch_question& question, const std::string& root,
                             uint32_t* used) {
  asked_about_locks_ = true;
  const LockFunctions& locks = locks_of(question, root);
  // The target offers a range of numbers, which all questions of one request share.
  const uint32_t first = question.first_number + *used;
  PlanAnswer answer(plan, question);
  answer.near = near_memory_of(question, question.instead);
  std::vector<penna_patch> patches;
  const char* reason = why_not_now(question);
  if (reason == nullptr && locks.found.size() + *used > question.numbers)
    reason = "exceeds the number of lock functions";
  for (size_t i = 0; reason == nullptr && i < locks.found.size(); ++i) {
    const LockFunction& one = locks.found[i];
    auto patch = patch_lock(one, question.bias, first + static_cast<uint32_t>(i), &answer.near);
    if (!patch) reason = kOutOfReach;
    if (patch && one.tried_by >= 0) patch->version = first + static_cast<uint32_t>(one.tried_by);
    if (patch) patches.push_back(*patch);
  }
  // Nothing is added before all have their patch: half of a lock's functions would show locks that are never released.
  if (reason != nullptr) {
    refuse_locks(path_of(question), locks, reason);
  } else {
    for (const penna_patch& patch : patches) answer.add(patch.address, patch);
    *used += static_cast<uint32_t>(patches.size());
    note_timed_locks(path_of(question), locks);
  }
  answer.finish();
}

std::vector<PatchPlanner::UnmetLock> PatchPlanner::unmet_locks() const {
  std::vector<UnmetLock> unmet;
  std::vector<NearestName> wanted;
  for (size_t i = 0; i < requests_.own_locks.size(); ++i) {
    if (met_locks_.count(i) != 0) continue;
    unmet.push_back({requests_.own_locks[i].text, ""});
    wanted.emplace_back(requests_.own_locks[i].takes.text);
  }
  if (unmet.empty()) return unmet;
  for (const auto& [key, functions] : locks_) {
    const size_t end = key.find('\0');  // key_of(): path, build-id
    const auto symbols = SymbolFile::open({key.substr(0, end), BuildId(key.begin() + end + 1, key.end())}, {});
    if (!symbols) continue;
    for (const Symbol& symbol : (*symbols)->functions()) {
      const std::string name = simple_name(symbol.name);
      for (NearestName& one : wanted) one.see(in_scope_of(name, one.pattern()));
    }
  }
  for (size_t i = 0; i < unmet.size(); ++i) unmet[i].near = wanted[i].name();
  return unmet;
}

}  // namespace penna
