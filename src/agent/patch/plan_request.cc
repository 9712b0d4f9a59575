// SPDX-License-Identifier: MIT
// See plan_request.h.
#include "agent/patch/plan_request.h"

#include "agent/core/pages.h"

extern "C" void penna_call_enter();

namespace penna::agent {

uint32_t PatchLock::holder;

penna_patch_question question_about(const ModuleFacts& module, NearRoom near, uintptr_t function) {
  penna_patch_question question{};
  question.bias = module.bias;
  question.start = module.start;
  question.end = module.end;
  question.near = near.start;
  question.near_bytes = near.bytes;
  question.enter = reinterpret_cast<uintptr_t>(&penna_call_enter);
  question.function = function;
  question.path_bytes = module.path_bytes;
  question.build_id_bytes = module.build_id_bytes;
  __builtin_memcpy(question.build_id, module.build_id, module.build_id_bytes);
  __builtin_memcpy(question.path, module.path, module.path_bytes);
  return question;
}

// Never about the agent itself: its hooks would enter themselves.
bool may_be_asked_about(const ModuleFacts& module) {
  return module.path_bytes <= PENNA_PATCH_PATH && !module.holds(reinterpret_cast<uintptr_t>(&penna_call_enter));
}

bool fill_near(const penna_patch_question& question, const Plan& plan, const penna_near& near) {
  if (!open_near({question.near, question.near_bytes}, near.bytes)) return false;
  if (near.bytes != 0) __builtin_memcpy(reinterpret_cast<void*>(question.near), plan.code + near.offset, near.bytes);
  return true;
}

bool use_near(const penna_patch_question& question, const penna_near& near) {
  const NearRoom room{question.near, question.near_bytes};
  const bool executable = close_near(room, near.bytes);
  return keep_near(question.start, room, near.bytes) && executable;
}

}  // namespace penna::agent
