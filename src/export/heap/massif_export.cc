// SPDX-License-Identifier: MIT
// See massif_export.h.
#include "export/heap/massif_export.h"

#include <algorithm>
#include <string>
#include <vector>

#include "export/text/event_words.h"
#include "model/events/summary.h"

namespace penna {
namespace {

constexpr uint64_t kSteps = 60;  // ms_print draws 72 columns
constexpr uint64_t kDetailedEvery = 10;
// Like massif's own --threshold.
constexpr double kThreshold = 1.0;  // percent of the total
constexpr size_t kMaxDepth = 256;   // frames
// For programs that run shorter than this, time is counted in bytes, as with --time-unit=B.
constexpr int64_t kShortNs = 1'000'000'000;

// Live bytes by stack, as a tree from the innermost frame outwards. Built per snapshot.
class MassifTree {
 public:
  MassifTree(const Recording& recording, Names& names, uint32_t process)
      : recording_(recording), names_(names), process_(process) {}

  void add(uint32_t stack, uint64_t bytes) {
    size_t at = 0;
    nodes_[0].bytes += bytes;
    size_t depth = 0;
    for (auto node = recording_.stack_node(process_, stack); node;
         node = recording_.stack_node(process_, node->parent)) {
      for (const NameFrame& frame : names_.frame(process_, node->pc, node->generation)) {
        if (++depth > kMaxDepth) return;
        // Inlined frames are separate nodes.
        at = child(at, &frame, node->pc, bytes);
      }
      if (node->cut) return;
    }
    if (at == 0) child(0, nullptr, 0, bytes);
  }

  void write(TextBuffer& out) { write(out, 0, 0); }

 private:
  struct Node {
    const NameFrame* frame = nullptr;  // null: the root, or allocations without stack
    uint64_t pc = 0;
    uint64_t bytes = 0;
    std::vector<uint32_t> children;
  };

  size_t child(size_t parent, const NameFrame* frame, uint64_t pc, uint64_t bytes) {
    // Names keeps a place's frames in place, so their address distinguishes functions, and the same function called
    // from two places in its caller.
    const auto key = reinterpret_cast<uintptr_t>(frame);
    const auto [found, added] = by_parent_[parent].try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    const uint32_t number = found->second;
    if (added) {
      nodes_.push_back({frame, pc, 0, {}});
      nodes_[parent].children.push_back(number);
    }
    nodes_[number].bytes += bytes;
    return number;
  }

  std::string text(const Node& node) const {
    if (node.frame == nullptr) return "(no stack was recorded)";
    const NameFrame& frame = *node.frame;
    std::string place;
    if (!frame.file.empty()) {
      place = frame.line == 0 ? fmt::format(" ({})", file_name_of(frame.file))
                              : fmt::format(" ({}:{})", file_name_of(frame.file), frame.line);
    } else if (frame.module != kNoModule) {
      place = fmt::format(" (in {})", names_.map().path(frame.module));
    }
    return one_line(fmt::format("0x{:X}: {}{}", node.pc, frame.named ? frame.function : "???", place));
  }

  // Children below the threshold share one line, as massif writes it.
  void write(TextBuffer& out, uint32_t at, size_t depth) {
    Node& node = nodes_[at];
    std::stable_sort(node.children.begin(), node.children.end(),
                     [&](uint32_t a, uint32_t b) { return nodes_[a].bytes > nodes_[b].bytes; });
    const double least = kThreshold / 100 * static_cast<double>(nodes_[0].bytes);
    const auto small = std::find_if(node.children.begin(), node.children.end(),
                                    [&](uint32_t one) { return static_cast<double>(nodes_[one].bytes) < least; });
    const auto shown = static_cast<size_t>(small - node.children.begin());
    const size_t left = node.children.size() - shown;
    out.text(std::string(depth, ' '));
    out.format("n{}: {} {}\n", shown + (left != 0), node.bytes,
               at == 0 ? "(heap allocation functions) malloc/new/new[], --alloc-fns, etc." : text(node));
    for (size_t i = 0; i < shown; ++i) write(out, node.children[i], depth + 1);
    if (left == 0) return;
    uint64_t bytes = 0;
    for (size_t i = shown; i < nodes_[at].children.size(); ++i) bytes += nodes_[nodes_[at].children[i]].bytes;
    out.text(std::string(depth + 1, ' '));
    out.format("n0: {} in {} place{}, {}below massif's threshold ({:.2f}%)\n", bytes, left, left == 1 ? "" : "s",
               left == 1 ? "" : "all ", kThreshold);
  }

  const Recording& recording_;
  Names& names_;
  uint32_t process_;
  std::vector<Node> nodes_{Node{}};
  NumberMap<NumberMap<uint32_t>> by_parent_;  // by node, by frame
};

// Snapshots at kSteps + 1 times, every tenth with its tree, and one at the peak, where it is first reached.
class MassifExport {
 public:
  MassifExport(const Recording& recording, Names& names, uint32_t process, const HeapSums& totals, const TextSink& sink)
      : recording_(recording), names_(names), process_(process), totals_(totals), out_(sink) {}

  void begin(const ProcessSummary& process) {
    begin_ = process.first_time;
    const int64_t ns = std::max<int64_t>(recording_.time().duration_ns(begin_, process.last_time), 0);
    in_bytes_ = ns < kShortNs;
    end_ = in_bytes_ ? totals_.moved : static_cast<uint64_t>(ns) / 1'000'000;
    std::string command;
    for (const std::string& word : process.command) command += (command.empty() ? "" : " ") + word;
    out_.format("desc: penna\ncmd: {}\ntime_unit: {}\n", one_line(command.empty() ? process.name : command),
                in_bytes_ ? "B" : "ms");
  }

  bool change(const HeapChange& change) {
    const uint64_t time =
        in_bytes_ ? moved_ + change.size
                  : static_cast<uint64_t>(std::max<int64_t>(recording_.time().duration_ns(begin_, change.time), 0)) /
                        1'000'000;
    // Steps before this change: memory was then as after the previous one.
    for (; next_step_ < kSteps && step_time(next_step_) < time; ++next_step_) {
      now_ = std::max(now_, step_time(next_step_));
      snapshot(next_step_ % kDetailedEvery == 0 && next_step_ != 0 ? "detailed" : "empty");
    }
    now_ = std::max(now_, time);
    moved_ += change.size;
    uint64_t& of_stack = live_[change.stack];
    if (change.is_free) {
      of_stack -= change.size;
      live_bytes_ -= change.size;
    } else {
      of_stack += change.size;
      live_bytes_ += change.size;
      if (live_bytes_ == totals_.peak && !peak_done_) {
        peak_done_ = true;
        snapshot("peak");
      }
    }
    return out_.ok();
  }

  bool finish() {
    for (; next_step_ < kSteps; ++next_step_) {
      now_ = std::max(now_, step_time(next_step_));
      snapshot("empty");
    }
    now_ = std::max(now_, end_);
    snapshot("detailed");
    return out_.flush();
  }

 private:
  // In 128 bits: bytes moved, times 60, may not fit in 64.
  uint64_t step_time(uint64_t step) const {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(end_) * step / kSteps);
  }
  void snapshot(const char* tree) {
    out_.format(
        "#-----------\nsnapshot={}\n#-----------\ntime={}\nmem_heap_B={}\nmem_heap_extra_B=0\n"
        "mem_stacks_B=0\nheap_tree={}\n",
        snapshots_++, now_, live_bytes_, tree);
    if (std::string_view(tree) == "empty") return;
    MassifTree stacks(recording_, names_, process_);
    std::vector<std::pair<uint64_t, uint64_t>> sorted(live_.begin(), live_.end());  // hash map order is arbitrary
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [stack, bytes] : sorted)
      if (bytes != 0) stacks.add(static_cast<uint32_t>(stack), bytes);
    stacks.write(out_);
  }

  const Recording& recording_;
  Names& names_;
  uint32_t process_;
  HeapSums totals_;
  TextBuffer out_;
  bool in_bytes_ = false;
  uint64_t begin_ = 0;  // ticks
  uint64_t end_ = 0;    // in the unit of time, like the others
  uint64_t now_ = 0;
  uint64_t moved_ = 0;  // bytes allocated and freed
  uint64_t next_step_ = 0, snapshots_ = 0;
  uint64_t live_bytes_ = 0;
  bool peak_done_ = false;
  NumberMap<uint64_t> live_;  // by stack
};

}  // namespace

void export_massif(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                   const TextSink& sink) {
  const Summary summary = summarize(recording);
  MassifExport out(recording, names, process, history.sums(process), sink);
  out.begin(summary.processes[process]);
  history.for_each(process, [&](const HeapChange& change) { return out.change(change); });
  out.finish();
}

}  // namespace penna
