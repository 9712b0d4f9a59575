/* SPDX-License-Identifier: MIT
 * As the examples of Feather-Trace include it. */
#ifndef PENNA_FEATHER_GCC_HELPER_H
#define PENNA_FEATHER_GCC_HELPER_H

#define unused(parameter) parameter __attribute__((unused))

#endif
