// SPDX-License-Identifier: MIT
// See page.h. The assembler includes the file verbatim; PENNA_PAGE is its path.
#include "view/page.h"

// clang-format off
__asm__(".pushsection .rodata\n"
        "penna_page: .incbin \"" PENNA_PAGE "\"\n"
        "penna_page_end:\n"
        ".popsection\n");
// clang-format on
extern "C" const char penna_page[] __attribute__((visibility("hidden")));
extern "C" const char penna_page_end[] __attribute__((visibility("hidden")));

namespace penna {

std::string page() { return {penna_page, penna_page_end}; }

}  // namespace penna
