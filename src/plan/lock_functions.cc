// SPDX-License-Identifier: MIT
// See lock_functions.h.
#include "plan/lock_functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "plan/file_symbols.h"
#include "symbols/demangle.h"

namespace penna {
namespace {

// And from kOwnLocks on, the user's.
enum Family : uint8_t {
  kAbsl,
  kNsync,
  kGlib,
  kOpenMp,
  kOpenMpNests,
  kOpenMpCriticals,
  kMutexes,
  kRwlocks,
  kSpinlocks,
  kOwnLocks
};
constexpr const char* kFamilyNames[] = {"absl::Mutex",     "nsync_mu",         "GMutex",
                                        "omp_lock_t",      "omp_nest_lock_t",  "omp critical",
                                        "pthread_mutex_t", "pthread_rwlock_t", "pthread_spinlock_t"};

struct KnownFunction {
  Family family;
  std::string_view name;
  penna_lock_role role;
  penna_lock_answer answer;
  penna_sync sync;
  std::string_view tried_by;
  penna_lock_subject subject;
};
constexpr KnownFunction kKnown[] = {
#define PENNA_KNOWN_OF(subject, family, name, role, answer, sync, tried_by) \
  {family, name, PENNA_LOCK_##role, PENNA_ANSWER_##answer, PENNA_SYNC_##sync, tried_by, PENNA_SUBJECT_##subject},
#define PENNA_KNOWN(...) PENNA_KNOWN_OF(FIRST, __VA_ARGS__)
#include "plan/known_locks.inc"
#undef PENNA_KNOWN
#undef PENNA_KNOWN_OF
};

bool is_pthread(size_t family) { return family == kMutexes || family == kRwlocks || family == kSpinlocks; }

// A length of the Itanium C++ ABI's <source-name>, taken off; 0: there is none.
size_t take_length(std::string_view* name) {
  size_t length = 0, digits = 0;
  for (; digits < name->size() && digits < 4 && (*name)[digits] >= '0' && (*name)[digits] <= '9'; ++digits)
    length = length * 10 + static_cast<size_t>((*name)[digits] - '0');
  name->remove_prefix(digits);
  return length <= name->size() ? length : 0;
}

bool take_prefix(std::string_view* name, std::string_view prefix) {
  const bool is = name->starts_with(prefix);
  if (is) name->remove_prefix(prefix.size());
  return is;
}

// absl's names lie in one more namespace, which shows the version.
bool is_absl(std::string_view rest, std::string_view wanted) {
  if (rest.starts_with(wanted)) return true;
  const size_t length = take_length(&rest);
  return length != 0 && rest.substr(length).starts_with(wanted);
}

bool is_of_openmp(std::string_view raw) {
  return raw.starts_with("omp_") || raw.starts_with("GOMP_critical_") || raw.starts_with("__kmpc_");
}

const KnownFunction* known_function(std::string_view raw) {
  const auto named = [](Family first, Family last, std::string_view name) -> const KnownFunction* {
    for (const KnownFunction& one : kKnown)
      if (one.family >= first && one.family <= last && one.name == name) return &one;
    return nullptr;
  };
  if (raw.starts_with("pthread_")) return named(kMutexes, kSpinlocks, raw);
  if (raw.starts_with("nsync_")) return named(kNsync, kNsync, raw);
  if (raw.starts_with("g_")) return named(kGlib, kGlib, raw);
  if (is_of_openmp(raw)) return named(kOpenMp, kOpenMpCriticals, raw);
  if (take_prefix(&raw, "_ZN5nsync")) {
    const size_t length = take_length(&raw);
    return raw.substr(length).starts_with("E") ? named(kNsync, kNsync, raw.substr(0, length)) : nullptr;
  }
  if (!take_prefix(&raw, "_ZN4absl")) return nullptr;
  for (const KnownFunction& one : kKnown)
    if (one.family == kAbsl && is_absl(raw, one.name)) return &one;
  return nullptr;
}

// The last word of what the user typed, which the mangled name contains, too.
std::string_view last_word(std::string_view text) {
  const size_t end = text.find('(');
  if (end != text.npos) text = text.substr(0, end);
  const size_t begin = text.find_last_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return begin == text.npos ? text : text.substr(begin + 1);
}

// What precedes a function's own name: its class.
std::string scope_of(const std::string& name) {
  const size_t colons = name.substr(0, name.find('(')).rfind("::");
  return colons == name.npos ? std::string() : name.substr(0, colons);
}

struct Found {
  std::string raw, name;
  size_t family;  // of the user's: kOwnLocks + index
  penna_lock_role role;
  penna_lock_answer answer;
  penna_sync sync;
  std::string_view tried_by;  // of those that are known
  penna_lock_subject subject = PENNA_SUBJECT_FIRST;
};

// What a file has, by address.
class LockFinder {
 public:
  LockFinder(const ElfFile& file, bool is_library, std::span<const OwnLock> own)
      : file_(file), is_library_(is_library), own_(own) {}

  void look() {
    for_each_symbol(file_, [&](std::string_view name, const GElf_Sym& symbol, bool is_dynamic) {
      if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC) look_at(name, symbol.st_value, is_dynamic);
    });
    // Functions that are reached through the agent's; a sanitizer's continue to them.
    // Only now: which symbols count depends on others, which may come later in the table or in the other one.
    std::erase_if(found_, [&](const auto& one) {
      return is_pthread(one.second.family) && (has_sanitizer_ || (is_library_ && shown_.count(one.first) != 0));
    });
    // What a user specifies for a lock replaces all that is known about it.
    std::erase_if(found_, [&](const auto& one) { return claimed_.count(one.second.family) != 0; });
    std::erase_if(parts_, [&](const auto& one) { return claimed_.count(one.first) != 0; });
    if (has_sanitizer_) std::erase_if(parts_, [](const auto& one) { return is_pthread(one.first); });
  }

  const std::map<uint64_t, Found>& found() const { return found_; }
  // By family: a part that the compiler has made of a function.
  const std::map<size_t, std::string>& parts() const { return parts_; }

 private:
  // Of tens of thousands of symbols hardly any is a lock's: those are recognised by their first letters, and by what a
  // user has typed.
  void look_at(std::string_view symbol, uint64_t address, bool shown) {
    if (symbol.starts_with("__sanitizer_")) has_sanitizer_ = true;
    const bool may_be_known = symbol.starts_with("pthread_") || symbol.starts_with("nsync_") ||
                              symbol.starts_with("_ZN4absl") || symbol.starts_with("_ZN5nsync") ||
                              symbol.starts_with("g_mutex_") || symbol.starts_with("g_cond_") || is_of_openmp(symbol);
    const bool may_be_own = std::any_of(own_.begin(), own_.end(), [&](const OwnLock& own) {
      return holds(symbol, own.takes) || holds(symbol, own.gives) || holds(symbol, own.tries);
    });
    if (!may_be_known && !may_be_own) return;
    // "name@@VERSION" in .symtab of shared libraries; "name.part.0" and its like are made by the compiler.
    const std::string_view raw = symbol.substr(0, symbol.find_first_of(".@"));
    const std::string_view suffix = symbol.substr(raw.size());
    if (suffix.starts_with(".cold")) return;
    const bool is_part = suffix.starts_with(".part") || suffix.starts_with(".isra") || suffix.starts_with(".constprop");
    if (shown) shown_.insert(address);
    const KnownFunction* known = may_be_known ? known_function(raw) : nullptr;
    bool is_claimed = false;
    for (size_t i = 0; may_be_own && i < own_.size(); ++i)
      is_claimed |= look_for(own_[i], i, symbol, raw, address, is_part);
    if (known != nullptr && is_claimed) claimed_.insert(known->family);
    if (known != nullptr && !is_claimed)
      add(symbol, address, is_part,
          {std::string(raw), demangle(raw, Demangle::kFull), known->family, known->role, known->answer, known->sync,
           known->tried_by, known->subject});
  }

  static bool holds(std::string_view symbol, const WantedFunction& function) {
    return !function.text.empty() && symbol.find(last_word(function.text)) != symbol.npos;
  }

  // Whether it is one of these.
  bool look_for(const OwnLock& own, size_t index, std::string_view symbol, std::string_view raw, uint64_t address,
                bool is_part) {
    const auto means = [&](const WantedFunction& one, std::string* name) {
      if (!holds(raw, one)) return false;
      if (name->empty()) *name = demangle(raw, Demangle::kFull);
      return one.matches(*name);
    };
    std::string name;
    penna_lock_role role;
    if (means(own.takes, &name))
      role = PENNA_LOCK_TAKES;
    else if (means(own.gives, &name))
      role = PENNA_LOCK_GIVES;
    else if (means(own.tries, &name))
      role = PENNA_LOCK_TRIES;
    else
      return false;
    add(symbol, address, is_part,
        {std::string(raw),
         std::move(name),
         kOwnLocks + index,
         role,
         role == PENNA_LOCK_TRIES ? own.answer : PENNA_ANSWER_NONE,
         PENNA_SYNC_OWN,
         {},
         PENNA_SUBJECT_FIRST});
    return true;
  }

  void add(std::string_view symbol, uint64_t address, bool is_part, Found found) {
    if (is_part)
      parts_.try_emplace(found.family, symbol);
    else if (found_.find(address) == found_.end())  // else another name of it, or of the other table
      found_.emplace(address, std::move(found));
  }

  const ElfFile& file_;
  bool is_library_;
  std::span<const OwnLock> own_;
  std::map<uint64_t, Found> found_;
  std::set<uint64_t> shown_;
  // Pieces and clones run in place of the function, and under their own names: hooks on it would miss some of its
  // calls.
  std::map<size_t, std::string> parts_;
  std::set<size_t> claimed_;  // families of which the user names functions
  bool has_sanitizer_ = false;
};

// Finds detours into the functions of one file.
class DetourPlanner {
 public:
  DetourPlanner(const ElfFile& file, std::vector<PreparedBeginning> prepared)
      : prepared_(std::move(prepared)), functions_(functions_in(file)), finder_(file, functions_) {}
  DetourOffer offer_for(uint64_t function) const {
    const auto prepared = std::find_if(prepared_.begin(), prepared_.end(),
                                       [&](const PreparedBeginning& one) { return one.function == function; });
    if (prepared != prepared_.end() && prepared->end == 0) return {{}, "is already patched to record its calls (-F)"};
    if (prepared == prepared_.end()) return finder_.find_at(function);
    const auto range = std::find_if(functions_.begin(), functions_.end(),
                                    [&](const FunctionRange& one) { return one.start == function; });
    if (range == functions_.end() || range->end <= prepared->end) return {{}, "is shorter than a jump"};
    // Two hooks in one function: the detour goes after what the compiler has prepared, as into a function that begins
    // there.
    const FunctionRange rest{prepared->end, range->end};
    return finder_.find({&rest, 1})[0];
  }

 private:
  std::vector<PreparedBeginning> prepared_;
  std::vector<FunctionRange> functions_;
  DetourFinder finder_;
};

bool has(const LockFinder& finder, size_t family, penna_lock_role role) {
  return std::any_of(finder.found().begin(), finder.found().end(),
                     [&](const auto& one) { return one.second.family == family && one.second.role == role; });
}

std::string lock_of(size_t family, std::span<const OwnLock> own) {
  return family < kOwnLocks ? kFamilyNames[family] : own[family - kOwnLocks].text;
}

// Why no function of a family is entered.
std::optional<RefusedLock> refusal_of(const LockFinder& finder, size_t family, std::span<const OwnLock> own) {
  const std::string lock = lock_of(family, own);
  if (const auto part = finder.parts().find(family); part != finder.parts().end())
    return RefusedLock{lock, part->second, "is a part of a function that the compiler has split"};
  if (family < kOwnLocks) return {};
  const OwnLock& wanted = own[family - kOwnLocks];
  const bool lacks_gives = !has(finder, family, PENNA_LOCK_GIVES);
  if (!lacks_gives && (wanted.tries.text.empty() || has(finder, family, PENNA_LOCK_TRIES))) return {};
  return RefusedLock{lock, lacks_gives ? wanted.gives.text : wanted.tries.text,
                     "is no function of this file, as " + wanted.takes.text + " is"};
}

int index_of_try(const std::vector<std::pair<const Found*, LockFunction>>& all, const Found& function) {
  const bool is_known = function.family < kOwnLocks;
  if (function.role != PENNA_LOCK_TAKES || (is_known && function.tried_by.empty())) return -1;
  const auto tries_it = [&](const Found& other) {
    if (other.family != function.family || other.role != PENNA_LOCK_TRIES) return false;
    if (is_known) return other.raw == function.tried_by || other.raw.find(function.tried_by) != other.raw.npos;
    return scope_of(other.name) == scope_of(function.name);
  };
  for (size_t i = 0; i < all.size(); ++i)
    if (tries_it(*all[i].first)) return static_cast<int>(i);
  return -1;
}

}  // namespace

LockFunctions find_lock_functions(const ElfFile& file, bool is_library, std::span<const OwnLock> own,
                                  const std::function<std::vector<PreparedBeginning>()>& prepared) {
  LockFunctions result;
  LockFinder finder(file, is_library, own);
  finder.look();
  std::set<size_t> families;
  for (const auto& [address, found] : finder.found()) families.insert(found.family);
  for (const auto& [family, part] : finder.parts()) families.insert(family);
  if (families.empty()) return result;

  const DetourPlanner doors(file, prepared());
  std::vector<std::pair<const Found*, LockFunction>> all;
  for (const size_t family : families) {
    if (family >= kOwnLocks) {  // else it is another function of that name, elsewhere
      const bool is_here = has(finder, family, PENNA_LOCK_TAKES) || finder.parts().count(family) != 0;
      if (!is_here) continue;
      result.own.push_back(family - kOwnLocks);
    }
    std::optional<RefusedLock> refusal = refusal_of(finder, family, own);
    std::vector<std::pair<const Found*, LockFunction>> its;
    const std::string lock = lock_of(family, own);
    for (const auto& [address, found] : finder.found()) {
      if (refusal || found.family != family) continue;
      DetourOffer offer = doors.offer_for(address);
      if (offer.site)
        its.emplace_back(&found, LockFunction{lock, found.name, *offer.site, found.role, found.answer, found.sync,
                                              found.subject, -1});
      else
        refusal = RefusedLock{lock, found.name, offer.refusal};
    }
    // All or none (lock_functions.h): one refusal removes the whole family.
    if (refusal)
      result.refused.push_back(std::move(*refusal));
    else
      all.insert(all.end(), its.begin(), its.end());
  }
  for (const auto& [found, function] : all) {
    result.found.push_back(function);
    result.found.back().tried_by = index_of_try(all, *found);
  }
  return result;
}

}  // namespace penna
