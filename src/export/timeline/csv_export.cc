// SPDX-License-Identifier: MIT
// See csv_export.h.
#include "export/timeline/csv_export.h"

#include <fmt/format.h>

#include <optional>

#include "export/text/csv_writer.h"
#include "export/text/event_words.h"
#include "model/events/summary.h"

namespace penna {
namespace {

// A name or a value between the ';' of its column; a name ends with '='. Escaped with backslashes, inside of CSV's own
// quotes.
std::string escaped(const std::string& word, bool is_name) {
  std::string text;
  for (char c : word) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == ';' || c == '\\' || (is_name && c == '=')) text += '\\';
    text += c;
  }
  return text;
}

// Live blocks, so that a free can report the block it ends. Memory: the live blocks.
class LiveBlocks {
 public:
  struct Block {
    uint64_t size, begin;
  };
  // The block that a line frees.
  std::optional<Block> change(const TimelineLine& line) {
    if (line.kind == LineKind::kAllocation) {
      live_[line.process].insert_or_assign(line.address, Block{line.size, line.time});
    } else if (line.kind == LineKind::kFree) {
      auto& live = live_[line.process];
      const auto found = live.find(line.address);
      if (found == live.end()) return std::nullopt;
      const Block block = found->second;
      // realloc records its free first, before it knows whether it will succeed.
      if (line.family == PENNA_FAMILY_REALLOC) may_fail_.insert_or_assign(line.thread, block);
      live.erase(found);
      return block;
    } else if (line.kind == LineKind::kReallocFailed) {
      // The free that its thread recorded just before did not happen.
      if (const auto block = may_fail_.find(line.thread); block != may_fail_.end())
        live_[line.process].try_emplace(line.address, block->second);
    }
    return std::nullopt;
  }

 private:
  NumberMap<NumberMap<Block>> live_;  // by process, by address
  NumberMap<Block> may_fail_;         // by thread: the block its realloc freed last
};

class CsvExport {
 public:
  CsvExport(const Recording& recording, Names& names, const TextSink& sink)
      : recording_(recording), words_(recording, names), csv_(sink) {}

  void header() {
    for (const char* name : {"time_ns", "pid", "tid", "kind", "name", "address", "size", "duration_ns", "stack",
                             "arguments", "depth", "end"})
      csv_.field(name);
    csv_.end_row();
  }

  bool line(const TimelineLine& line) {
    // Also blocks of other threads: a requested one may free them.
    const std::optional<LiveBlocks::Block> freed = blocks_.change(line);
    if (!takes_thread(recording_, line.thread)) return true;
    csv_.field(words_.time_ns(line.time));
    csv_.field(recording_.processes()[line.process].process.pid);
    csv_.field(recording_.threads()[line.thread].tid);
    csv_.field(line_kind_name(line));
    csv_.field(words_.name(line));
    const uint64_t address = words_.address(line);
    address == 0 ? csv_.empty() : csv_.address(address);
    freed ? csv_.field(freed->size) : size(line);
    if (freed) {
      csv_.field(recording_.time().duration_ns(freed->begin, line.time));
    } else {
      has_wait_or_hold(line) ? csv_.field(words_.duration_ns(line)) : csv_.empty();
    }
    csv_.field(words_.folded_stack(line));
    csv_.field(csv_arguments(line, words_));
    csv_.field(line.depth);
    csv_.field(std::string(end_word(line)));
    csv_.end_row();
    return csv_.ok();
  }
  bool finish() { return csv_.finish(); }

 private:
  // Why a call without an exit of its own ended.
  static const char* end_word(const TimelineLine& line) {
    if (!is_end_without_event(line)) return "";
    return line.end == CallEnd::kJump ? "jump" : "unwound";
  }

  void size(const TimelineLine& line) {
    if (line.size != 0 || line.kind == LineKind::kAllocation) return csv_.field(line.size);
    if (line.kind != LineKind::kLost) return csv_.empty();
    csv_.field(lost_events(line));
  }

  const Recording& recording_;
  EventWords words_;
  CsvWriter csv_;
  LiveBlocks blocks_;
};

}  // namespace

std::string csv_arguments(const TimelineLine& line, EventWords& words) {
  std::string text;
  words.each_argument(line, [&](const std::string& name, const ArgumentValue&, const std::string& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", escaped(name, true), escaped(value, false));
  });
  return text;
}

bool export_csv(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                WalkReport* walk) {
  CsvExport out(recording, names, sink);
  out.header();
  *walk = for_each_event_line(
      recording, step, [&](const TimelineLine& line) { return out.line(line); }, true, true);
  return out.finish();
}

}  // namespace penna
