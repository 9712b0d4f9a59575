// SPDX-License-Identifier: MIT
// The tables of stacks and their parts: stack, frame, symbol.
#include <algorithm>
#include <map>
#include <tuple>

#include "export/text/event_words.h"
#include "export/text/utf8.h"
#include "sql/columns.h"
#include "sql/scans.h"

namespace penna::sql_scans {
namespace {

// Every stack of every process, one after another.
class StackWalk : public Scan {
 public:
  StackWalk(SqlSource& source, const ScanRequest& request) : source_(source), request_(request) {}

  bool fill(RowBatch& out) final {
    const auto processes = static_cast<uint32_t>(source_.recording().processes().size());
    while (process_ < processes && out.rows() < kBatchRows) {
      const std::optional<uint32_t> id = source_.recording().next_stack_node(process_, next_);
      if (!id || next_ == UINT32_MAX) {
        ++process_;
        next_ = 1;
        continue;
      }
      next_ = std::min(*id, UINT32_MAX - 1) + 1;
      source_.with_names([&](Names& names) { add(process_, *id, names, out); });
    }
    if (process_ == processes && out.rows() < kBatchRows) finish(out);
    return out.rows() != 0;
  }

 protected:
  virtual void add(uint32_t process, uint32_t stack, Names& names, RowBatch& out) = 0;
  virtual void finish(RowBatch&) {}
  static void add_place(const NameFrame& frame, Names& names, RowBatch& out, size_t function, size_t module,
                        size_t file, size_t line) {
    out.own_text(function, valid_utf8(frame.full_name()));
    if (frame.module != kNoModule && out.wants(module))
      out.own_text(module, valid_utf8(names.map().file_name(frame.module)));
    if (!frame.file.empty()) out.own_text(file, valid_utf8(frame.file));
    if (frame.line != 0) out.number(line, frame.line);
  }

  SqlSource& source_;
  const ScanRequest& request_;

 private:
  uint32_t process_ = 0, next_ = 1;  // 0 is the root, which is not a frame
};

class StackScan : public StackWalk {
 public:
  using StackWalk::StackWalk;

 private:
  void add(uint32_t of_process, uint32_t stack, Names& names, RowBatch& out) override {
    using namespace stack_column;
    const StackNode node = *source_.recording().stack_node(of_process, stack);
    out.begin_row();
    out.number(id, source_.stack_id(of_process, stack));
    out.number(recording, source_.number());
    out.number(process, source_.process_id(of_process));
    if (node.parent != 0) out.number(parent, source_.stack_id(of_process, node.parent));
    out.number(depth, node.depth);
    out.number(address, static_cast<int64_t>(node.pc));
    if (out.wants(function) || out.wants(module) || out.wants(file) || out.wants(line))
      add_place(names.frame(of_process, node.pc, node.generation).back(), names, out, function, module, file, line);
    if (!out.wants(text)) return;
    if (!words_) words_ = std::make_unique<EventWords>(source_.recording(), names);
    out.own_text(text, valid_utf8(words_->folded_stack(of_process, stack)));
  }
  std::unique_ptr<EventWords> words_;
};

class FrameScan : public StackWalk {
 public:
  using StackWalk::StackWalk;

 private:
  void add(uint32_t of_process, uint32_t of_stack, Names& names, RowBatch& out) override {
    using namespace frame_column;
    const NamedStack named = names.stack(of_process, of_stack);
    for (size_t at = 0; at < named.frames.size(); ++at) {
      out.begin_row();
      out.number(stack, source_.stack_id(of_process, of_stack));
      out.number(recording, source_.number());
      out.number(process, source_.process_id(of_process));
      out.number(level, static_cast<int64_t>(at));
      add_place(*named.frames[at], names, out, function, module, file, line);
      out.number(inlined, named.frames[at]->inlined);
    }
  }
};

// One row per function; they are few compared with the stacks.
class SymbolScan : public StackWalk {
 public:
  using StackWalk::StackWalk;

 private:
  struct Use {
    uint32_t line = 0;
    bool called = false, in_stacks = false;
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // function, module, file

  Use& use_of(const NameFrame& frame, Names& names) {
    std::string module = frame.module == kNoModule ? "" : names.map().file_name(frame.module);
    Use& use = uses_[{frame.full_name(), std::move(module), frame.file}];
    if (use.line == 0) use.line = frame.line;
    return use;
  }
  void add(uint32_t process, uint32_t stack, Names& names, RowBatch&) override {
    const StackNode node = *source_.recording().stack_node(process, stack);
    const NameFrames& frames = names.frame(process, node.pc, node.generation);
    if (frames.back().is_agents) return;
    for (const NameFrame& frame : frames) use_of(frame, names).in_stacks = true;
  }
  void add_called(Names& names) {
    const CodeMap map(source_.recording());
    FunctionTable functions(map);
    const auto intern = [&](const auto& some) {
      if constexpr (std::is_same_v<std::decay_t<decltype(some)>, CallRun>) {
        for (const CallEvent& call : some.calls)
          if (call.is_entry) functions.intern(some.process, call.pc, call.time);
      } else if (some.record.kind == PENNA_KIND_CALL_ENTRY && !some.inherited) {
        functions.intern(some.process, some.record.pc, some.time);
      }
    };
    source_.add_unreadable(for_each_thread_event(source_.recording(), {.classes = kCallEvents}, intern).unreadable);
    for (FunctionId id = 0; id < functions.size(); ++id)
      use_of(names.at(functions.place(id)).back(), names).called = true;
  }
  void finish(RowBatch& out) override {
    using namespace symbol_column;
    if (!is_gathered_) {
      is_gathered_ = true;
      source_.with_names([&](Names& names) { add_called(names); });
      next_ = uses_.begin();
    }
    for (; next_ != uses_.end() && out.rows() < kBatchRows; ++next_) {
      const auto& [name, in_module, in_file] = next_->first;
      out.begin_row();
      out.number(recording, source_.number());
      out.own_text(function, valid_utf8(name));
      if (!in_module.empty()) out.own_text(module, valid_utf8(in_module));
      if (!in_file.empty()) out.own_text(file, valid_utf8(in_file));
      if (next_->second.line != 0) out.number(line, next_->second.line);
      out.number(called, next_->second.called);
      out.number(in_stacks, next_->second.in_stacks);
    }
  }

  std::map<Key, Use> uses_;
  std::map<Key, Use>::const_iterator next_;
  bool is_gathered_ = false;
};

}  // namespace

Parts scan_stacks(SqlSource& source, SqlTable table, const ScanRequest& request) {
  Parts parts;
  if (table == SqlTable::kStack) parts.push_back(std::make_unique<StackScan>(source, request));
  if (table == SqlTable::kFrame) parts.push_back(std::make_unique<FrameScan>(source, request));
  if (table == SqlTable::kSymbol) parts.push_back(std::make_unique<SymbolScan>(source, request));
  return parts;
}

}  // namespace penna::sql_scans
