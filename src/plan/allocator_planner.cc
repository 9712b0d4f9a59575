// SPDX-License-Identifier: MIT
// See patch_planner.h: the plans for allocators.
//
// Why all of an allocator's functions or none: otherwise allocations would be seen without their frees.
// Invariant: a function that is neither entered nor works through one that is, is named among the refused.
#include <algorithm>
#include <cstring>

#include "plan/file_to_enter.h"
#include "plan/patch_planner.h"
#include "plan/plan_parts.h"

namespace penna {

std::optional<penna_patch> patch_instead(const DetourSite& site, uint64_t bias, NearMemory* near) {
  if (!near->has_entrance()) return {};
  const auto moved = move_beginning(site, bias, near);
  const auto jump = jump_from(in_target(site.place, bias), near->entrance());
  if (!moved || !jump) return {};
  penna_patch patch = code_patch(in_target(site.place, bias), site.code, *jump, jump->size());
  patch.kind = PENNA_PATCH_INSTEAD;
  patch.stub = moved->number();
  return patch;
}

namespace {

bool is_operator(const std::string& symbol) { return symbol.starts_with("_Z"); }
// An optional function: freeing its blocks does not depend on it, so the others may be entered without it.
bool is_optional(const std::string& symbol) {
  return symbol == "strdup" || symbol == "strndup" || symbol.starts_with("moz_arena_") || only_controls(symbol);
}

// Whether it ends blocks, which then seem to stay. A function whose blocks are freed by others, like strdup, is only
// missing itself.
bool ends_blocks(const std::string& symbol) {
  return takes_blocks(symbol) || only_controls(symbol) || symbol.find("realloc") != symbol.npos;
}

// A question about a function that the allocator has.
struct Entry {
  const penna_patch_question* question;
  std::string symbol;
  const AllocatorFunction* function;
  NearMemory near;
  const char* refusal;  // of one without a patch
  std::optional<penna_patch> patch = {};
};
using Entries = std::vector<Entry>;  // in the order of the questions

Entry look_at(const penna_patch_question& question, const AllocatorFunctions::value_type& found) {
  const char* const unless = why_not_now(question);
  Entry entry{&question, found.first, &found.second, near_memory_of(question, question.instead), unless};
  if (unless == nullptr) entry.refusal = found.second.offer.refusal;
  if (entry.refusal != nullptr) return entry;
  entry.patch = patch_instead(*found.second.offer.site, question.bias, &entry.near);
  if (!entry.patch) entry.refusal = kOutOfReach;
  return entry;
}

// Whether a function that cannot be entered continues, by jumps only, to one that is. Then that one reports everything.
bool is_reported_elsewhere(const Entry& entry, const Entries& entries) {
  constexpr int kMostJumps = 8;
  uint64_t at = entry.function->continues_at;
  for (int i = 0; at != 0 && i < kMostJumps; ++i) {
    uint64_t next = 0;
    for (const Entry& other : entries) {
      if (other.function->start != at) continue;
      if (other.patch) return true;
      next = other.function->continues_at;
    }
    at = next;
  }
  return false;
}

// The first of the operators, or of the others, that cannot do without a detour; null: there is none.
const Entry* first_refused(const Entries& entries, bool of_operators) {
  for (const Entry& entry : entries)
    if (entry.refusal != nullptr && is_operator(entry.symbol) == of_operators && !is_optional(entry.symbol) &&
        !is_reported_elsewhere(entry, entries))
      return &entry;
  return nullptr;
}

void leave_out(Entries& entries, bool operators) {
  for (Entry& entry : entries)
    if (is_operator(entry.symbol) == operators) entry.patch.reset();
}

}  // namespace

const AllocatorFunctions& PatchPlanner::allocator_of(const penna_patch_question& question,
                                                     const std::set<std::string>& names, const std::string& root) {
  const std::string path = path_of(question);
  const bool asks_first = question.unless == PENNA_UNLESS_FOUND;
  auto [known, is_new] = allocators_.try_emplace(key_of(question) + (asks_first                   ? "first"
                                                                     : names.count("malloc") != 0 ? "all"
                                                                                                  : "some"));
  if (!is_new && question.build_id_bytes != 0) return known->second;
  if (const auto entered = file_to_enter(question, root)) {
    const ElfFile& file = entered->file;
    known->second = asks_first
                        ? find_named(file, names)
                        : find_allocator(file, names, [&]() -> const DetourFinder& { return entered->finder(); });
    keep(question, entered);
    if (!has_changed(file, path)) return known->second;
  }
  known->second.clear();
  refuse_allocator(path, {}, "its file was removed or replaced", RefusedFunction::kAllocatorUnknown, false);
  return known->second;
}

void PatchPlanner::refuse_allocator(const std::string& path, const std::string& function, const char* reason,
                                    RefusedFunction::What what, bool half) {
  if (refused_pointers_.insert(path + '\0' + function + '\0' + std::to_string(what)).second)
    refused_.push_back({function, path, reason, what, {}, half});
}

// Questions about one module, for an allocator's functions: all C functions that it has or none, and the same for its
// operators; except those that are optional (is_optional()). Returns how many questions they were.
size_t PatchPlanner::add_allocator(PatchPlan* plan, std::span<const penna_patch_question> questions,
                                   const std::string& root) {
  size_t count = 0;
  std::set<std::string> names;
  const penna_patch_question& first = questions[0];
  while (count < questions.size() && questions[count].instead != 0 && questions[count].start == first.start)
    names.insert(symbol_of(questions[count++]));
  const AllocatorFunctions& functions = allocator_of(first, names, root);
  if (first.unless == PENNA_UNLESS_FOUND) {
    if (!functions.empty()) plan->add_name(functions.begin()->first);
    for (const penna_patch_question& question : questions.first(count)) PlanAnswer(plan, question).finish();
    return count;
  }
  Entries entries;
  for (const penna_patch_question& question : questions.first(count))
    if (const auto found = functions.find(symbol_of(question)); found != functions.end())
      entries.push_back(look_at(question, *found));

  // What an operator does may be reported by malloc, to which it continues by a jump, or the reverse. So when one half
  // is left out, the other is checked once more without it; a third round would change nothing.
  const Entry* refused[2] = {};
  for (int round = 0; round < 2; ++round)
    for (const bool of_operators : {false, true})
      if ((refused[of_operators] = first_refused(entries, of_operators)) != nullptr) leave_out(entries, of_operators);
  const bool reached_through_ours = names.count("malloc") == 0;
  const bool half = reached_through_ours ||
                    std::any_of(entries.begin(), entries.end(), [](const Entry& one) { return one.patch.has_value(); });
  const std::string path = path_of(first);
  for (const Entry* one : refused)
    if (one != nullptr) refuse_allocator(path, one->symbol, one->refusal, RefusedFunction::kAllocator, half);
  for (const Entry& one : entries)
    if (one.refusal != nullptr && is_optional(one.symbol) && !is_reported_elsewhere(one, entries))
      refuse_allocator(path, one.symbol, one.refusal, RefusedFunction::kAllocatorFunction, ends_blocks(one.symbol));

  auto entry = entries.begin();
  for (const penna_patch_question& question : questions.first(count)) {
    PlanAnswer answer(plan, question);
    if (entry != entries.end() && entry->question == &question) {
      if (entry->patch) {
        answer.near = entry->near;
        answer.add(entry->patch->address, entry->patch);
        note_entered(root, entry->patch);
      }
      ++entry;
    }
    answer.finish();
  }
  return count;
}

}  // namespace penna
