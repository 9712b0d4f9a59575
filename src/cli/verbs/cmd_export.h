// SPDX-License-Identifier: MIT
// penna export: the events of a recording as a file or directory for other tools.
#pragma once

#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/export_options.h"

namespace penna {

std::vector<std::string> export_formats();
Result<Parsed<ExportOptions>> parse_export(const Arguments& arguments);
int cmd_export(const ExportOptions& options);

}  // namespace penna
