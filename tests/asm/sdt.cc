// SPDX-License-Identifier: MIT
// See sdt.h; and probes where only C++ has them.
#include "sdt.h"

template <class T>
void in_template(T value) {
  PENNA_SDT(sdt, in_template, value);
  [&](auto more) { PENNA_SDT(sdt, in_lambda, value, more); }(1.5);
}
inline void in_inline(unsigned char value) { PENNA_SDT(sdt, in_inline, value); }

#ifdef UNIT_TWO
void call_cxx_again() {
  in_template(7);
  in_inline(7);
}
#else
void call_cxx_again();
[[gnu::constructor]] void call_cxx() {
  in_template(1);
  in_template(2.5);
  in_template(static_cast<const char*>("text"));
  in_inline(1);
  call_cxx_again();
}
#endif
