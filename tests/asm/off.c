/* SPDX-License-Identifier: MIT
 * See off.h. */
#include "off.h"
