/* SPDX-License-Identifier: MIT
 * For the examples of Feather-Trace, which include it. */
#ifndef PENNA_FEATHER_GCC_HELPER_H
#define PENNA_FEATHER_GCC_HELPER_H

#define unused(parameter) parameter __attribute__((unused))

#endif
