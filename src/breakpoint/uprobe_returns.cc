// SPDX-License-Identifier: MIT
// See uprobe_returns.h.
#include "breakpoint/uprobe_returns.h"

#include <algorithm>
#include <cstddef>

#include "plan/file_symbols.h"

namespace penna {
namespace {

// Instructions of one function with everything that it may jump to.
constexpr size_t kMostInstructions = 200'000;

}  // namespace

// A worklist of ranges. Code inside a symbol is read as a whole, because switches lead anywhere in it; other code, such
// as the cold part of a function in a stripped file, up to where it ends.
class UprobeReturns::Search {
 public:
  Search(const ElfFile& file, const std::vector<FunctionRange>& functions) : file_(file), functions_(functions) {}

  FoundReturns run(uint64_t function) {
    todo_.push_back(function);
    while (!todo_.empty() && found_.refusal == nullptr) {
      const uint64_t at = todo_.back();
      todo_.pop_back();
      if (seen_.count(at) == 0) read_from(at);
    }
    return std::move(found_);
  }

 private:
  void read_from(uint64_t at) {
    auto next = std::upper_bound(functions_.begin(), functions_.end(), at,
                                 [](uint64_t address, const FunctionRange& one) { return address < one.start; });
    const FunctionRange* const around = next == functions_.begin() ? nullptr : &*std::prev(next);
    if (around != nullptr && at < around->end) return read_function(*around);
    read_code({at, at + kLargestFunction}, true);
  }

  void read_function(const FunctionRange& function) {
    if (!seen_.insert(function.start).second) return;
    indirect_jumps_ = 0;
    tables_.clear();
    read_code(function, false);
    // A switch jumps through a table; a call through a pointer may be a jump as well, and has none.
    if (found_.refusal == nullptr && indirect_jumps_ > tables_.size())
      found_.refusal = "may leave by a jump whose target is not in its code";
  }

  void read_code(const FunctionRange& range, bool until_flow_ends) {
    const std::span<const uint8_t> code = file_.bytes_at(range.start, range.end - range.start);
    if (code.empty()) found_.refusal = "may leave by a jump out of its file";
    for (size_t at = 0; at < code.size() && found_.refusal == nullptr;) {
      Instruction one;
      if (++read_ > kMostInstructions) found_.refusal = "is too large to find its returns";
      if (!decode(code.subspan(at), range.start + at, &one)) {
        found_.refusal = "contains an unknown instruction, so its returns cannot be found";
        return;
      }
      if (until_flow_ends && !seen_.insert(range.start + at).second) return;
      add(one, range.start + at, range, until_flow_ends);
      if (until_flow_ends && one.ends_flow()) return;
      at += one.length;
    }
  }

  void add(const Instruction& one, uint64_t at, const FunctionRange& range, bool is_nameless) {
    if (one.kind == Instruction::kReturn) found_.returns.insert(at);
    if (one.target) {
      const bool leaves = *one.target < range.start || *one.target >= range.end;
      if (leaves || is_nameless) todo_.push_back(*one.target);
      return;
    }
    if (one.kind == Instruction::kJump) {
      // Through a pointer in memory at a fixed place: another module's function, or one chosen at start.
      if (one.refers_nearby) found_.refusal = "may leave by a jump to another module";
      if (is_nameless) found_.refusal = "may leave by a jump whose target is not in its code";
      ++indirect_jumps_;
    }
    if (is_nameless) return;
    if (one.refers) count_table(*one.refers, range);
    for (uint8_t i = 0; i < one.number_count; ++i) count_table(one.numbers[i], range);
  }

  void count_table(uint64_t at, const FunctionRange& function) {
    size_t targets = 0;
    for_each_target(file_, at, function, [&](uint64_t) { ++targets; });
    if (targets > 1) tables_.insert(at);
  }

  const ElfFile& file_;
  const std::vector<FunctionRange>& functions_;
  std::vector<uint64_t> todo_;
  std::unordered_set<uint64_t> seen_;  // starts of functions; other code by instruction
  FoundReturns found_;
  size_t read_ = 0, indirect_jumps_ = 0;
  std::set<uint64_t> tables_;
};

UprobeReturns::UprobeReturns(const ElfFile& file) : file_(file), functions_(functions_in(file)) {}

FoundReturns UprobeReturns::of(uint64_t function) const { return Search(file_, functions_).run(function); }

}  // namespace penna
