// SPDX-License-Identifier: MIT
// The parts of a plan (penna/patch_plan.h), under construction.
//
// Invariant: a PlanAnswer adds to its PatchPlan what answers one question, whole, and patches inside its module only.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penna/patch_plan.h"
#include "plan/detour.h"
#include "plan/near_memory.h"
#include "plan/patch_planner.h"
#include "symbols/elf/elf_file.h"

namespace penna {

struct PatchPlan {
  std::vector<penna_near> nears;
  std::vector<penna_patch> patches;
  std::vector<penna_capture> captures;
  std::vector<penna_value> values;
  std::vector<uint8_t> code, names;
  std::string text;  // of the captures

  uint32_t add_name(const std::string& name) {
    const auto at = static_cast<uint32_t>(names.size());
    names.insert(names.end(), name.c_str(), name.c_str() + name.size() + 1);
    return at;
  }
  // The target searches the captures.
  void sort_captures() {
    std::sort(captures.begin(), captures.end(), [](const penna_capture& a, const penna_capture& b) {
      return std::tie(a.function, a.kind) < std::tie(b.function, b.kind);
    });
  }
  // In the order of the picture in patch_plan.h: the target finds each part by the sizes of those before it.
  std::vector<uint8_t> encode() const {
    penna_patch_plan head{};
    head.magic = PENNA_PATCH_MAGIC;
    head.version = PENNA_ABI_VERSION;
    head.modules = static_cast<uint32_t>(nears.size());
    head.patches = static_cast<uint32_t>(patches.size());
    head.near_bytes = static_cast<uint32_t>(code.size());
    head.name_bytes = static_cast<uint32_t>(names.size());
    head.captures = static_cast<uint32_t>(captures.size());
    head.values = static_cast<uint32_t>(values.size());
    head.text_bytes = static_cast<uint32_t>(text.size());
    std::vector<uint8_t> bytes;
    const auto put = [&bytes](const void* from, size_t size) {
      const auto* first = static_cast<const uint8_t*>(from);
      bytes.insert(bytes.end(), first, first + size);
    };
    put(&head, sizeof head);
    put(nears.data(), nears.size() * sizeof(penna_near));
    put(patches.data(), patches.size() * sizeof(penna_patch));
    put(captures.data(), captures.size() * sizeof(penna_capture));
    put(values.data(), values.size() * sizeof(penna_value));
    put(code.data(), code.size());
    put(names.data(), names.size());
    put(text.data(), text.size());
    return bytes;
  }
};

// What the target has offered. `hook`: in the target.
inline NearMemory near_memory_of(const penna_patch_question& question, uint64_t hook) {
  return {CodePtr(question.near), question.near_bytes, CodePtr(hook)};
}

// The part of a plan that answers one question: add() patches, then it is finished.
// Each question gets exactly one, finished in the order of the questions: the target pairs them by position.
class PlanAnswer {
 public:
  PlanAnswer(PatchPlan* plan, const penna_patch_question& question)
      : near(near_memory_of(question, question.enter)), plan_(plan), question_(question) {
    result_.first = static_cast<uint32_t>(plan->patches.size());
    result_.offset = static_cast<uint32_t>(plan->code.size());
  }
  bool add(uint64_t address, const std::optional<penna_patch>& patch) {
    // Addresses come from a file that may be damaged: none outside of the module that was asked about.
    if (!patch || address < question_.start || address >= question_.end) return false;
    plan_->patches.push_back(*patch);
    return true;
  }
  void finish() {
    result_.patches = static_cast<uint32_t>(plan_->patches.size()) - result_.first;
    if (result_.patches != 0) {
      result_.bytes = static_cast<uint32_t>(near.bytes().size());
      plan_->code.insert(plan_->code.end(), near.bytes().begin(), near.bytes().end());
    }
    plan_->nears.push_back(result_);
  }
  NearMemory near;

 private:
  PatchPlan* plan_;
  const penna_patch_question& question_;
  penna_near result_{};
};

inline penna_patch code_patch(CodePtr place, std::span<const uint8_t> before, std::span<const uint8_t> after,
                              size_t head) {
  penna_patch patch{};
  patch.address = place.number();
  patch.kind = PENNA_PATCH_CODE;
  patch.bytes = static_cast<uint8_t>(after.size());
  patch.head = static_cast<uint8_t>(head);
  std::copy_n(before.begin(), after.size(), patch.before);
  std::copy(after.begin(), after.end(), patch.after);
  return patch;
}

// The agent's reason not to patch what it asks about; null: none.
inline const char* why_not_now(const penna_patch_question& question) {
  if (question.unless == PENNA_UNLESS_NOTHING) return nullptr;
  return question.unless == PENNA_UNLESS_FULL ? kTooManyAllocators : kMayRun;
}

// Questions are untrusted: counts are cut to their fields, and text need not end.
inline std::string path_of(const penna_patch_question& question) {
  return {question.path, std::min<size_t>(question.path_bytes, sizeof question.path)};
}

inline BuildId build_id_of(const penna_patch_question& question) {
  return {question.build_id, question.build_id + std::min<size_t>(question.build_id_bytes, 32)};
}

// The file as it is mapped: its path and build ID. Without a build ID nothing shows that another process maps the same.
inline std::string key_of(const penna_patch_question& question) {
  const BuildId build_id = build_id_of(question);
  return path_of(question) + '\0' + std::string(build_id.begin(), build_id.end());
}

// Redirects calls of the function to question.instead, `near` being near_memory_of(question, question.instead).
// Nothing: it is out of reach.
std::optional<penna_patch> patch_instead(const DetourSite& site, uint64_t bias, NearMemory* near);
inline constexpr char kOutOfReach[] = "refers to something out of reach";

inline std::string symbol_of(const penna_patch_question& question) {
  return {question.symbol, ::strnlen(question.symbol, sizeof question.symbol)};
}

}  // namespace penna
