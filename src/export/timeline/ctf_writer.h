// SPDX-License-Identifier: MIT
// CtfWriter: writes events as a Common Trace Format 1.8 trace: packets of one stream, and the metadata that describes
// them.
//
// Usage: for each event begin(), its fields, end("name"). An event's layout follows from its fields: each combination
// of name, field names and field types becomes an event class. metadata() comes at the end.
// https://diamon.org/ctf/v1.8.3/
// Invariant: what metadata() declares is what the packets hold, whatever names and text come in: names are made
// identifiers (each with the leading '_' that readers remove), text is not truncated at any byte: a zero in it becomes
// "\0".
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/text/text_sink.h"

namespace penna {

struct CtfTrace {
  std::string host;
  uint8_t uuid[16] = {};
  uint64_t clock_offset_ns = 0;  // of timestamp 0 from 1970
  // Further fields of the trace's environment: numbers and texts.
  std::vector<std::pair<std::string, int64_t>> numbers;
  std::vector<std::pair<std::string, std::string>> texts;
};

class CtfWriter {
 public:
  CtfWriter(TextSink stream, CtfTrace trace) : stream_(std::move(stream)), trace_(std::move(trace)) {}

  // Timestamps in nanoseconds, never decreasing.
  void begin(uint64_t timestamp, uint32_t pid, uint32_t tid);
  void number(std::string_view name, int64_t value);
  void number(std::string_view name, uint64_t value);
  void address(std::string_view name, uint64_t value);  // displayed in hexadecimal
  void real(std::string_view name, double value);
  void truth(std::string_view name, bool value);
  void byte(std::string_view name, uint8_t value);
  void text(std::string_view name, std::string_view value);
  // Elements of a penna_arg_type, `element_bytes` (1, 2, 4 or 8) each, as they are in memory; a field NAME_cut says
  // whether there were more. False, with nothing written: there is no such element type.
  bool array(std::string_view name, uint8_t element_type, uint8_t element_bytes, std::string_view elements, bool cut);
  // False if the sink returned false.
  bool end(std::string_view name);

  // This many events were lost before the next one, or the end.
  void lost(uint64_t events) { lost_ += events; }
  // True if there are so many event classes that no event should add another one: only a hostile recording has that
  // many.
  bool is_full() const { return signatures_.size() >= kMaxClasses; }
  bool finish();
  std::string metadata() const;

 private:
  static constexpr size_t kMaxClasses = 100'000;
  template <typename T>
  void put(T value);
  void field(std::string_view name, std::string_view type, bool is_array = false);
  bool flush();
  std::string event_class(uint32_t id) const;

  TextSink stream_;
  CtfTrace trace_;
  std::string packet_, payload_, signature_;
  uint64_t timestamp_ = 0, packet_begin_ = 0, packet_end_ = 0;
  uint32_t pid_ = 0, tid_ = 0;
  uint64_t packets_ = 0, lost_ = 0, reported_ = 0;    // reported_: lost events reported so far
  std::map<std::string, uint32_t, std::less<>> ids_;  // by name and fields
  std::vector<std::string> signatures_;               // by id
};

}  // namespace penna
