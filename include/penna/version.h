/* SPDX-License-Identifier: MIT
 *
 * version.h: the version of these headers, and of the Penna that they came with: CMakeLists.txt reads it from here.
 * What two programs share has its own version numbers (docs/abi.md); those decide whether they are compatible.
 *
 *     #if PENNA_VERSION_NUMBER >= PENNA_VERSION_ENCODE(0, 2, 0)
 */
#ifndef PENNA_VERSION_H
#define PENNA_VERSION_H

#define PENNA_VERSION_MAJOR 0
#define PENNA_VERSION_MINOR 1
#define PENNA_VERSION_PATCH 0

/* "0.1.0" */
#define PENNA_VERSION PENNA_VERSION_TEXT_(PENNA_VERSION_MAJOR, PENNA_VERSION_MINOR, PENNA_VERSION_PATCH)

/* For comparisons, also by the preprocessor. Minor and patch are below 1000. */
#define PENNA_VERSION_ENCODE(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define PENNA_VERSION_NUMBER PENNA_VERSION_ENCODE(PENNA_VERSION_MAJOR, PENNA_VERSION_MINOR, PENNA_VERSION_PATCH)

#define PENNA_VERSION_TEXT_(major, minor, patch) PENNA_VERSION_TEXT__(major, minor, patch)
#define PENNA_VERSION_TEXT__(major, minor, patch) #major "." #minor "." #patch

#endif
