/* SPDX-License-Identifier: MIT
 * As stdint.h. */
#include <linux/stddef.h>
#include <linux/types.h>
