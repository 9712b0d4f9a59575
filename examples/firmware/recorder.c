/* SPDX-License-Identifier: MIT
 * The one file with Penna's part of the image; compiled for general registers only. */
#define PENNA_FIRMWARE_IMPLEMENTATION
#include "penna/firmware.h"
