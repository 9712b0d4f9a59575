// SPDX-License-Identifier: MIT
// A unit that may switch points and does not: what it gets of penna/control.h alone must link with another one's.
#include "penna/control.h"

#ifdef UNIT_ONE
int main() { return 0; }
#endif
