// SPDX-License-Identifier: MIT
// A recording that a verb makes of other files: whole, or not at all.
//
// Why not as penna record writes: what that has is lost otherwise, but a trim or merge can be repeated, and half of one
// would pass for a recording with losses.
// Invariant: a file that is replaced stays as it was until the new one is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "recording/writer.h"

namespace penna {

// `write` ends with finish(); false: the recording is not wanted after all. Returns its size.
Result<uint64_t> make_recording(const std::string& path, WriterOptions how,
                                const std::function<Result<bool>(RecordingWriter&)>& write);

}  // namespace penna
