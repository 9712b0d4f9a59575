// SPDX-License-Identifier: MIT
// See traced_process.h.
#include "breakpoint/traced_process.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "base/memory_ranges.h"

namespace penna {
namespace {

// 65,536 slots of CodePatches: as many copies near one area.
constexpr uint64_t kPage = 4096, kAreaBytes = uint64_t{4} << 20;

// Within reach of a jump from the module, and where the heap does not grow.
std::vector<uint64_t> places_near(pid_t pid, const TracedModule& module) {
  constexpr uint64_t kLowest = uint64_t{64} << 10, kBelow = uint64_t{16} << 20, kAbove = uint64_t{256} << 20;
  const std::vector<MemoryRange> taken = memory_ranges(pid);
  std::vector<uint64_t> free;
  const auto offer = [&](uint64_t at) {
    // With a page in between: an area adjoining the stack's guard, or a heap, would be in its way.
    const auto overlaps = [&](const MemoryRange& one) {
      return one.start < at + kAreaBytes + kPage && at < one.end + kPage;
    };
    if (std::none_of(taken.begin(), taken.end(), overlaps)) free.push_back(at);
  };
  // Below first, in steps up to 768 MiB; above, the heap of a static program grows.
  const uint64_t end = (module.end() + kPage - 1) & ~(kPage - 1);
  for (uint64_t i = 1; i <= 48; ++i)
    if (module.start() > kLowest + i * kBelow) offer(module.start() - i * kBelow);
  for (uint64_t i = 1; i <= 3; ++i) offer(end + i * kAbove);
  return free;
}

}  // namespace

TracedProcess::TracedProcess(pid_t pid, RemoteMemory memory, const TracedProcess& other)
    : pid_(pid),
      memory_(std::move(memory)),
      // Not the points: sites are announced again in the child's own channel. Not the channel, either.
      patches_(other.patches_),
      trap_action_(other.trap_action_),
      modules_(other.modules_),
      stack_(modules_),
      meanings_(other.meanings_),
      semaphores_(other.semaphores_),
      jumps_(other.jumps_) {}

std::vector<const TracedModule*> TracedProcess::look_at_modules() {
  auto now = read_process_modules(static_cast<uint32_t>(pid_));
  std::vector<const TracedModule*> added;
  if (!now) return added;
  // The same file at another address, or another build at the same address, is another module.
  const auto is_same = [](const TracedModule& known, const ProcessModule& seen) {
    return known.path() == seen.path && known.bias() == seen.bias && known.file().build_id() == seen.file.build_id();
  };
  const auto is_gone = [&](const TracedModule& known) {
    return std::none_of(now->modules.begin(), now->modules.end(),
                        [&](const ProcessModule& seen) { return is_same(known, seen); });
  };
  bool any_gone = false;
  for (const TracedModule& known : modules_) {
    if (!is_gone(known)) continue;
    any_gone = true;
    patches_.forget(known.start(), known.end());
    std::erase_if(meanings_, [&](const auto& one) { return known.contains(one.first); });
  }
  if (any_gone) {
    std::erase_if(modules_, is_gone);
    if (writer_) writer_->next_generation();
  }
  for (ProcessModule& seen : now->modules) {
    const auto is_it = [&](const TracedModule& known) { return is_same(known, seen); };
    if (std::any_of(modules_.begin(), modules_.end(), is_it)) continue;
    added.push_back(&modules_.emplace_back(std::move(seen)));
  }
  // Rules are cached by pc, and the same pc may be other code now.
  if (any_gone || !added.empty()) stack_.forget();
  return added;
}

void TracedProcess::announce_module(ThreadLog& log, const TracedModule& module, uint64_t time) {
  if (!writer_) return;
  const std::string& path = module.path();
  const BuildId& build_id = module.file().build_id();
  penna_module described{};
  described.bias = module.bias();
  described.start = module.start();
  described.end = module.end();
  described.generation = writer_->generation();
  described.path_bytes = static_cast<uint16_t>(std::min<size_t>(path.size(), 1024));
  described.build_id_bytes = static_cast<uint16_t>(std::min(build_id.size(), sizeof described.build_id));
  std::copy_n(build_id.begin(), described.build_id_bytes, described.build_id);
  writer_->write(log, PENNA_KIND_MODULE, described, static_cast<penna_event_class>(PENNA_NO_CLASS), time,
                 {reinterpret_cast<const uint8_t*>(path.data()), described.path_bytes});
}

void TracedProcess::announce_modules(ThreadLog& log, uint64_t time) {
  if (!modules_.empty() && writer_) writer_->set_pc_high(modules_.front().start());
  for (const TracedModule& module : modules_) announce_module(log, module, time);
}

uint64_t TracedProcess::system_call() {
  if (system_call_ == 0) system_call_ = find_system_call(pid_, memory_);
  return system_call_;
}

bool TracedProcess::make_area(pid_t thread, const TracedModule& module) {
  if (patches_.has_area_near(module.start())) return true;
  for (const uint64_t at : places_near(pid_, module)) {
    // MAP_FIXED_NOREPLACE: the memory map that we have read may be stale.
    constexpr uint64_t kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    const auto got = make_system_call(thread, system_call(), SYS_mmap,
                                      {at, kAreaBytes, PROT_READ | PROT_EXEC, kFlags, ~uint64_t{0}, 0});
    if (!got) return false;
    if (static_cast<uint64_t>(*got) != at) continue;
    patches_.add_area(at, kAreaBytes);
    return true;
  }
  return false;
}

void TracedProcess::remove_areas(pid_t thread) {
  for (const CodePatches::Area& area : patches_.areas())
    make_system_call(thread, system_call(), SYS_munmap, {area.begin, area.bytes, 0, 0, 0, 0});
}

const char* TracedProcess::add(const TracedModule& module, const PlannedPlace& place) {
  const uint64_t at = place.address + module.bias();
  const char* refusal = nullptr;
  if (patches_.insert(memory_, at, &refusal) == nullptr) return refusal;
  meanings_[at] = place.meaning;
  if (place.meaning.point != nullptr && place.meaning.point->semaphore != 0) {
    semaphores_.emplace_back(place.meaning.point->semaphore + module.bias());
    change_semaphore(semaphores_.back(), 1);
  }
  return nullptr;
}

// Not atomic, like gdb: the program only reads it, but another tracer's update in the same microsecond is lost.
void TracedProcess::change_semaphore(RemotePtr<uint16_t> at, int by) const {
  if (const auto count = memory_.get(at)) memory_.write(at, static_cast<uint16_t>(*count + by));
}

void TracedProcess::lower_semaphores() {
  for (const RemotePtr<uint16_t> at : semaphores_) change_semaphore(at, -1);
  semaphores_.clear();
}

uint32_t TracedProcess::number_of(const TracedPoint& point, uint64_t address, ThreadLog& log, uint64_t time) {
  const auto [found, is_new] = points_.try_emplace(address, static_cast<uint32_t>(points_.size() + 1));
  if (!is_new) return found->second;
  const std::string text = point.text();
  penna_site_info info{};
  info.site = found->second;
  info.line = point.line;
  info.address = address;
  info.text_bytes = static_cast<uint16_t>(text.size());
  info.arg_count = static_cast<uint8_t>(point.values.size());
  info.kind = point.kind;
  for (size_t i = 0; i < point.values.size(); ++i) info.arg_types[i] = point.values[i].type;
  writer_->write(log, PENNA_KIND_SITE, info, static_cast<penna_event_class>(PENNA_NO_CLASS), time,
                 {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return found->second;
}

size_t TracedProcess::modules_with_breakpoints() const {
  return static_cast<size_t>(std::count_if(modules_.begin(), modules_.end(), [&](const TracedModule& module) {
    return patches_.any_in(module.start(), module.end());
  }));
}

const CodePatch* TracedProcess::add_return(uint64_t address) {
  const char* refusal = nullptr;
  if (const CodePatch* known = patches_.find(address)) return known;
  // A word read from the stack as a return address may be anything: breakpoints go only into known code.
  const TracedModule* module = stack_.module_at(address);
  return module != nullptr && module->is_code(address) ? patches_.insert(memory_, address, &refusal) : nullptr;
}

// The first few, then ever more rarely: a walk costs more than everything else.
bool TracedProcess::wants_stack(uint64_t lock) {
  constexpr uint32_t kFirst = 4;
  // The 1st to 4th, 8th, 16th and so on.
  const uint32_t count = ++acquisitions_[lock];
  return count <= kFirst || (count & (count - 1)) == 0;
}

uint32_t TracedProcess::stack(const WalkStart& at) {
  if (!writer_) return 0;
  StackCopy copy(memory_, RemoteBytes(at.sp));
  const RemoteStack::Walked& walked = stack_.walk(copy, at, writer_->config().stack_depth);
  if (walked.end != PENNA_STACK_COMPLETE) writer_->count_truncated(walked.end);
  uint32_t node = 0;
  for (auto pc = walked.pcs.rbegin(); pc != walked.pcs.rend(); ++pc) {
    node = writer_->stack_node(node, *pc, walked.end);
    if (node == 0) return writer_->count_tree_full(), 0;
  }
  return node;
}

}  // namespace penna
