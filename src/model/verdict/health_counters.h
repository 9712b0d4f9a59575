// SPDX-License-Identifier: MIT
// The health counters as a table (penna/health.inc): what each counts in a HealthReport, and the words for it.
//
// Why: reports, JSON, penna check and the last lines of penna record use one list, so that none of them omits a
// counter. Invariant: ascending by rank, no rank twice.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penna/channel.h"

namespace penna {

struct HealthReport;

enum class Severity : uint8_t {
  kNote,     // worth knowing; the numbers are right
  kWarning,  // some numbers are too small or in the wrong place
  kError,    // part of the recording is gone
};

enum class HealthSection : uint8_t { kTarget, kRecorder, kFile, kAnalysis };

enum HealthUse : uint8_t {
  kGap = 1,    // what it counts is missing from the recording
  kAtEnd = 2,  // penna record reports it
};

struct HealthCounter {
  int rank;
  HealthSection section;
  uint64_t (*value)(const HealthReport&);
  Severity severity;
  uint8_t uses;  // HealthUse
  const char *key, *name, *meaning;
  const char *one, *many, *rest;

  bool has_sentence() const { return *one != '\0'; }
  std::string sentence(uint64_t count) const;
};

std::span<const HealthCounter> health_counters();

// What penna record says at its end about the targets' counters, without a full stop.
std::vector<std::string> closing_sentences(const penna_counters& sums);

}  // namespace penna
