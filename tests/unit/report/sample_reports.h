// SPDX-License-Identifier: MIT
// Reports: a small recording, and everything that its reports are made from.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "report/reports.h"
#include "report_text.h"
#include "sample_recording.h"

namespace penna::reports_test {

class Reports : public testing::Test {
 protected:
  Reports()
      : recording_(sample_recording(build_)),
        names_(recording_, symbols_),
        calls_(recording_, names_.map()),
        heap_(recording_),
        locks_(recording_),
        points_(recording_) {
    for_each_event(recording_, EventFilter{}, [&](const Event& event) {
      calls_(event);
      heap_(event);
      locks_(event);
      points_(event);
    });
    calls_.finish();
    locks_.finish();
  }

  static std::string text(Report report, const char* sort = "") { return report_text(std::move(report), sort); }

  RecordingBuilder build_;
  Recording recording_;
  SampleSymbols symbols_;
  Names names_;
  Calls calls_;
  Allocations heap_;
  Locks locks_;
  Points points_;
};

}  // namespace penna::reports_test
