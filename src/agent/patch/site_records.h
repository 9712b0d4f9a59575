// SPDX-License-Identifier: MIT
// SITE records: the description of a site, which POINT, VALUES and pool records then refer to by its id.
//
// Invariant: an id is used once in a process.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

inline constexpr uint32_t kSiteTextRoom = (PENNA_MAX_RECORD_WORDS - 1) * 8 - sizeof(penna_site_info);

// Ids belong to the process; a forked child continues its parent's. Async-signal-safe, as below.
uint32_t new_site_id();
// Writes a SITE record, followed by the text: at most kSiteTextRoom bytes.
void record_site(penna_site_info info, const char* text);

}  // namespace penna::agent
