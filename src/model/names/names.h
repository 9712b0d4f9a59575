// SPDX-License-Identifier: MIT
// Names: what addresses and stacks are called: "compute", "libfoo.so+0x1234", "[unknown] 0x7f00", "counter_lock". A
// function without a symbol is named by its beginning, so that all its addresses have one name.
//
// Why: every view shows the same names, each file is looked up once, and the nameless addresses are counted.
// Invariant: every address has a name, if only its number. References stay valid as long as Names. Not thread-safe.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "model/names/code_map.h"
#include "model/names/library_frames.h"
#include "model/names/symbol_source.h"

namespace penna {

struct NameFrame {
  std::string function;  // as shown: demangled, or the fallback
  std::string file;      // source; may be empty
  uint32_t line = 0;     // 0 = unknown
  bool inlined = false;  // into the frame after it
  bool named = false;    // false: `function` is a fallback
  ModuleId module = kNoModule;
  // In a function without a name: the offset of the address, as the name is that of the function's beginning.
  uint64_t offset = 0;
  // For the outermost: a function of Penna itself, such as the one that calls the function of a pthread_once(). No
  // stack shows it.
  bool is_agents = false;
  bool is_wrapper = false;  // the language's own way to allocate, lock or wait
  FrameRole role = FrameRole::kOwn;
  std::string whole{};  // the full name if it is shortened

  const std::string& full_name() const { return whole.empty() ? function : whole; }
};
using NameFrames = std::vector<NameFrame>;  // innermost first; never empty

// Why a stack does not go further out.
enum class StackEnd : uint8_t {
  kComplete,    // reached the thread's first frame, or the process's entry code
  kDepthLimit,  // deeper than requested
  kNoRule,      // code without usable unwind information
  kBadMemory,   // a frame outside the thread's stack
  kCut,         // outer frames are missing from the recording
  kUnknown,     // no stack was recorded, or none of it survives
};
const char* stack_end_text(StackEnd end);  // "" for kComplete; else a few words to append to the last frame

struct NamedStack {
  std::vector<const NameFrame*> frames;  // innermost first, including inlined ones
  StackEnd end = StackEnd::kUnknown;
};

// How well the names of one file are known. Counts are of distinct addresses that were looked up.
struct ModuleNames {
  ModuleId module = kNoModule;  // kNoModule: addresses in no known module
  std::string path;
  uint64_t addresses = 0;
  uint64_t unnamed = 0;
  uint64_t without_line = 0;
  std::string problem;   // a sentence with the next step; empty if there is none
  bool is_lost = false;  // that build of the file can no longer be found
};

// How people want names and stacks to be shown. Programs get everything.
struct NameStyle {
  bool has_short_names = false;                    // symbols/shortened_name.h
  bool folds_stacks = false;                       // shown() differs from stack()
  std::shared_ptr<const LibraryFrames> library{};  // null: all frames are the user's own
};

class Names {
 public:
  // `recording` and `symbols` must outlive it.
  Names(const Recording& recording, SymbolSource& symbols, NameStyle style = {});

  const CodeMap& map() const { return map_; }
  const NameStyle& style() const { return style_; }

  const NameFrames& at(const CodePlace& place);
  // The file name of the first process's program; empty: unknown.
  std::string program() const {
    return main_modules_.empty() || main_modules_[0] == kNoModule ? "" : map_.file_name(main_modules_[0]);
  }

  // A function, by the address of its first instruction as in a call record.
  const NameFrames& function(uint32_t process, uint64_t pc, uint64_t ticks) {
    return at(map_.locate(process, pc, ticks));
  }
  // A frame of a stack, by its return address.
  const NameFrames& frame(uint32_t process, uint64_t pc, uint16_t generation) {
    return at(map_.locate_return(process, pc, generation));
  }
  // The name of the function itself, not of a function inlined into it.
  const std::string& function_name(uint32_t process, uint64_t pc, uint64_t ticks) {
    return function(process, pc, ticks).back().function;
  }
  const std::string& function_name(const CodePlace& place) { return at(place).back().function; }
  const std::string& full_function_name(const CodePlace& place) { return at(place).back().full_name(); }

  // Offset of a frame's return address in its function; nothing without a symbol.
  std::optional<uint64_t> offset_in_function(uint32_t process, uint64_t pc, uint16_t generation);

  NamedStack stack(uint32_t process, uint32_t stack);
  // The same without what the style folds (StackFold), and without the `without` innermost frames.
  NamedStack shown(uint32_t process, uint32_t stack, size_t without = 0);
  // Whether it stands for a run of library frames.
  bool is_folded(const NameFrame& frame) const { return style_.folds_stacks && frame.role == FrameRole::kLibrary; }
  // How such a stack names a frame: folded library frames without parameters.
  std::string_view line_name(const NameFrame& frame) const;
  // True for an outermost frame where the process began: the stack is complete, even if unwinding found no rule there.
  bool is_entry(uint32_t process, uint64_t pc, uint16_t generation);
  // The frame to name as allocating or waiting: the innermost of the user's own, if the style knows libraries, that is
  // not the language's own way to do so (operator new, std::allocator, std::mutex::lock, a malloc of the dynamic
  // linker's own). Null for a stack without frames.
  // `is_way_too`: further functions to skip, if any other frame is outside of them.
  const NameFrame* origin(uint32_t process, uint32_t stack, bool (*is_way_too)(std::string_view function) = nullptr);

  // For a frame in a library without symbols: the caller of the nameless frames there. Otherwise, and if libc or the
  // dynamic linker called them, the same frame.
  const NameFrame* named_caller(uint32_t process, uint32_t stack, const NameFrame* frame,
                                bool (*is_way_too)(std::string_view function));

  // A variable: "counter_lock", "queue.mutex" in the program itself, "libfoo.so`table+8" in a library; nothing without
  // a symbol.
  std::optional<std::string> variable(uint32_t process, uint64_t address, uint64_t ticks);
  // The same, or else the place: "libfoo.so+0x40a0", "0x7f..." outside of all files.
  std::string data(uint32_t process, uint64_t address, uint64_t ticks);

  // A point's site with everything that symbols know about it: the names of enums, the source of a probe. Null: not
  // described.
  const Site* point_site(uint32_t process, uint32_t id, uint64_t ticks);

  // All files that were looked up, most unnamed addresses first.
  std::vector<ModuleNames> modules();

 private:
  struct Count {
    uint64_t addresses = 0, unnamed = 0, without_line = 0;
  };
  NameFrames resolve(const CodePlace& place);
  void judge(const CodePlace& place, NameFrame* frame) const;
  void name_by_place(const CodePlace& place, NameFrame* frame);
  std::string name_nameless(const CodePlace& place) const;
  Site described(const Site& site, const CodePlace& place);

  const Recording& recording_;
  SymbolSource& symbols_;
  NameStyle style_;
  CodeMap map_;
  std::vector<ModuleId> main_modules_;  // by process: that of its program
  std::vector<Count> counts_;           // by module; the last for unknown addresses
  tsl::robin_map<CodePlace, std::unique_ptr<const NameFrames>, CodePlaceHash> cache_;
  NumberMap<std::unique_ptr<const Site>> points_;  // by process and id
};

}  // namespace penna
