// SPDX-License-Identifier: MIT
// A report as a user reads it, all rows of it. Invariant: none.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "report/print.h"

namespace penna {

inline std::string report_text(Report report, const char* sort = "") {
  for (Table& table : report.tables) EXPECT_TRUE(select_rows(table, sort, 0));
  std::string result;
  print_report(report, {}, [&](std::string_view piece) {
    result += piece;
    return true;
  });
  return result;
}

}  // namespace penna
