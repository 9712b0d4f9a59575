/* SPDX-License-Identifier: MIT
 * See sdt.h. */
#include "sdt.h"
