# SPDX-License-Identifier: MIT
"""For gdb, in a program that penna records: hides from `bt` the frames through which recorded calls return.

    gdb -x hide_trampolines.py, or in gdb: source hide_trampolines.py
"""
import gdb


class HideTrampolines:
    name, priority, enabled = 'penna', 100, True

    @staticmethod
    def filter(frames):
        return (frame for frame in frames if frame.inferior_frame().name() != 'penna_return_trampolines')


gdb.frame_filters['penna'] = HideTrampolines
