// SPDX-License-Identifier: MIT
// See names.h.
#include "model/names/names.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "symbols/shortened_name.h"

namespace penna {
namespace {

bool is_part_of(std::string_view function, std::string_view way) {
  if (function.substr(0, way.size()) != way) return false;
  const std::string_view rest = function.substr(way.size());  // "(unsigned long)", "<int>::allocate", "::allocate"
  return rest.empty() || rest[0] == '(' || rest[0] == '<' || rest[0] == ':';
}

// The same for absl, whose names have one more namespace, the version: "absl::lts_20220623::MutexLock::MutexLock(...)".
bool is_way_of_absl(std::string_view function) {
  constexpr std::string_view kAbsl = "absl::";
  constexpr std::string_view kWays[] = {"Mutex",          "MutexLock",           "ReaderMutexLock", "WriterMutexLock",
                                        "MutexLockMaybe", "ReleasableMutexLock", "CondVar"};
  if (function.substr(0, kAbsl.size()) != kAbsl) return false;
  function.remove_prefix(kAbsl.size());
  const size_t colons = function.find("::");
  const std::string_view inner = colons == function.npos ? "" : function.substr(colons + 2);
  return std::any_of(std::begin(kWays), std::end(kWays),
                     [&](std::string_view way) { return is_part_of(function, way) || is_part_of(inner, way); });
}

// The functions of the language's own library with which a program allocates, locks and waits.
bool is_way_of_language(std::string_view function) {
  constexpr std::string_view kWays[] = {"malloc",
                                        "calloc",
                                        "realloc",
                                        "operator new",
                                        "operator new[]",
                                        "std::allocator",
                                        "std::allocator_traits",
                                        "std::__new_allocator",
                                        "__gnu_cxx::new_allocator",
                                        "__gthread_mutex_lock",
                                        "__gthread_mutex_unlock",
                                        "__gthread_recursive_mutex_lock",
                                        "__gthread_cond_wait",
                                        "__gthread_once",
                                        "std::mutex",
                                        "std::__mutex_base",
                                        "std::recursive_mutex",
                                        "std::timed_mutex",
                                        "std::__timed_mutex_impl",
                                        "std::shared_mutex",
                                        "std::shared_timed_mutex",
                                        "std::__shared_mutex_pthread",
                                        "std::__glibcxx_rwlock_wrlock",
                                        "std::__glibcxx_rwlock_rdlock",
                                        "std::__glibcxx_rwlock_unlock",
                                        "std::lock_guard",
                                        "std::unique_lock",
                                        "std::shared_lock",
                                        "std::scoped_lock",
                                        "std::lock",
                                        "std::condition_variable",
                                        "std::condition_variable_any",
                                        "std::__condvar",
                                        "std::call_once",
                                        "std::thread::join",
                                        "std::counting_semaphore",
                                        "std::__platform_semaphore",
                                        "std::__atomic_semaphore",
                                        "std::latch",
                                        "std::barrier",
                                        "std::__tree_barrier",
                                        "std::recursive_timed_mutex",
                                        "std::future",
                                        "std::shared_future",
                                        "std::__basic_future",
                                        "std::__future_base",
                                        "std::promise",
                                        "std::packaged_task",
                                        "std::__atomic_futex_unsigned",
                                        "std::__atomic_futex_unsigned_base",
                                        "std::__atomic_wait_address",
                                        "std::__atomic_wait_address_v",
                                        "std::__atomic_wait_address_bare",
                                        "std::__detail::__platform_wait",
                                        "std::__detail::__waiter",
                                        "std::__detail::__waiter_base",
                                        "std::__detail::__waiter_pool",
                                        "std::__detail::__waiter_pool_base",
                                        "std::atomic",
                                        "std::__atomic_base"};
  for (std::string_view result : {"void ", "bool "})  // template names include the return type
    if (function.substr(0, result.size()) == result) function.remove_prefix(result.size());
  return std::any_of(std::begin(kWays), std::end(kWays),
                     [&](std::string_view way) { return is_part_of(function, way); }) ||
         is_way_of_absl(function);
}

StackEnd stack_end(uint8_t recorded) {
  switch (recorded) {
    case PENNA_STACK_COMPLETE: return StackEnd::kComplete;
    case PENNA_STACK_DEPTH_LIMIT: return StackEnd::kDepthLimit;
    case PENNA_STACK_NO_RULE: return StackEnd::kNoRule;
    case PENNA_STACK_BAD_MEMORY: return StackEnd::kBadMemory;
    default: return StackEnd::kUnknown;
  }
}

}  // namespace

const char* stack_end_text(StackEnd end) {
  switch (end) {
    case StackEnd::kComplete: return "";
    case StackEnd::kDepthLimit: return "deeper than --stack-depth";
    case StackEnd::kNoRule: return "no unwind information further out";
    case StackEnd::kBadMemory: return "the stack could not be read further out";
    case StackEnd::kCut: return "outer frames are missing from the recording";
    case StackEnd::kUnknown: return "no stack was recorded";
  }
  return "";
}

Names::Names(const Recording& recording, SymbolSource& symbols, NameStyle style)
    : recording_(recording),
      symbols_(symbols),
      style_(std::move(style)),
      map_(recording),
      counts_(map_.module_count() + 1) {
  for (const RecordedProcess& process : recording.processes()) {
    ModuleId main = kNoModule;
    for (ModuleId id = 0; id < map_.module_count() && main == kNoModule; ++id)
      if (map_.path(id) == process.process.executable) main = id;
    main_modules_.push_back(main);
  }
}

const NameFrames& Names::at(const CodePlace& place) {
  auto found = cache_.find(place);
  if (found == cache_.end()) found = cache_.emplace(place, std::make_unique<const NameFrames>(resolve(place))).first;
  return *found->second;
}

std::string Names::name_nameless(const CodePlace& place) const {
  return nameless_text(place, place.known() ? map_.path(place.module) : "");
}

void Names::name_by_place(const CodePlace& place, NameFrame* frame) {
  CodePlace start = place;
  if (place.known())
    start.address = symbols_.unnamed_start({map_.path(place.module), map_.build_id(place.module)}, place.address)
                        .value_or(place.address);
  frame->function = name_nameless(start);
  frame->offset = place.address - start.address;
}

void Names::judge(const CodePlace& place, NameFrame* frame) const {
  frame->is_wrapper = is_way_of_language(frame->function);
  if (style_.library != nullptr)
    frame->role = style_.library->role(frame->function, frame->file, place.known() ? map_.path(place.module) : "");
  if (!style_.has_short_names) return;
  if (std::string shorter = shortened_name(frame->function); shorter != frame->function)
    frame->whole = std::exchange(frame->function, std::move(shorter));
}

NameFrames Names::resolve(const CodePlace& place) {
  Count& count = counts_[place.known() ? place.module : map_.module_count()];
  ++count.addresses;
  NameFrames frames;
  if (place.known()) {
    for (SourceFrame& frame : symbols_.code({map_.path(place.module), map_.build_id(place.module)}, place.address)) {
      const bool named = !frame.function.empty();
      frames.push_back(
          {std::move(frame.function), std::move(frame.file), frame.line, frame.inlined, named, place.module});
    }
  }
  if (frames.empty()) frames.push_back({"", "", 0, false, false, place.module});
  for (NameFrame& frame : frames) {
    if (!frame.named) name_by_place(place, &frame);
    judge(place, &frame);
  }
  frames.back().inlined = false;  // the outermost is the function itself
  frames.back().is_agents = place.known() && map_.file_name(place.module) == "libpenna-agent.so";
  count.unnamed += !frames.back().named;
  count.without_line += frames.front().line == 0;
  return frames;
}

std::optional<uint64_t> Names::offset_in_function(uint32_t process, uint64_t pc, uint16_t generation) {
  const CodePlace call = map_.locate_return(process, pc, generation);  // one byte before the return address
  if (!call.known()) return std::nullopt;
  const auto start = symbols_.function_start({map_.path(call.module), map_.build_id(call.module)}, call.address);
  if (!start || *start > call.address) return std::nullopt;
  return call.address + 1 - *start;
}

NamedStack Names::stack(uint32_t process, uint32_t stack) {
  NamedStack result;
  while (auto node = recording_.stack_node(process, stack)) {
    const NameFrames& frames = frame(process, node->pc, node->generation);
    if (!frames.back().is_agents)
      for (const NameFrame& one : frames) result.frames.push_back(&one);
    result.end = node->cut ? StackEnd::kCut : stack_end(node->end);
    if (node->cut) break;
    if (result.end == StackEnd::kNoRule && is_entry(process, node->pc, node->generation))
      result.end = StackEnd::kComplete;
    stack = node->parent;
  }
  return result;
}

NamedStack Names::shown(uint32_t process, uint32_t stack, size_t without) {
  NamedStack named = this->stack(process, stack);
  std::vector<const NameFrame*>& frames = named.frames;
  std::vector<const NameFrame*> shown;
  if (style_.folds_stacks && !frames.empty()) {
    StackFold fold(named.end == StackEnd::kComplete || frames.back()->role == FrameRole::kStart);
    for (size_t i = frames.size(); i-- > 0;)
      if (fold.shows(frames[i]->role) && i >= without) shown.push_back(frames[i]);
    std::reverse(shown.begin(), shown.end());
  }
  if (shown.empty())
    shown.assign(frames.begin() + static_cast<ptrdiff_t>(std::min(without, frames.size())), frames.end());
  frames = std::move(shown);
  return named;
}

std::string_view Names::line_name(const NameFrame& frame) const {
  return is_folded(frame) ? without_parameters(frame.function) : frame.function;
}

bool Names::is_entry(uint32_t process, uint64_t pc, uint16_t generation) {
  const CodePlace place = map_.locate_return(process, pc, generation);
  return place.known() && symbols_.is_entry({map_.path(place.module), map_.build_id(place.module)}, place.address);
}

const NameFrame* Names::origin(uint32_t process, uint32_t stack, bool (*is_way_too)(std::string_view function)) {
  const NameFrame *last = nullptr, *innermost = nullptr, *own = nullptr;
  for (auto node = recording_.stack_node(process, stack); node; node = recording_.stack_node(process, node->parent)) {
    const NameFrames& frames = frame(process, node->pc, node->generation);
    if (frames.back().is_agents) continue;
    for (const NameFrame& one : frames) {
      last = &one;
      if (one.is_wrapper) continue;
      if (innermost == nullptr) innermost = &one;
      if (one.role != FrameRole::kOwn) continue;
      if (own == nullptr) own = &one;
      if (is_way_too == nullptr || !is_way_too(one.function)) return &one;
    }
  }
  if (own != nullptr) return own;
  return innermost != nullptr ? innermost : last;
}

// The code that starts threads and libraries.
static bool is_file_of_libc(std::string_view name) {
  return name.starts_with("libc.so") || name.starts_with("ld-linux");
}

const NameFrame* Names::named_caller(uint32_t process, uint32_t stack, const NameFrame* frame,
                                     bool (*is_way_too)(std::string_view function)) {
  if (frame->named || frame->module == kNoModule || frame->module == main_modules_[process]) return frame;
  bool is_behind = false;
  for (auto node = recording_.stack_node(process, stack); node; node = recording_.stack_node(process, node->parent)) {
    for (const NameFrame& one : this->frame(process, node->pc, node->generation)) {
      if (is_behind && one.named && !one.is_wrapper && !is_way_too(one.function))
        return is_file_of_libc(map_.file_name(one.module)) ? frame : &one;
      if (is_behind && !one.named && one.module != frame->module) return frame;
      is_behind |= &one == frame;
    }
  }
  return frame;
}

std::optional<std::string> Names::variable(uint32_t process, uint64_t address, uint64_t ticks) {
  const CodePlace place = map_.locate(process, address, ticks);
  if (!place.known()) return std::nullopt;
  const auto symbol = symbols_.data({map_.path(place.module), map_.build_id(place.module)}, place.address);
  if (!symbol) return std::nullopt;
  std::string offset = symbol->member;
  if (offset.empty() && symbol->offset != 0) offset = fmt::format("+{}", symbol->offset);
  if (place.module == main_modules_[process]) return symbol->name + offset;
  return fmt::format("{}`{}{}", map_.file_name(place.module), symbol->name, offset);
}

std::string Names::data(uint32_t process, uint64_t address, uint64_t ticks) {
  if (auto name = variable(process, address, ticks)) return *name;
  const CodePlace place = map_.locate(process, address, ticks);
  return place.known() ? name_nameless(place) : fmt::format("{:#x}", address);
}

Site Names::described(const Site& site, const CodePlace& place) {
  Site all = site;
  const auto is_whole = [](const SiteArgument& one) { return one.type == PENNA_ARG_INT || one.type == PENNA_ARG_UINT; };
  if (site.file.empty()) {  // a probe of another header: its note has the place, and no more
    const NameFrame& innermost = at(place).front();
    if (!innermost.file.empty()) all.file = file_name_of(innermost.file);
    all.line = innermost.line;
  } else if (std::any_of(site.arguments.begin(), site.arguments.end(), is_whole)) {
    const NamedFile file{map_.path(place.module), map_.build_id(place.module)};
    std::vector<std::string> formats = symbols_.enums_of_point(file, place.address, site.arguments);
    for (size_t i = 0; i < formats.size(); ++i) all.arguments[i].format = std::move(formats[i]);
  }
  return all;
}

const Site* Names::point_site(uint32_t process, uint32_t id, uint64_t ticks) {
  const Site* site = recording_.site(process, id);
  if (site == nullptr || site->is_of_call() || site->address == 0) return site;
  const auto [slot, is_new] = points_.try_emplace(pair_key(process, id));
  if (is_new) {
    const CodePlace place = map_.locate(process, site->address, ticks);
    slot.value() = std::make_unique<const Site>(place.known() ? described(*site, place) : *site);
  }
  return slot.value().get();
}

std::vector<ModuleNames> Names::modules() {
  std::vector<ModuleNames> result;
  for (ModuleId id = 0; id < counts_.size(); ++id) {
    const Count& count = counts_[id];
    if (count.addresses == 0) continue;
    const bool known = id < map_.module_count();
    ModuleNames names{known ? id : kNoModule, known ? map_.path(id) : "", count.addresses,
                      count.unnamed,          count.without_line,         ""};
    if (known) {
      names.problem = symbols_.problem({map_.path(id), map_.build_id(id)});
      names.is_lost = symbols_.is_lost({map_.path(id), map_.build_id(id)});
    } else {
      names.problem =
          fmt::format("{} in no mapped file: generated code, or a library whose loading was not recorded.",
                      count.addresses == 1 ? "1 address lies" : fmt::format("{} addresses lie", count.addresses));
    }
    result.push_back(std::move(names));
  }
  std::stable_sort(result.begin(), result.end(), [](auto& a, auto& b) { return a.unnamed > b.unnamed; });
  return result;
}

}  // namespace penna
