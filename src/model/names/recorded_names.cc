// SPDX-License-Identifier: MIT
// See recorded_names.h.
#include "model/names/recorded_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/names/library_frames.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

// Longer names are of no use to a reader; frames inlined more deeply are dropped along with what they are inlined into.
constexpr size_t kMostText = 4096;
constexpr size_t kMostFrames = 64;

// Collects the names of one file.
class FileNamer {
 public:
  FileNamer(const SeenFile& file, SymbolSource& symbols) : symbols_(symbols) {
    names_.path = file.path;
    names_.build_id = file.build_id;
    (void)number_of("");
  }

  void add_code(uint64_t address) {
    const NamedFile file{names_.path, names_.build_id};
    FileNames::Place place;
    place.address = address;
    const std::vector<SourceFrame> frames = symbols_.code(file, address);
    if (frames.size() > kMostFrames) return;
    for (const SourceFrame& frame : frames) {
      if (std::max(frame.function.size(), frame.file.size()) > kMostText) return;
      place.frames.push_back({number_of(frame.function), number_of(frame.file), frame.line, frame.inlined});
    }
    if (symbols_.is_entry(file, address)) place.flags |= FileNames::kEntry;
    if (const auto start =
            frames.empty() ? symbols_.unnamed_start(file, address) : symbols_.function_start(file, address))
      place.start = *start, place.flags |= FileNames::kStart;
    if (!place.frames.empty() || place.flags != 0) names_.places.push_back(std::move(place));
  }

  void add_data(uint64_t address) {
    const auto symbol = symbols_.data({names_.path, names_.build_id}, address);
    if (!symbol || std::max(symbol->name.size(), symbol->member.size()) > kMostText) return;
    FileNames::Place place;
    place.address = address;
    place.start = address - symbol->offset;
    place.flags = FileNames::kData | FileNames::kStart;
    place.frames.push_back({number_of(symbol->name), number_of(symbol->member), 0, 0});
    names_.places.push_back(std::move(place));
  }

  FileNames take() { return std::move(names_); }

 private:
  uint32_t number_of(const std::string& text) {
    const auto [number, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(names_.texts.size()));
    if (is_new) names_.texts.push_back(text);
    return number->second;
  }

  SymbolSource& symbols_;
  FileNames names_;
  TextMap<uint32_t> numbers_;
};

std::string key_of(std::string_view path, std::span<const uint8_t> build_id) {
  std::string key(path);
  key.push_back('\0');  // no path contains one
  key.append(build_id.begin(), build_id.end());
  return key;
}

class SourceWithRecorded : public SymbolSource {
 public:
  SourceWithRecorded(std::unique_ptr<SymbolSource> symbols, const Recording& recording, Demangle style)
      : symbols_(std::move(symbols)), style_(style) {
    for (const FileNames& names : recording.names()) {
      File& file = files_[key_of(names.path, names.build_id)];
      for (const FileNames::Place& place : names.places)
        ((place.flags & FileNames::kData) != 0 ? file.data : file.code)[place.address] = {&names, &place};
    }
  }

  // With a recorded line, no other source knows more, and no file has to be opened. Without one, debug information may
  // have been installed since; or the file may have been stripped.
  std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) override {
    const Known known = known_code(file, address);
    const bool has_frames = known.place != nullptr && !known.place->frames.empty();
    if (!has_frames || known.place->frames.front().line == 0)
      if (std::vector<SourceFrame> found = symbols_->code(file, address); !has_frames || !found.empty()) return found;
    std::vector<SourceFrame> frames;
    for (const FileNames::Frame& frame : known.place->frames)
      frames.push_back({in_style(known.names->texts[frame.function], style_), known.names->texts[frame.file],
                        frame.line, frame.inlined != 0});
    return frames;
  }
  std::vector<std::string> names(const NamedFile& file, uint64_t start) override {
    return symbols_->names(file, start);
  }
  std::optional<uint64_t> function_start(const NamedFile& file, uint64_t address) override {
    auto start = symbols_->function_start(file, address);
    return start ? start : recorded_start(file, address, true);
  }
  std::optional<uint64_t> unnamed_start(const NamedFile& file, uint64_t address) override {
    auto start = symbols_->unnamed_start(file, address);
    return start ? start : recorded_start(file, address, false);
  }
  std::optional<DataSymbol> data(const NamedFile& file, uint64_t address) override {
    auto symbol = symbols_->data(file, address);
    const Known known = symbol ? Known{} : known_place(&File::data, file, address);
    if (known.place == nullptr || known.place->frames.empty()) return symbol;
    const FileNames::Frame& frame = known.place->frames.front();
    return DataSymbol{in_style(known.names->texts[frame.function], style_), address - known.place->start,
                      known.names->texts[frame.file]};
  }
  std::vector<std::string> enums_of_point(const NamedFile& file, uint64_t slot,
                                          std::span<const SiteArgument> arguments) override {
    return symbols_->enums_of_point(file, slot, arguments);
  }
  bool is_entry(const NamedFile& file, uint64_t address) override {
    if (symbols_->is_entry(file, address)) return true;
    const Known known = known_code(file, address);
    return known.place != nullptr && (known.place->flags & FileNames::kEntry) != 0;
  }
  std::string problem(const NamedFile& file) override { return symbols_->problem(file); }
  bool is_lost(const NamedFile& file) override { return symbols_->is_lost(file); }

 private:
  struct Known {
    const FileNames* names = nullptr;
    const FileNames::Place* place = nullptr;  // null: none
  };
  struct File {
    NumberMap<Known> code, data;  // by address
  };
  Known known_place(NumberMap<Known> File::*places, const NamedFile& file, uint64_t address) const {
    const auto found = files_.find(key_of(file.path, file.build_id));
    if (found == files_.end()) return {};
    const auto place = (found->second.*places).find(address);
    return place != (found->second.*places).end() ? place->second : Known{};
  }
  Known known_code(const NamedFile& file, uint64_t address) const { return known_place(&File::code, file, address); }
  std::optional<uint64_t> recorded_start(const NamedFile& file, uint64_t address, bool named) const {
    const Known known = known_code(file, address);
    if (known.place == nullptr || (known.place->flags & FileNames::kStart) == 0) return std::nullopt;
    return known.place->frames.empty() == named ? std::nullopt : std::optional(known.place->start);
  }

  std::unique_ptr<SymbolSource> symbols_;
  Demangle style_;
  TextMap<File> files_;
};

}  // namespace

std::vector<FileNames> names_of(std::vector<SeenFile> files, SymbolSource& symbols, SymbolSource& of_libraries,
                                const std::function<bool()>& goes_on) {
  std::stable_partition(files.begin(), files.end(), [](const SeenFile& file) { return !is_library_file(file.path); });
  std::vector<FileNames> all;
  for (const SeenFile& file : files) {
    FileNamer namer(file, is_library_file(file.path) ? of_libraries : symbols);
    for (const uint64_t address : file.data)
      if (goes_on()) namer.add_data(address);
    for (const uint64_t address : file.code)
      if (goes_on()) namer.add_code(address);
    if (FileNames names = namer.take(); !names.places.empty()) all.push_back(std::move(names));
  }
  return all;
}

std::unique_ptr<SymbolSource> with_recorded_names(std::unique_ptr<SymbolSource> symbols, const Recording& recording,
                                                  Demangle style) {
  if (recording.names().empty()) return symbols;
  return std::make_unique<SourceWithRecorded>(std::move(symbols), recording, style);
}

std::unique_ptr<SymbolSource> make_symbol_source(const SymbolOptions& options, const Recording& recording) {
  SymbolOptions of_recording = options;
  // An imported recording says when it began, to the second, and not when it ended.
  if (recording.clocks().size() > 1) of_recording.unverified_until = recording.clocks().back().realtime_ns;
  return with_recorded_names(make_symbol_source(of_recording), recording, options.demangle);
}

}  // namespace penna
