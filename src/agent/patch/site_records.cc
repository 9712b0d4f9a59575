// SPDX-License-Identifier: MIT
// See site_records.h.
#include "agent/patch/site_records.h"

#include "agent/core/writer.h"

namespace penna::agent {

static uint32_t last_id;

// Relaxed: ids need to be different, not in order.
uint32_t new_site_id() { return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED); }

void record_site(penna_site_info info, const char* text) {
  const uint32_t text_words = (info.text_bytes + 7u) / 8;
  Record record = begin_record(PENNA_KIND_SITE, 1 + sizeof info / 8 + text_words, kNoClass, penna_now());
  if (!record) return;
  __builtin_memcpy(record.words + 1, &info, sizeof info);
  uint64_t* to = record.words + 1 + sizeof info / 8;
  // The last word first: the text may fill only a part of it.
  if (text_words != 0) to[text_words - 1] = 0;
  __builtin_memcpy(to, text, info.text_bytes);
  commit_description(record);
}

}  // namespace penna::agent
