// SPDX-License-Identifier: MIT
// Frames and stacks as lines of a report: "function", "(file.c:12) [libfoo.so]".
#pragma once

#include <vector>

#include "model/names.h"
#include "report/table.h"

namespace penna {

// What a frame is called and where it is; a call that the compiler inlined says so.
TableDetail frame_detail(const NameFrame& frame, const CodeMap& map);

// A stack, innermost frame first, and behind it why it goes no further out, when it does not.
std::vector<TableDetail> stack_details(uint32_t process, uint32_t stack, Names& names);

// The innermost function of stack_details(); empty for no stack.
std::string leaf_name(const std::vector<TableDetail>& stack);

// Ticks as nanoseconds by the recording's mean rate, held within an int64.
int64_t ticks_to_ns(const Recording& recording, uint64_t ticks);

// The short name of a source file: its last part.
std::string_view base_name(std::string_view path);

}  // namespace penna
