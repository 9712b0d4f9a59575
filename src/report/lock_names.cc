// SPDX-License-Identifier: MIT
// See lock_names.h.
#include "report/lock_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {

std::string LockNames::operator()(const LockStats& lock) const {
  if (lock.kind == LockKind::kJoin) return "threads that were joined";
  if (auto name = names_.variable(lock.process, lock.address, lock.first_time)) return *name;
  const LockBlock* block = blocks_ == nullptr ? nullptr : blocks_->of(lock.process, lock.address, lock.first_time);
  if (block != nullptr) return in_block(*block, lock.address);
  if (!names_.map().locate(lock.process, lock.address, lock.first_time).known()) {
    if (std::string made = place(lock.process, lock.made_stack); !made.empty()) return "made in " + made;
    if (std::string used = place(lock.process, lock.first_stack); !used.empty())
      return (has_holder(lock.kind) ? "first taken in " : "first used in ") + used;
  }
  return names_.data(lock.process, lock.address, lock.first_time);
}

// "at +40 in the block of 112 B that make_queue (queue.cc:31) allocated".
std::string LockNames::in_block(const LockBlock& block, uint64_t address) const {
  std::string text = address == block.address ? "" : fmt::format("at +{} ", address - block.address);
  text += fmt::format("in the block of {}", bytes_text(static_cast<int64_t>(block.size)));
  const std::string origin = place(block.process, block.stack);
  return origin.empty() ? text : fmt::format("{} that {} allocated", text, origin);
}

std::string LockNames::place(uint32_t process, uint32_t stack) const {
  const NameFrame* origin = stack == 0 ? nullptr : names_.origin(process, stack);
  if (origin == nullptr) return "";
  if (origin->line == 0) return origin->function;
  return fmt::format("{} ({}:{})", origin->function, base_name(origin->file), origin->line);
}

std::string LockNames::thread(uint32_t index) const {
  if (index == kNoIndex) return "";
  const RecordedThread& thread = recording_.threads()[index];
  return thread_label(recording_, thread.process, thread.tid);
}

bool LockNames::is_ambiguous(const LockStats& lock) const {
  if (lock.kind == LockKind::kJoin || names_.map().locate(lock.process, lock.address, lock.first_time).known())
    return false;
  return lock.made_stack != 0 || lock.first_stack != 0 ||
         (blocks_ != nullptr && blocks_->of(lock.process, lock.address, lock.first_time) != nullptr);
}

TableColumn address_column(const Locks& locks, const LockNames& name_of) {
  const bool shown = std::any_of(locks.all().begin(), locks.all().end(),
                                 [&](const LockStats& lock) { return name_of.is_ambiguous(lock); });
  return {"address", "ADDRESS", CellKind::kAddress, false, !shown};
}

}  // namespace penna
