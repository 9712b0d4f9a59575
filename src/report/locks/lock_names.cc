// SPDX-License-Identifier: MIT
// See lock_names.h.
#include "report/locks/lock_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

bool begins_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto one) { return text.starts_with(one); });
}

// The class that a function belongs to: "FileLock" of "shop::FileLock<int>::FileLock(int)"; "" if none. Ignores colons
// in template arguments, and everything after the '(' of the parameters.
std::string_view class_of(std::string_view function) {
  int depth = 0;
  size_t colons[2] = {function.npos, function.npos}, end = function.npos;  // the last, and the one before it
  for (size_t i = 0; i < function.size() && !(depth == 0 && function[i] == '('); ++i) {
    if (function[i] == '<') ++depth;
    if (function[i] == '>') --depth;
    if (depth != 0 || function.substr(i, 2) != "::") continue;
    colons[1] = colons[0];
    colons[0] = i++;
  }
  if (colons[0] == function.npos) return "";
  std::string_view name = function.substr(0, colons[0]);
  if (colons[1] != function.npos) name.remove_prefix(colons[1] + 2);
  end = name.find('<');
  return name.substr(0, end);
}

}  // namespace

// By name, as nothing else distinguishes a wrapper from the code to blame. Known libraries by the prefixes of their
// functions, C++ wrappers by the usual names of their classes. A wrong guess only moves the place one caller out.
bool is_lock_wrapper(std::string_view function) {
  constexpr std::string_view kFunctions[] = {
      "uv_mutex_",    "uv_rwlock_",      "uv_cond_",       "uv_sem_",        "uv_barrier_",   "uv_once",
      "g_mutex_",     "g_rw_lock",       "g_cond_",        "g_rec_mutex_",   "CRYPTO_THREAD", "PyThread_",
      "apr_thread_m", "apr_thread_rw",   "PR_Lock",        "PR_Unlock",      "PR_NewLock",    "PR_WaitCond",
      "SDL_Lock",     "SDL_CreateMutex", "SDL_Cond",       "SDL_Sem",        "boost::",       "uv_thread_join",
      "QMutex",       "QBasicMutex",     "QReadWriteLock", "QWaitCondition", "QSemaphore"};
  constexpr std::string_view kClasses[] = {"Mutex",   "Lock",    "Locker",    "LockGuard",
                                           "Monitor", "CondVar", "Semaphore", "PlatformEvent"};
  if (begins_with_any(function, kFunctions)) return true;
  const std::string_view its = class_of(function);
  return std::any_of(std::begin(kClasses), std::end(kClasses), [&](auto one) { return its.ends_with(one); });
}

// From the best name to the worst: a variable's; for libstdc++'s shared table where it was first used; the block of
// memory that it lies in; where it was made or first used, here or in the process that this one was forked from; its
// address.
std::string LockNames::operator()(const LockStats& lock) const {
  if (lock.kind == LockKind::kJoin) return "threads that were joined";
  // Some of libstdc++'s atomics share a wait table: only the waiter says what for.
  const auto variable = names_.variable(lock.process, lock.address, lock.first_time);
  if (variable && variable->find("std::__detail::__waiter_pool_base") == variable->npos) return *variable;
  if (std::string used = place(lock.process, lock.first_stack); variable && !used.empty())
    return "first used in " + used;
  const LockBlock* block = blocks_ == nullptr ? nullptr : blocks_->of(lock.process, lock.address, lock.first_time);
  if (block != nullptr) return in_block(*block, lock.address);
  if (!has_place(lock)) {
    const std::string first = has_holder(lock.kind) ? "first taken in " : "first used in ";
    if (std::string made = place(lock.process, lock.made_stack); !made.empty()) return "made in " + made;
    if (std::string made = place(lock.ancestor, lock.ancestor_made_stack); !made.empty()) return "made in " + made;
    if (std::string used = place(lock.ancestor, lock.ancestor_first_stack); !used.empty()) return first + used;
    if (std::string used = place(lock.process, lock.first_stack); !used.empty()) return first + used;
  }
  return names_.data(lock.process, lock.address, lock.first_time);
}

// A name that is a place needs a noun and the address, to distinguish several locks made there.
std::string LockNames::in_sentence(const LockStats& lock) const {
  constexpr std::string_view kPlaces[] = {"made in ", "first ", "in the block ", "at +"};
  const std::string name = (*this)(lock);
  if (!begins_with_any(name, kPlaces)) return name;
  return fmt::format("the {} {} ({:#x})", lock_kind_name(lock.kind), name, lock.address);
}

// The beginning of a module stands for the lock that a library keeps to itself (penna/patch_plan.h).
bool LockNames::has_place(const LockStats& lock) const {
  const CodePlace place = names_.map().locate(lock.process, lock.address, lock.first_time);
  return place.known() && place.address != 0;
}

// "at +40 in the block of 112 B that make_queue (queue.cc:31) allocated".
std::string LockNames::in_block(const LockBlock& block, uint64_t address) const {
  std::string text = address == block.address ? "" : fmt::format("at +{} ", address - block.address);
  text += fmt::format("in the block of {}", bytes_text(static_cast<int64_t>(block.size)));
  const std::string origin = place(block.process, block.stack);
  return origin.empty() ? text : fmt::format("{} that {} allocated", text, origin);
}

// The innermost frame that is not a way to lock, or its nearest caller with a name.
std::string LockNames::place(uint32_t process, uint32_t stack) const {
  const NameFrame* origin = stack == 0 ? nullptr : names_.origin(process, stack, is_lock_wrapper);
  if (origin == nullptr) return "";
  origin = names_.named_caller(process, stack, origin, is_lock_wrapper);
  if (origin->line == 0) return origin->function;
  return fmt::format("{} ({}:{})", origin->function, base_name(origin->file), origin->line);
}

std::string LockNames::function(uint32_t process, uint32_t stack) const {
  const NameFrame* origin = stack == 0 ? nullptr : names_.origin(process, stack, is_lock_wrapper);
  return origin == nullptr ? "" : names_.named_caller(process, stack, origin, is_lock_wrapper)->function;
}

std::string LockNames::thread(uint32_t index) const {
  if (index == kNoIndex) return "";
  const RecordedThread& thread = recording_.threads()[index];
  return thread_label(recording_, thread.process, thread.tid);
}

bool LockNames::is_ambiguous(const LockStats& lock) const {
  if (lock.kind == LockKind::kJoin || has_place(lock)) return false;
  return lock.made_stack != 0 || lock.first_stack != 0 || lock.ancestor != kNoIndex ||
         (blocks_ != nullptr && blocks_->of(lock.process, lock.address, lock.first_time) != nullptr);
}

bool are_of_many_processes(const Locks& locks) {
  return std::any_of(locks.all().begin(), locks.all().end(),
                     [&](const LockStats& lock) { return lock.process != locks.all().front().process; });
}

}  // namespace penna
