// SPDX-License-Identifier: MIT
// FirefoxThread: the tables of one thread of a Firefox profile, collected and then written.
//
// Why collected: the format has a column for each field, so nothing can be written before everything is known.
// Invariant: every stored index refers to an existing entry; the columns of a table have the same length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "export/text/json_writer.h"

namespace penna {

// A frame in the format's terms. `lib`: number of the file that contains it; nothing: unknown.
struct FirefoxFrame {
  std::string_view function, file = {};
  uint32_t line = 0;  // 0: unknown
  std::optional<uint32_t> lib = {};
};

// A field of a marker; names as in the schemas (firefox_export.cc).
struct FirefoxField {
  const char* key;
  std::string text;
};

class FirefoxThread {
 public:
  using Stack = std::optional<uint32_t>;  // nothing: no function

  // The stack of a function called in `prefix`.
  Stack within(Stack prefix, const FirefoxFrame& frame);

  // Times are nanoseconds. A sample stands for `weight`, in the common unit: "tracing-ms" (passed in nanoseconds),
  // "bytes" or "samples".
  void add_sample(Stack stack, int64_t time, int64_t weight);
  void set_weight_type(const char* type) { weight_type_ = type; }
  // `end`: nothing for an instant. `type`: that of a schema.
  void add_marker(const char* type, std::string_view name, int64_t begin, std::optional<int64_t> end, Stack stack,
                  std::vector<FirefoxField> fields);
  // `bytes`: negative for a free.
  void add_allocation(Stack stack, int64_t time, int64_t bytes, uint64_t address, uint32_t tid);

  struct About {
    std::string name, process_name;
    uint32_t pid = 0, tid = 0;
    bool is_main = false;
  };
  // `libs`: file names by number.
  void write(JsonWriter& json, const About& about, const std::vector<std::string>& libs) const;

 private:
  struct Sample {
    Stack stack;
    int64_t time, weight;
  };
  struct Marker {
    const char* type;
    uint32_t name;
    int64_t begin;
    std::optional<int64_t> end;
    Stack stack;
    std::vector<FirefoxField> fields;
  };
  struct Allocation {
    Stack stack;
    int64_t time, bytes;
    uint64_t address;
    uint32_t tid;
  };
  struct Function {
    uint32_t name;
    std::optional<uint32_t> file, lib;
  };
  struct Frame {
    uint32_t function, line;
  };
  struct Node {
    Stack prefix;
    uint32_t frame;
  };
  uint32_t text(std::string_view text);
  uint32_t function_of(const FirefoxFrame& frame);
  void write_samples(JsonWriter& json) const;
  void write_markers(JsonWriter& json) const;
  void write_allocations(JsonWriter& json) const;
  void write_stacks(JsonWriter& json) const;
  void write_functions(JsonWriter& json, const std::vector<std::string>& libs) const;

  const char* weight_type_ = "tracing-ms";
  std::vector<Sample> samples_;
  std::vector<Marker> markers_;
  std::vector<Allocation> allocations_;
  std::vector<std::string> texts_;
  TextMap<uint32_t> text_numbers_;
  std::vector<Function> functions_;
  TextMap<uint32_t> function_numbers_;  // by name, file and lib
  std::vector<Frame> frames_;
  NumberMap<uint32_t> frame_numbers_;  // function, line
  std::vector<Node> nodes_;
  NumberMap<uint32_t> node_numbers_;  // prefix + 1, frame
};

}  // namespace penna
