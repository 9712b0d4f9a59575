# SPDX-License-Identifier: MIT
"""Checks of a recording from outside, through penna's own commands."""


def problems(penna, path, kind):
    return []
