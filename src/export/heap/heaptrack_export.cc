// SPDX-License-Identifier: MIT
// See heaptrack_export.h.
#include "export/heap/heaptrack_export.h"

#include <algorithm>
#include <string>
#include <vector>

#include "export/text/event_words.h"
#include "model/events/summary.h"

namespace penna {
namespace {

constexpr uint64_t kNoNumber = UINT64_MAX;

// What is written once and then has a number: strings ("s"), addresses ("i") and nodes of the tree of stacks ("t").
// Numbers count from 1, in the order of the file; 0 means none.
class HeaptrackNames {
 public:
  HeaptrackNames(const Recording& recording, Names& names, uint32_t process, TextBuffer& out)
      : recording_(recording), names_(names), process_(process), out_(out) {}

  // The number of a stack's innermost node. Nodes not yet written are written from the outermost inwards, as each
  // refers to its parent.
  uint64_t trace(uint32_t stack) {
    std::vector<std::pair<uint32_t, StackNode>> missing;  // innermost first
    uint64_t number = 0;
    for (uint32_t id = stack;;) {
      if (const auto known = traces_.find(id); known != traces_.end()) {
        number = known->second;
        break;
      }
      const auto node = recording_.stack_node(process_, id);
      if (!node) break;
      missing.emplace_back(id, *node);
      if (node->cut) break;
      id = node->parent;
    }
    // address() may write lines itself, so it comes before the line that uses its number.
    for (auto one = missing.rbegin(); one != missing.rend(); ++one) {
      const uint64_t ip = address(one->second);
      out_.format("t {:x} {:x}\n", ip, number);
      number = ++traces_said_;
      traces_.try_emplace(one->first, number);
    }
    return number != 0 ? number : unknown();
  }

 private:
  uint64_t string(const std::string& text) {
    if (text.empty()) return 0;
    const auto [found, added] = strings_.try_emplace(text, strings_.size() + 1);
    if (added) out_.format("s {:x} {}\n", text.size(), text);
    return found->second;
  }
  uint64_t address(const StackNode& node) {
    auto [found, added] = addresses_[node.generation].try_emplace(node.pc, 0);
    if (!added) return found->second;
    const NameFrames& frames = names_.frame(process_, node.pc, node.generation);
    const ModuleId module = frames.back().module;
    std::string line =
        fmt::format("i {:x} {:x}", node.pc, module == kNoModule ? 0 : string(one_line(names_.map().path(module))));
    for (const NameFrame& frame : frames) {
      if (!frame.named && frames.size() == 1) break;  // heaptrack shows the address itself
      line += fmt::format(" {:x}", string(one_line(frame.function)));
      // A function without a file has no line either: write all three, or heaptrack takes the next for it.
      line += fmt::format(" {:x} {:x}", string(one_line(frame.file)), frame.file.empty() ? 0 : frame.line);
    }
    out_.text(line + "\n");
    return addresses_[node.generation][node.pc] = ++addresses_said_;
  }
  // A trace for allocations without a stack: heaptrack needs one.
  uint64_t unknown() {
    if (unknown_ != 0) return unknown_;
    const uint64_t name = string("[no stack was recorded]");
    out_.format("i 0 0 {:x} 0 0\n", name);
    out_.format("t {:x} 0\n", ++addresses_said_);
    return unknown_ = ++traces_said_;
  }

  const Recording& recording_;
  Names& names_;
  uint32_t process_;
  TextBuffer& out_;
  TextMap<uint64_t> strings_;
  NumberMap<NumberMap<uint64_t>> addresses_;  // by generation, by return address
  NumberMap<uint64_t> traces_;                // by node
  uint64_t addresses_said_ = 0, traces_said_ = 0, unknown_ = 0;
};

// Writes heaptrack's own text format, version 3.
//
// heaptrack calls a block temporary if its free is the line right after its allocation. With several threads, other
// allocations lie in between: so an allocation is held back until its millisecond is over, to be written next to its
// free, and where a free would follow its block's allocation by chance, the block gets a second number (twin()). Where
// neither helps, the difference is counted.
class HeaptrackExport {
 public:
  HeaptrackExport(const Recording& recording, Names& names, uint32_t process, uint64_t peak, const TextSink& sink)
      : recording_(recording), out_(sink), names_(recording, names, process, out_), peak_(peak) {}

  void begin(const ProcessSummary& process) {
    begin_ = process.first_time;
    std::string command;
    for (const std::string& word : process.command) command += (command.empty() ? "" : " ") + word;
    out_.text("v 10400 3\n");
    out_.text("X " + one_line(command.empty() ? process.name : command) + "\n");
    const uint32_t page = recording_.session().page_size;
    out_.format("I {:x} 0\n", page == 0 ? 4096 : page);
    // Number 0 is never used: after a free, heaptrack takes the next free of number 0 for a temporary block's.
    out_.text("a 0 0\n");
  }

  bool change(const HeapChange& change) {
    const uint64_t block = number(change.size, change.stack);
    const uint64_t ms = milliseconds(change.time);
    if (ms > held_ms_) write_held();
    held_ms_ = std::max(held_ms_, ms);
    live_ += change.is_free ? 0 - change.size : change.size;
    change.is_free ? freed(change, block, ms) : allocated(change, block);
    return out_.ok();
  }

  HeaptrackReport finish(uint64_t end) {
    write_held();
    write_frees();
    stamp(milliseconds(end));
    out_.flush();
    return report_;
  }

 private:
  // An allocation not yet in the file, the last of its thread in this millisecond: if freed soon, it is written
  // together with its free.
  struct Held {
    uint32_t thread;
    uint64_t block, address;
  };
  struct Free {
    uint64_t block;  // kNoNumber: time advanced to `ms`
    uint64_t ms;
    bool temporary;
  };

  void allocated(const HeapChange& change, uint64_t block) {
    const bool is_peak = live_ == peak_;
    if (is_peak) write_held();  // everything live must be written now
    const auto own = std::find_if(held_.begin(), held_.end(), [&](auto& one) { return one.thread == change.thread; });
    if (own != held_.end()) {
      write_allocation(*own);
      held_.erase(own);
    }
    const Held held{change.thread, block, change.address};
    is_peak ? write_allocation(held) : held_.push_back(held);
  }
  void freed(const HeapChange& change, uint64_t block, uint64_t ms) {
    const auto found =
        std::find_if(held_.begin(), held_.end(), [&](auto& one) { return one.address == change.address; });
    if (found != held_.end()) {
      write_allocation(*found);
      held_.erase(found);
    }
    if (change.temporary && block_of_last_ == block && change.address == last_address_) {
      temporary_ = true;  // before all that waits
      return;
    }
    if (ms > waiting_ms_) frees_.push_back({kNoNumber, waiting_ms_ = ms, false});
    frees_.push_back({block, ms, change.temporary});
  }
  void write_held() {
    for (const Held& one : held_) write_allocation(one);
    held_.clear();
  }
  void write_allocation(const Held& held) {
    write_frees();
    stamp(held_ms_);
    out_.format("+ {:x}\n", last_ = block_of_last_ = held.block);
    last_address_ = held.address;
  }

  uint64_t milliseconds(uint64_t ticks) const {
    return static_cast<uint64_t>(std::max<int64_t>(recording_.time().duration_ns(begin_, ticks), 0)) / 1'000'000;
  }
  // Time only advances: "c" gives milliseconds since the start.
  void stamp(uint64_t ms) {
    if (ms > ms_) out_.format("c {:x}\n", ms_ = ms);
    waiting_ms_ = ms_;
  }
  // "a" gives a size and a trace, once; "+" and "-" refer to it by number.
  uint64_t number(uint64_t size, uint32_t stack) {
    auto [found, added] = blocks_[stack].try_emplace(size, 0);
    if (added) {
      const uint64_t trace = names_.trace(stack);  // may write lines
      out_.format("a {:x} {:x}\n", size, trace);
      blocks_[stack][size] = blocks_said_++;
      traces_of_.push_back({size, trace});
      return blocks_said_ - 1;
    }
    return found->second;
  }
  // Another number with the same meaning.
  uint64_t twin(uint64_t block) {
    auto [found, added] = twins_.try_emplace(block, blocks_said_);
    if (added) {
      const Said said = traces_of_[block - 1];
      out_.format("a {:x} {:x}\n", said.size, said.trace);
      traces_of_.push_back(said);
      return blocks_said_++;
    }
    return found->second;
  }
  void write_free(uint64_t block, bool temporary) {
    // heaptrack would call it temporary.
    const bool is_last = last_ == block;
    if (is_last != temporary) {
      if (is_last) {
        block = twin(block);
      } else {
        ++report_.not_temporary;
      }
    }
    out_.format("- {:x}\n", block);
    last_ = kNoNumber;
  }
  void write_frees() {
    if (temporary_) write_free(block_of_last_, true);
    temporary_ = false;
    for (const Free& one : frees_) one.block == kNoNumber ? stamp(one.ms) : write_free(one.block, one.temporary);
    frees_.clear();
    last_address_ = 0;
  }

  struct Said {
    uint64_t size, trace;
  };
  const Recording& recording_;
  TextBuffer out_;
  HeaptrackNames names_;
  uint64_t begin_ = 0;                     // ticks
  NumberMap<NumberMap<uint64_t>> blocks_;  // by stack, by size
  NumberMap<uint64_t> twins_;              // by block
  std::vector<Said> traces_of_;            // by block - 1
  uint64_t blocks_said_ = 1;
  uint64_t live_ = 0, peak_;  // bytes
  std::vector<Held> held_;    // at most one per thread
  uint64_t held_ms_ = 0;      // when they were allocated
  std::vector<Free> frees_;   // since the last allocation
  uint64_t waiting_ms_ = 0;   // the time after these frees
  uint64_t ms_ = 0;           // the time in the file
  bool temporary_ = false;    // the last allocation was freed by its thread: comes first
  uint64_t block_of_last_ = kNoNumber, last_address_ = 0;
  uint64_t last_ = kNoNumber;  // what heaptrack remembers: the block of a + on the preceding line
  HeaptrackReport report_;
};

}  // namespace

HeaptrackReport export_heaptrack(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                                 const TextSink& sink) {
  const Summary summary = summarize(recording);
  HeaptrackExport out(recording, names, process, history.sums(process).peak, sink);
  out.begin(summary.processes[process]);
  history.for_each(process, [&](const HeapChange& change) { return out.change(change); });
  return out.finish(summary.processes[process].last_time);
}

}  // namespace penna
