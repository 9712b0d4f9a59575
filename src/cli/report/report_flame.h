// SPDX-License-Identifier: MIT
// penna report flame: stacks as a drawing, with the weights of penna export folded.
#pragma once

#include "base/result.h"
#include "cli/output/output.h"
#include "options/report_options.h"
#include "recording/reader.h"

namespace penna {

Result<> show_flame(const Recording& recording, const ReportOptions& options, Output& output);

}  // namespace penna
