// SPDX-License-Identifier: MIT
// Frames and stacks as lines of a report: "function", "(file.c:12) [libfoo.so]".
#pragma once

#include <vector>

#include "model/events/summary.h"
#include "model/names/names.h"
#include "model/names/same_stacks.h"
#include "report/columns.h"
#include "report/table.h"

namespace penna {

// What a frame is called and where it is; inlined calls are marked.
TableDetail frame_detail(const NameFrame& frame, const CodeMap& map);

// A stack as shown, innermost frame first, followed by why it goes no further out, if it does not.
std::vector<TableDetail> stack_details(uint32_t process, uint32_t stack, Names& names);

// The place in code that a row is about; items of such rows derive from it, and describing the row (Columns::Describe)
// sets it, before the cells of place_columns() are made.
struct Placed {
  const NameFrame* frame = nullptr;  // null: unknown
  const CodeMap* map = nullptr;
  bool has_line = true;        // false: a function, anywhere in it
  std::string_view instead{};  // shown as the function if there is no frame
};
// The last columns of such a table: "module", "file", "line" and "function"; text shows only the last, or the first
// detail instead, under `title`.
Columns<Placed> place_columns(std::string_view title);

// Each sets the place and the details of a row: for a function, only its frame;
void set_function(TableRow& row, Placed& place, const NameFrame& frame, const CodeMap& map);
// for a stack, its frames, and where it allocated or waited;
void set_stack(TableRow& row, Placed& place, uint32_t process, uint32_t stack, Names& names);
// the same from there on, without the language's own ways to lock and to wait;
void set_stack_of_wait(TableRow& row, Placed& place, uint32_t process, uint32_t stack, Names& names);
std::vector<TableDetail> stack_of_wait(uint32_t process, uint32_t stack, Names& names);
// for a freeing stack: if none was recorded (0) the only detail is the thread (index).
void set_freer(TableRow& row, Placed& place, const Recording& recording, uint32_t thread, const StackOfProcess& from,
               Names& names);

// "function" where a stack allocated, freed or waited; "" if unknown.
std::string place_text(uint32_t process, uint32_t stack, Names& names);

// How to record the calls of a program that was not prepared for it.
inline constexpr const char* kRecordAllCalls = "'penna record --all-functions CMD' records those of any program";
// The same with the command of a recording; a process that was attached to has none of ours.
std::string record_all_calls(const Session& session);
// Why a report of calls is empty, and what to do: "'penna record --all-functions ./app' records those of any program".
std::string why_no_calls(const Recording& recording);
// Calls were requested, and there are none: the report has a sentence about it.
bool lacks_calls(const Recording& recording, const Summary& summary);
// The head of such a report, as a sentence.
std::string no_calls_text(const Recording& recording);

// Ticks as nanoseconds by the recording's mean rate, clamped to int64.
int64_t ticks_to_ns(const Recording& recording, uint64_t ticks);

// The short name of a source file: its last component.
std::string_view base_name(std::string_view path);

}  // namespace penna
