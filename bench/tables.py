# SPDX-License-Identifier: MIT
"""Markdown tables that are as readable in a terminal: padded columns, text to the left, numbers to the right."""


def number(value, digits=1):
    if value is None:
        return '-'
    if abs(value) >= 1000:
        return f'{value:,.0f}'
    if abs(value) < 10 and digits == 1:
        return f'{value:.2f}'
    return f'{value:.{digits}f}'


def ratio(value, to):
    """`value` as a multiple of `to`; "-" if that is meaningless."""
    if value is None or to is None or to <= 0 or value <= 0:
        return '-'
    times = value / to
    return f'{times:.0f} x' if times >= 20 else f'{times:.1f} x' if times >= 2 else f'{times:.2f} x'


def markdown(title, columns, rows, notes=()):
    """`columns`: titles; those that start with "<" are text. `rows`: lists of strings."""
    left = [column.startswith('<') for column in columns]
    titles = [column.lstrip('<') for column in columns]
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]

    def line(cells):
        return '| ' + ' | '.join(cell.ljust(width) if is_left else cell.rjust(width)
                                 for cell, width, is_left in zip(cells, widths, left)) + ' |'
    rule = '|' + '|'.join(('-' * (width + 2)) if is_left else ('-' * (width + 1) + ':')
                          for width, is_left in zip(widths, left)) + '|'
    text = [f'## {title}', '', line(titles), rule, *map(line, rows), '']
    text += [*notes, ''] if notes else []
    return '\n'.join(text)
