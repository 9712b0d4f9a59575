// SPDX-License-Identifier: MIT
// penna doctor [PID|BIN]: what works here, and remedies for what does not.
#pragma once

#include "options/arguments.h"
#include "options/table_options.h"

namespace penna {

struct DoctorOptions {
  std::string target;  // empty: this system
  TableOptions table;
};
Result<Parsed<DoctorOptions>> parse_doctor(const Arguments& arguments);
// 0: everything needed works; 2: something does not.
int cmd_doctor(const DoctorOptions& options);

}  // namespace penna
