// SPDX-License-Identifier: MIT
// SITE records: what the recorder is told of a place that POINT, VALUES and pool records then name by its id.
//
// Invariant: an id is given once in a process.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

inline constexpr uint32_t kSiteTextRoom = (PENNA_MAX_RECORD_WORDS - 1) * 8 - sizeof(penna_site_info);

// Ids are of the process; a forked child goes on counting. Async-signal-safe, as below.
uint32_t new_site_id();
// Writes a SITE record with the text behind it: at most kSiteTextRoom bytes.
void record_site(penna_site_info info, const char* text);

}  // namespace penna::agent
