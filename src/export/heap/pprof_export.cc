// SPDX-License-Identifier: MIT
// See pprof_export.h.
#include "export/heap/pprof_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "base/hex_text.h"
#include "export/text/utf8.h"
#include "model/events/summary.h"

namespace penna {
namespace {

// Field numbers of profile.proto (github.com/google/pprof), by message. Fields not written are left out.
enum Profile : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kComment = 13,
  kDefaultSampleType = 14,
};
enum ValueType : uint32_t { kType = 1, kUnit = 2 };
enum Sample : uint32_t { kLocationIds = 1, kValues = 2, kLabel = 3 };
enum Label : uint32_t { kLabelKey = 1, kLabelNumber = 3 };
enum Mapping : uint32_t {
  kMappingId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileName = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFileNames = 8,
  kHasLines = 9,
  kHasInlines = 10,
};
enum Location : uint32_t { kLocationId = 1, kMappingOf = 2, kAddress = 3, kLine = 4 };
enum Line : uint32_t { kFunctionOf = 1, kLineNumber = 2 };
enum Function : uint32_t { kFunctionId = 1, kName = 2, kSystemName = 3, kSourceFile = 4 };

// Messages refer to each other by number, and a protobuf's fields may come in any order: each is written when it is
// first needed. The string table comes last, in order of first use.
class PprofExport {
 public:
  using Message = protozero::pbf_writer;
  PprofExport(const Recording& recording, Names& names, const TextSink& sink)
      : recording_(recording), names_(names), out_(sink) {
    string("");  // number 0, by definition
  }

  bool write(const Allocations& heap) {
    const Summary summary = summarize(recording_);
    constexpr const char* kValueTypes[][2] = {
        {"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}};
    for (const auto& type : kValueTypes)
      field(kSampleType, [&](Message& message) {
        message.add_int64(kType, string(type[0]));
        message.add_int64(kUnit, string(type[1]));
      });
    map_program(heap.processes());
    // With a single process samples need no label for it.
    size_t busy = 0;
    for (const HeapTotals& totals : heap.processes()) busy += totals.allocations != 0;
    for (const StackAllocations& stack : heap.stacks()) sample(stack, busy > 1);
    Message profile(fields_);
    profile.add_int64(kTimeNanos, recording_.time().realtime_ns(summary.first_time));
    profile.add_int64(kDurationNanos, summary.duration_ns);
    profile.add_int64(kDefaultSampleType, string("inuse_space"));
    profile.add_int64(kComment, string("written by penna"));
    out_.text(fields_);
    for (const std::string& text : string_table_) {
      std::string one;
      Message(one).add_string(kStringTable, text);
      out_.text(one);
    }
    return out_.flush();
  }

 private:
  // A field of the profile that is itself a message.
  template <typename Fill>
  void field(Profile number, Fill&& fill) {
    std::string bytes;
    Message message(bytes);
    fill(message);
    std::string framed;
    Message(framed).add_message(number, bytes);
    out_.text(framed);
  }
  int64_t string(std::string_view text) {
    const std::string valid = valid_utf8(text);
    const auto [found, added] = strings_.try_emplace(valid, static_cast<int64_t>(string_table_.size()));
    if (added) string_table_.push_back(valid);
    return found->second;
  }

  void sample(const StackAllocations& stack, bool with_pid) {
    std::vector<uint64_t> locations;  // innermost first
    for (auto node = recording_.stack_node(stack.process, stack.stack); node;
         node = recording_.stack_node(stack.process, node->parent)) {
      locations.push_back(location(stack.process, *node));
      // What lies further out was not recorded. pprof cannot express this: the stack just begins here.
      if (node->cut) break;
    }
    if (locations.empty()) locations.push_back(unknown());
    const int64_t values[] = {number(stack.allocations), number(stack.bytes), number(stack.live_blocks),
                              number(stack.live_bytes)};
    field(kSample, [&](Message& message) {
      message.add_packed_uint64(kLocationIds, locations.begin(), locations.end());
      message.add_packed_int64(kValues, std::begin(values), std::end(values));
      if (!with_pid) return;
      const int64_t key = string("pid");
      Message label(message, kLabel);
      label.add_int64(kLabelKey, key);
      label.add_int64(kLabelNumber, recording_.processes()[stack.process].process.pid);
    });
  }
  // The format's numbers are int64; a sum that does not fit becomes the maximum, not negative.
  static int64_t number(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

  uint64_t location(uint32_t process, const StackNode& node) {
    // Not just the address: after dlclose another file may be there, and is another location.
    const CodePlace place = names_.map().locate_return(process, node.pc, node.generation);
    if (const auto known = locations_.find(place); known != locations_.end()) return known->second;
    const NameFrames& frames = names_.at(place);
    const MappingOf of = place.known() ? mapping(process, place.module, node.pc) : MappingOf{};
    const uint64_t id = write_location(frames, of.id, place.address + of.bias);
    locations_.try_emplace(place, id);
    return id;
  }
  uint64_t write_location(const NameFrames& frames, uint64_t mapping, uint64_t address) {
    // Functions first: each is a field of the profile itself, and must not be nested in the location's.
    std::vector<uint64_t> functions;
    for (const NameFrame& frame : frames) functions.push_back(function(frame));
    const uint64_t id = ++locations_said_;
    field(kLocation, [&](Message& message) {
      message.add_uint64(kLocationId, id);
      if (mapping != 0) message.add_uint64(kMappingOf, mapping);
      if (address != 0) message.add_uint64(kAddress, address);
      // The innermost inlined function first; the last line is the function that the code belongs to (profile.proto,
      // Location.line).
      for (size_t i = 0; i < frames.size(); ++i) {
        Message line(message, kLine);
        line.add_uint64(kFunctionOf, functions[i]);
        line.add_int64(kLineNumber, frames[i].line);
      }
    });
    return id;
  }
  uint64_t function(const NameFrame& frame) {
    const int64_t name = string(frame.function), file = string(frame.file);
    const auto [found, added] = functions_.try_emplace(
        pair_key(static_cast<uint32_t>(name), static_cast<uint32_t>(file)), functions_.size() + 1);
    const uint64_t id = found->second;
    if (added)
      field(kFunction, [&](Message& message) {
        message.add_uint64(kFunctionId, id);
        message.add_int64(kName, name);
        message.add_int64(kSystemName, name);
        message.add_int64(kSourceFile, file);
      });
    return id;
  }

  // pprof takes the first mapping for the program: it is that of the process that allocated most.
  void map_program(std::span<const HeapTotals> heaps) {
    const auto most = std::max_element(heaps.begin(), heaps.end(),
                                       [](const HeapTotals& a, const HeapTotals& b) { return a.bytes < b.bytes; });
    if (most == heaps.end()) return;
    const auto process = static_cast<uint32_t>(most - heaps.begin());
    const RecordedProcess& of = recording_.processes()[process];
    const auto program = std::find_if(of.modules.begin(), of.modules.end(),
                                      [&](const Module& one) { return one.path == of.process.executable; });
    if (program == of.modules.end()) return;
    const ModuleId module = names_.map().locate(process, program->start, program->ticks).module;
    if (module != kNoModule) mapping(process, module, program->start + 1);
  }

  // For a file: where it was first mapped. Other processes may have mapped it elsewhere; a location is a place in the
  // file, at the address that it had in that first mapping.
  struct MappingOf {
    uint64_t id = 0, bias = 0;
  };
  MappingOf mapping(uint32_t process, ModuleId module, uint64_t pc) {
    const auto [found, added] = mappings_.try_emplace(module, MappingOf{mappings_.size() + 1, 0});
    if (!added) return found->second;
    const uint64_t id = found->second.id;
    const RecordedProcess& of = recording_.processes()[process];
    const std::string& path = names_.map().path(module);
    // A return address may be the first byte after the module, if a call that never returns is its last instruction; so
    // look for the call itself.
    const auto lies = std::find_if(of.modules.begin(), of.modules.end(), [&](const Module& one) {
      return one.path == path && pc - 1 >= one.start && pc - 1 < one.end;
    });
    const Module where = lies == of.modules.end() ? Module{} : *lies;
    found.value().bias = where.bias;
    // In hexadecimal, as pprof's symbolizer compares it with what it reads from files.
    const std::string build_id = hex_text(names_.map().build_id(module));
    const int64_t name = string(path), build = string(build_id);
    field(kMapping, [&](Message& message) {
      message.add_uint64(kMappingId, id);
      message.add_uint64(kMemoryStart, where.start);
      message.add_uint64(kMemoryLimit, where.end);
      message.add_int64(kFileName, name);
      if (!build_id.empty()) message.add_int64(kBuildId, build);
      // Names are already in the profile: readers need not look for the file.
      for (const Mapping has : {kHasFunctions, kHasFileNames, kHasLines, kHasInlines}) message.add_bool(has, true);
    });
    return {id, where.bias};
  }
  uint64_t unknown() {
    if (unknown_ == 0) unknown_ = write_location({{"[no stack was recorded]", "", 0, false, false, kNoModule}}, 0, 0);
    return unknown_;
  }

  const Recording& recording_;
  Names& names_;
  TextBuffer out_;
  std::string fields_;
  TextMap<int64_t> strings_;
  std::vector<std::string> string_table_;
  NumberMap<uint64_t> functions_;  // by name and file
  NumberMap<MappingOf> mappings_;  // by ModuleId
  tsl::robin_map<CodePlace, uint64_t, CodePlaceHash> locations_;
  uint64_t locations_said_ = 0, unknown_ = 0;
};

}  // namespace

bool export_pprof(const Recording& recording, Names& names, const Allocations& heap, const TextSink& sink) {
  return PprofExport(recording, names, sink).write(heap);
}

}  // namespace penna
