// SPDX-License-Identifier: MIT
// FarView: shows what the etrace of another machine sends.
//
// Invariant: files are opened only for the user who starts us: names come from the file that he names, or from the
// other machine, never from a path that it sends.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "live/live_view.h"
#include "model/names/symbol_source.h"
#include "wire.h"

namespace penna {

// The names that were sent. Any thread: the reader adds, the view looks up.
class SentNames : public SymbolSource {
 public:
  // `own_file`: the one file that `own` may be asked about; empty: none.
  SentNames(std::string own_file, std::unique_ptr<SymbolSource> own)
      : own_file_(std::move(own_file)), own_(std::move(own)) {}
  void add(std::string_view path, uint64_t address, std::string_view name);

  std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) override;
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t) override { return false; }
  std::string problem(const NamedFile&) override { return ""; }

 private:
  const std::string own_file_;
  const std::unique_ptr<SymbolSource> own_;
  std::mutex mutex_;                                                // guards all below
  std::map<std::string, std::map<uint64_t, std::string>> by_file_;  // path, address in the file
};

// Forwards what was received to a view.
class FarView : public WireListener {
 public:
  FarView(LiveView& view, SentNames& names) : view_(view), names_(names) {}
  void began(const Process& process) override { view_.observer().began(process); }
  void records(uint32_t process, std::span<const uint8_t> chunk, uint64_t calls, uint64_t others) override;
  void name(std::string_view path, uint64_t address, std::string_view name) override {
    names_.add(path, address, name);
  }
  void ended(const ProcessEnd& end) override { view_.observer().ended(end); }
  void up_to_date() override { view_.observer().up_to_date(); }

 private:
  LiveView& view_;
  SentNames& names_;
};

}  // namespace penna
