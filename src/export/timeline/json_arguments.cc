// SPDX-License-Identifier: MIT
// See json_arguments.h.
#include "export/timeline/json_arguments.h"

namespace penna {

void write_arguments(const TimelineLine& line, EventWords& words, JsonWriter& json) {
  words.each_argument(line, [&](const std::string& name, const ArgumentValue& value, const std::string& text) {
    json.key(name);
    if (!value.present) return json.null();
    switch (value.type) {
      case PENNA_ARG_INT: return json.value(value.as_int());
      case PENNA_ARG_UINT: return json.value(value.as_uint());
      case PENNA_ARG_FLOAT: return json.value(value.as_float());
      case PENNA_ARG_BOOL: return json.value(value.bits != 0);
      default: return json.value(text);
    }
  });
}

}  // namespace penna
