// SPDX-License-Identifier: MIT
// Style sheets are imported for the build alone: they have no value.
declare module '*.css';
