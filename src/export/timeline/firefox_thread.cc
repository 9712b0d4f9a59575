// SPDX-License-Identifier: MIT
// See firefox_thread.h.
#include "export/timeline/firefox_thread.h"

#include <fmt/format.h>

#include <string>

namespace penna {
namespace {

double ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// A column: write(entry) for each entry.
template <typename Entries, typename Write>
void column(JsonWriter& json, const char* name, const Entries& entries, Write&& write) {
  json.key(name);
  json.begin_array();
  for (const auto& entry : entries) write(entry);
  json.end_array();
}
// A column with the same value throughout.
template <typename Entries, typename Value>
void constant(JsonWriter& json, const char* name, const Entries& entries, Value value) {
  column(json, name, entries, [&](const auto&) { json.value(value); });
}
template <typename Entries>
void nulls(JsonWriter& json, const char* name, const Entries& entries) {
  column(json, name, entries, [&](const auto&) { json.null(); });
}
void value_or_null(JsonWriter& json, std::optional<uint32_t> value) { value ? json.value(*value) : json.null(); }

void begin_table(JsonWriter& json, const char* name, size_t length) {
  json.new_line();
  json.key(name);
  json.begin_object();
  json.field("length", uint64_t{length});
}

}  // namespace

uint32_t FirefoxThread::text(std::string_view text) {
  const auto [number, is_new] = text_numbers_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return number->second;
}

uint32_t FirefoxThread::function_of(const FirefoxFrame& frame) {
  const std::string key = fmt::format("{}\n{}\n{}", frame.function, frame.file, frame.lib ? int64_t{*frame.lib} : -1);
  const auto [number, is_new] = function_numbers_.try_emplace(key, static_cast<uint32_t>(functions_.size()));
  if (is_new)
    functions_.push_back({text(frame.function),
                          frame.file.empty() ? std::optional<uint32_t>{} : std::optional(text(frame.file)), frame.lib});
  return number->second;
}

FirefoxThread::Stack FirefoxThread::within(Stack prefix, const FirefoxFrame& frame) {
  const uint32_t function = function_of(frame);
  const auto [known, is_new] =
      frame_numbers_.try_emplace(pair_key(function, frame.line), static_cast<uint32_t>(frames_.size()));
  if (is_new) frames_.push_back({function, frame.line});
  const uint32_t number = known->second;
  const auto [node, is_new_node] =
      node_numbers_.try_emplace(pair_key(prefix ? *prefix + 1 : 0, number), static_cast<uint32_t>(nodes_.size()));
  if (is_new_node) nodes_.push_back({prefix, number});
  return node->second;
}

void FirefoxThread::add_sample(Stack stack, int64_t time, int64_t weight) { samples_.push_back({stack, time, weight}); }

void FirefoxThread::add_marker(const char* type, std::string_view name, int64_t begin, std::optional<int64_t> end,
                               Stack stack, std::vector<FirefoxField> fields) {
  markers_.push_back({type, text(name), begin, end, stack, std::move(fields)});
}

void FirefoxThread::add_allocation(Stack stack, int64_t time, int64_t bytes, uint64_t address, uint32_t tid) {
  allocations_.push_back({stack, time, bytes, address, tid});
}

void FirefoxThread::write_samples(JsonWriter& json) const {
  const bool is_time = std::string_view(weight_type_) == "tracing-ms";
  begin_table(json, "samples", samples_.size());
  json.field("weightType", weight_type_);
  column(json, "stack", samples_, [&](const Sample& one) { value_or_null(json, one.stack); });
  column(json, "time", samples_, [&](const Sample& one) { json.value(ms(one.time)); });
  column(json, "weight", samples_,
         [&](const Sample& one) { is_time ? json.value(ms(one.weight)) : json.value(one.weight); });
  json.end_object();
}

void FirefoxThread::write_markers(JsonWriter& json) const {
  begin_table(json, "markers", markers_.size());
  constant(json, "category", markers_, 0);
  column(json, "name", markers_, [&](const Marker& one) { json.value(one.name); });
  column(json, "startTime", markers_, [&](const Marker& one) { json.value(ms(one.begin)); });
  column(json, "endTime", markers_, [&](const Marker& one) { one.end ? json.value(ms(*one.end)) : json.null(); });
  column(json, "phase", markers_, [&](const Marker& one) { json.value(one.end ? 1 : 0); });
  column(json, "data", markers_, [&](const Marker& one) {
    json.begin_object();
    json.field("type", one.type);
    for (const FirefoxField& field : one.fields) json.field(field.key, field.text);
    if (one.stack) {
      json.key("cause");
      json.begin_object();
      json.field("time", ms(one.begin));
      json.field("stack", *one.stack);
      json.end_object();
    }
    json.end_object();
  });
  json.end_object();
}

void FirefoxThread::write_allocations(JsonWriter& json) const {
  if (allocations_.empty()) return;
  begin_table(json, "nativeAllocations", allocations_.size());
  json.field("weightType", "bytes");
  column(json, "stack", allocations_, [&](const Allocation& one) { value_or_null(json, one.stack); });
  column(json, "time", allocations_, [&](const Allocation& one) { json.value(ms(one.time)); });
  column(json, "weight", allocations_, [&](const Allocation& one) { json.value(one.bytes); });
  column(json, "memoryAddress", allocations_, [&](const Allocation& one) { json.value(one.address); });
  column(json, "threadId", allocations_, [&](const Allocation& one) { json.value(one.tid); });
  json.end_object();
}

void FirefoxThread::write_stacks(JsonWriter& json) const {
  begin_table(json, "stackTable", nodes_.size());
  column(json, "prefix", nodes_, [&](const Node& one) { value_or_null(json, one.prefix); });
  column(json, "frame", nodes_, [&](const Node& one) { json.value(one.frame); });
  constant(json, "category", nodes_, 0);
  constant(json, "subcategory", nodes_, 0);
  json.end_object();
  begin_table(json, "frameTable", frames_.size());
  constant(json, "address", frames_, -1);
  constant(json, "inlineDepth", frames_, 0);
  constant(json, "category", frames_, 0);
  constant(json, "subcategory", frames_, 0);
  column(json, "func", frames_, [&](const Frame& one) { json.value(one.function); });
  column(json, "line", frames_, [&](const Frame& one) { one.line != 0 ? json.value(one.line) : json.null(); });
  constant(json, "innerWindowID", frames_, 0);
  for (const char* name : {"nativeSymbol", "implementation", "column"}) nulls(json, name, frames_);
  json.end_object();
}

// Each file that contains functions is a resource.
void FirefoxThread::write_functions(JsonWriter& json, const std::vector<std::string>& libs) const {
  begin_table(json, "funcTable", functions_.size());
  column(json, "name", functions_, [&](const Function& one) { json.value(one.name); });
  column(json, "resource", functions_, [&](const Function& one) { one.lib ? json.value(*one.lib) : json.value(-1); });
  column(json, "fileName", functions_, [&](const Function& one) { value_or_null(json, one.file); });
  constant(json, "isJS", functions_, false);
  constant(json, "relevantForJS", functions_, false);
  for (const char* name : {"lineNumber", "columnNumber"}) nulls(json, name, functions_);
  json.end_object();
  begin_table(json, "resourceTable", libs.size());
  uint32_t lib = 0;
  column(json, "lib", libs, [&](const std::string&) { json.value(lib++); });
  uint32_t name = static_cast<uint32_t>(texts_.size());  // write() appends them to the texts
  column(json, "name", libs, [&](const std::string&) { json.value(name++); });
  nulls(json, "host", libs);
  constant(json, "type", libs, 1);  // a library
  json.end_object();
  begin_table(json, "nativeSymbols", 0);
  for (const char* column : {"libIndex", "address", "name", "functionSize"}) {
    json.key(column);
    json.begin_array();
    json.end_array();
  }
  json.end_object();
}

void FirefoxThread::write(JsonWriter& json, const About& about, const std::vector<std::string>& libs) const {
  json.new_line();
  json.begin_object();
  json.field("name", about.name);
  json.field("isMainThread", about.is_main);
  json.field("processType", "default");
  json.field("processName", about.process_name);
  json.field("pid", std::to_string(about.pid));
  json.field("tid", about.tid);
  for (const char* time : {"processStartupTime", "registerTime"}) json.field(time, 0);
  for (const char* time : {"processShutdownTime", "unregisterTime"}) {
    json.key(time);
    json.null();
  }
  json.key("pausedRanges");
  json.begin_array();
  json.end_array();
  write_samples(json);
  write_markers(json);
  write_allocations(json);
  write_stacks(json);
  write_functions(json, libs);
  json.new_line();
  json.key("stringArray");
  json.begin_array();
  for (const std::string& one : texts_) json.value(one);
  for (const std::string& one : libs) json.value(one);
  json.end_array();
  json.end_object();
}

}  // namespace penna
