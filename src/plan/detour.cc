// SPDX-License-Identifier: MIT
// See detour.h.
#include "plan/detour.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "plan/instruction.h"

namespace penna {
namespace {

constexpr const char* kEnteredBehind = "may be entered after its first instruction by a branch from other code";

Window window_of(const DetourSite& site) { return {site.place, site.place + site.code.size()}; }

// Not the window's first byte: a branch to it executes what replaces it.
void mark_inside(const Window& window, CodeMarks* marks) {
  for (uint64_t at = window.begin + 1; at < window.end; ++at) marks->mark(at);
}

bool any_inside(const CodeMarks& marks, const Window& window) { return marks.any_from(window.begin + 1, window.end); }

}  // namespace

DetourFinder::DetourFinder(const ElfFile& file, std::vector<FunctionRange> functions)
    : file_(file), unwind_table_(file), walked_(file), functions_(std::move(functions)) {
  follow_jumps_of_called();
}

// The first that begins after the address.
DetourFinder::Functions::const_iterator DetourFinder::first_behind(uint64_t address) const {
  return std::upper_bound(functions_.begin(), functions_.end(), address,
                          [](uint64_t at, const FunctionRange& one) { return at < one.start; });
}

bool DetourFinder::starts_inside(uint64_t from, uint64_t to) const {
  const auto next = first_behind(from);
  return next != functions_.end() && next->start < to;
}

// The code between two known functions, if it decodes from the end of one to exactly the start of the next: code
// that nothing describes (functions of a stripped file without unwind information) and padding. Callers walk
// addresses in order, so the last gap answers most questions.
FunctionRange DetourFinder::gap_over(uint64_t address) const {
  constexpr uint64_t kLargestGap = 1 << 16;
  if (address >= last_gap_.start && address < last_gap_.end) return last_gap_is_code_ ? last_gap_ : FunctionRange{};
  const auto next = first_behind(address);
  if (next == functions_.begin() || next == functions_.end()) return {};
  FunctionRange gap{0, next->start};
  // Aliases share a start and may differ in size: the gap begins after the longest.
  for (auto before = next; before != functions_.begin() && (--before)->start == std::prev(next)->start;)
    gap.start = std::max(gap.start, before->end);
  if (address < gap.start || gap.end - gap.start > kLargestGap) return {};
  uint64_t at = gap.start;
  for (size_t length = 1; at < gap.end && length != 0; at += length)
    length = instruction_length(file_.bytes_at(at, kLongestInstruction));
  last_gap_ = gap;
  last_gap_is_code_ = at == gap.end;
  return last_gap_is_code_ ? gap : FunctionRange{};
}

// The function at the address: a known one, else one that only unwind information describes, or what lies between. Its
// end is 0 where there is none.
FunctionRange DetourFinder::function_over(uint64_t address) const {
  const auto next = first_behind(address);
  if (next != functions_.begin() && address < std::prev(next)->end) return *std::prev(next);
  const auto unnamed = unwind_table_.function_at(address);
  return unnamed ? FunctionRange{unnamed->begin, unnamed->end} : gap_over(address);
}

// Short branches from other code into [begin, end), except to its first byte: known functions are decoded, the rest is
// judged by its bytes. They occur in parts that share code by falling into one another, like memcpy's.
bool DetourFinder::neighbours_branch_into(const FunctionRange& function, uint64_t begin, uint64_t end) const {
  const Window window{begin, end};
  uint64_t at = begin < kShortReach ? 0 : begin - kShortReach;
  // Decoding must begin at an instruction: back to the start of the function that contains `at`.
  FunctionRange over = function_over(at);
  if (over.end != 0) at = over.start;
  for (Instruction one; at < end + kShortReach;) {
    if (at >= over.end) over = function_over(at);
    const std::span<const uint8_t> code = file_.bytes_at(at, kLongestInstruction);
    if (over.end != 0 && over.start == function.start) {
      // Its own branches were seen by the caller. max: a function of zero size must not stop the loop.
      at = std::max(function.end, at + 1);
    } else if (over.end != 0 && decode(code, at, &one)) {
      if (one.target && window.has_inside(*one.target)) return true;
      at += one.length;
    } else {
      const auto target = seeming_short_branch(code, at);
      if (target && window.has_inside(*target)) return true;
      ++at;
    }
  }
  return false;
}

// A tail call passes on the caller's return address. So what a walked function reaches by jumps, directly or through
// others, returns into generated code as well, and is refused with it.
void DetourFinder::follow_jumps_of_called() {
  std::vector<uint64_t> open = walked_.called();
  std::set<uint64_t> seen;
  while (!open.empty()) {
    const FunctionRange over = function_over(open.back());
    open.pop_back();
    if (over.end == 0 || over.end - over.start > kLargestFunction || !seen.insert(over.start).second) continue;
    Instruction one;
    for (uint64_t at = over.start; at < over.end && decode(file_.bytes_at(at, kLongestInstruction), at, &one);
         at += one.length) {
      const uint64_t target = one.target.value_or(over.start);
      if (target < over.start || target >= over.end) open.push_back(target);
    }
  }
  walked_.set_called({seen.begin(), seen.end()});
}

DetourOffer DetourFinder::look_at(const FunctionRange& function) const {
  if (range_of(file_.code_ranges(), function.start) == nullptr) return {{}, "does not lie in code"};
  if (const char* reason = walked_.refusal(function.start)) return {{}, reason};
  // One byte more than the limit is requested, so that a function above it can be distinguished from one that just
  // fits.
  std::span<const uint8_t> code =
      file_.bytes_at(function.start, std::min<uint64_t>(function.end - function.start, kLargestFunction + 1));
  const size_t size = std::min<uint64_t>(function.end - function.start, code.size());
  if (size > kLargestFunction) return {{}, "is too large to analyse"};
  code = code.first(size);
  // An endbr64 stays: with CET, an indirect call must land on one.
  const size_t skip = begins(code, kEntryMark) ? kEntryMark.size() : 0;

  // The window grows by whole instructions until a jump fits. The rest of the function is still decoded: a branch or a
  // table anywhere in it may lead back into the window.
  Window window{function.start + skip, function.start + skip};
  std::vector<uint64_t> targets;
  Instruction one;
  for (size_t at = skip; at < size; at += one.length) {
    const uint64_t address = function.start + at;
    const bool in_window = window.end - window.begin < kBranchBytes;
    if (!decode(code.subspan(at), address, &one)) {
      if (in_window) return {{}, "begins with bytes that are not instructions"};
      break;  // data after the code: what follows is not decoded
    }
    if (in_window) {
      if (one.immovable != nullptr) return {{}, one.immovable};
      window.end = address + one.length;
      // What follows a return may be another function, about which nothing is known.
      if (one.kind == Instruction::kReturn && window.end - window.begin < kBranchBytes)
        return {{}, "returns in its first instructions"};
    }
    if (one.target) targets.push_back(*one.target);
    if (one.refers) for_each_target(file_, *one.refers, function, [&](uint64_t target) { targets.push_back(target); });
  }
  if (window.end - window.begin < kBranchBytes) return {{}, "is shorter than a jump"};
  // The neighbours' short branches last: only that decodes other functions.
  if (starts_inside(function.start, window.end)) return {{}, "has another symbol within its first instructions"};
  if (std::any_of(targets.begin(), targets.end(), [&](uint64_t target) { return window.has_inside(target); }))
    return {{}, "branches into its own first instructions"};
  if (neighbours_branch_into(function, window.begin, window.end)) return {{}, kEnteredBehind};
  const auto first = code.begin() + static_cast<std::ptrdiff_t>(skip);
  return {
      DetourSite{function.start, window.begin, {first, first + static_cast<std::ptrdiff_t>(window.end - window.begin)}},
      nullptr};
}

// By all four bytes that look like the distance of a direct branch: also those that are something else.
// visit(address of its first byte, target)
template <typename Visit>
void DetourFinder::for_each_seeming_branch(Visit&& visit) const {
  for (const ElfSection& section : file_.sections())
    if (section.executable() && section.range().end != 0)
      penna::for_each_seeming_branch(file_.raw(section), section.address, visit);
}

// For callers that ask about one place after another.
const CodeMarks& DetourFinder::seeming_targets() const {
  if (!targets_) {
    targets_.emplace(file_);
    for_each_seeming_branch([&](uint64_t, uint64_t target) { targets_->mark(target); });
  }
  return *targets_;
}

// Whether the bytes there are part of another instruction, or of several: according to the function that contains them,
// decoded from its first byte to its last without a doubt.
bool DetourFinder::is_inside_instruction(uint64_t address) const {
  const FunctionRange over = function_over(address);
  if (over.end == 0 || over.end - over.start > kLargestFunction) return false;
  uint64_t at = over.start;
  for (size_t length; at < over.end; at += length)
    if (at == address || (length = instruction_length(file_.bytes_at(at, kLongestInstruction))) == 0) return false;
  return at == over.end;
}

// The larger a file, the more of its bytes look like branches by chance: whatever seems to lead to one of the places is
// checked.
CodeMarks DetourFinder::branched_to(const CodeMarks& places) const {
  CodeMarks found(file_);
  for_each_seeming_branch([&](uint64_t from, uint64_t target) {
    if (places.is_marked(target) && !found.is_marked(target) && !is_inside_instruction(from)) found.mark(target);
  });
  return found;
}

void DetourFinder::refuse_branched_into(std::span<DetourOffer> offers) const {
  CodeMarks places(file_);
  bool any = false;
  for (const DetourOffer& offer : offers) {
    if (!offer.site) continue;
    // Single functions come one after another (dlsym): the seeming targets of branches are kept, and most functions
    // need no pass over the code.
    const bool is_doubtful = (offers.size() > 1 && !targets_) || any_inside(seeming_targets(), window_of(*offer.site));
    if (is_doubtful) mark_inside(window_of(*offer.site), &places);
    any = any || is_doubtful;
  }
  if (!any) return;
  const CodeMarks found = branched_to(places);
  for (DetourOffer& offer : offers)
    if (offer.site && any_inside(found, window_of(*offer.site))) offer = {{}, kEnteredBehind};
}

// The same for any bytes.
bool DetourFinder::is_branched_into(uint64_t begin, uint64_t end) const {
  const Window window{begin, end};
  if (!any_inside(seeming_targets(), window)) return false;
  CodeMarks places(file_);
  mark_inside(window, &places);
  return any_inside(branched_to(places), window);
}

std::vector<DetourOffer> DetourFinder::find(std::span<const FunctionRange> wanted) const {
  std::vector<DetourOffer> offers;
  offers.reserve(wanted.size());
  for (const FunctionRange& function : wanted) offers.push_back(look_at(function));
  refuse_branched_into(offers);
  // Code that could not be read is code without branches.
  if (!file_.unchanged())
    for (DetourOffer& offer : offers)
      if (offer.site) offer = {{}, "is of a file that has changed since it was opened"};
  return offers;
}

std::vector<DetourOffer> DetourFinder::find_at(std::span<const uint64_t> starts) const {
  std::vector<FunctionRange> known;
  std::vector<DetourOffer> offers(starts.size(), {{}, "is not the start of a function"});
  std::vector<size_t> places;  // of `known` among the offers
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto found = std::lower_bound(functions_.begin(), functions_.end(), starts[i],
                                        [](const FunctionRange& one, uint64_t at) { return one.start < at; });
    if (found == functions_.end() || found->start != starts[i]) continue;
    known.push_back(*found);
    places.push_back(i);
  }
  std::vector<DetourOffer> found = find(known);
  for (size_t i = 0; i < found.size(); ++i) offers[places[i]] = std::move(found[i]);
  return offers;
}

namespace {

// The site's code at the end of near memory, where there is room.
bool append_moved(const DetourSite& site, uint64_t bias, NearMemory* near) {
  return append_moved_code(site.code, in_target(site.place, bias), near) &&
         near->append_jump(in_target(site.place + site.code.size(), bias));
}

}  // namespace

std::optional<CodePtr> move_beginning(const DetourSite& site, uint64_t bias, NearMemory* near) {
  const CodePtr moved = near->end();
  // + 1: the jump back.
  if (!near->has_room((site.code.size() + 1) * kLargestMoved) || !append_moved(site, bias, near)) return {};
  return moved;
}

std::optional<std::array<uint8_t, kBranchBytes>> write_detour(const DetourSite& site, uint64_t bias, NearMemory* near) {
  const auto stub = near->begin_stub(in_target(site.function, bias), (site.code.size() + 1) * kLargestMoved);
  if (!stub || !append_moved(site, bias, near)) return {};
  return jump_from(in_target(site.place, bias), stub->code);
}

}  // namespace penna
