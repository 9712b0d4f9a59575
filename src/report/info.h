// SPDX-License-Identifier: MIT
// The report of penna info: who, what, when, where, how much; from a recording's metadata only.
#pragma once

#include "model/verdict/health.h"
#include "report/table.h"

namespace penna {

Report info_report(const Recording& recording, const Summary& summary, const HealthReport& health);

// A command as typed: arguments with blanks or shell metacharacters in single quotes.
std::string command_text(const std::vector<std::string>& command, uint32_t left_out);

// "2026-11-21 02:14:05 UTC".
std::string date_text(uint64_t realtime_ns);

}  // namespace penna
