/* SPDX-License-Identifier: MIT */
#define PENNA_FIRMWARE_IMPLEMENTATION
#include "penna/firmware.h"
