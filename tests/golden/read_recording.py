#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of recordings, written from docs/format.md alone: read_recording.py FILE FILE...
    read_recording.py --every-kind FILE TEXT    each record of FILE is as TEXT says, and every kind of penna/kinds.inc is among them

Why: a format that only its own writer understands is not specified. Reads every block of each file by walking, checks
every checksum, decodes every payload, and demands that all files hold the same chunks, stacks and sites, whatever their codecs.
Invariant: shares no code with src/recording.
"""
import ctypes
import pathlib
import re
import struct
import sys

xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
zstd.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
zstd.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

M64 = (1 << 64) - 1


def xxh3(data):
    return xxhash.XXH3_64bits(data, len(data))


def unzstd(data):
    size = zstd.ZSTD_getFrameContentSize(data, len(data))
    assert size <= 1 << 20, "content size"
    out = ctypes.create_string_buffer(size + 1)
    assert zstd.ZSTD_decompress(out, size, data, len(data)) == size
    return out.raw[:size]


def unzstd_columns(data):
    frame = zstd.ZSTD_findFrameCompressedSize(data, len(data))
    assert frame <= len(data)
    return unzstd(data[:frame]) + data[frame:]


def hash_bits(x, bits):
    return ((x * 0x9E3779B97F4A7C15) & M64) >> (64 - bits)


def unzigzag(n):
    return (n >> 1) ^ -(n & 1)


class Foresight:
    def __init__(self):
        self.table = [0] * 2048

    def get(self, context):
        return self.table[hash_bits(context & M64, 11)]

    def set(self, context, value):
        self.table[hash_bits(context & M64, 11)] = value


class Columns:
    """Codec 2: gives back the chunk's bytes."""

    # Where version 1 has the columns of version 2.
    PLACES_V1 = [0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 8, 9, 10, 11, 12, 13, 14, 15, 16]

    def __init__(self, data, raw_bytes, version):
        self.version = version
        self.places = self.PLACES_V1 if version == 1 else list(range(20))
        count = self.places[19] + 1
        sizes = struct.unpack_from(f"<{count}I", data)
        at = count * 4
        self.data, self.at, self.raw_bytes = data, [], raw_bytes
        for size in sizes:
            self.at.append(at)
            at += size
        assert at == len(data)
        self.bits = int.from_bytes(data[self.at[-1]:], "little")

    def byte(self, column):
        column = self.places[column]
        value = self.data[self.at[column]]
        self.at[column] += 1
        return value

    def low(self, count):
        value = self.bits & ((1 << count) - 1)
        self.bits >>= count
        return value

    def number(self, column):
        c = self.byte(column)
        if c < 32:
            return c
        if c < 140:
            n = (c - 32) // 4 + 3
            return (4 + c % 4) << n | self.low(n)
        assert c < 172
        low = self.low(32)
        return 1 << (c - 108) | self.low(c - 140) << 32 | low

    def escaped(self, column):
        column = self.places[column]
        if self.data[self.at[column]] != 255:
            return False
        self.at[column] += 1
        return True

    def time_of(self, column, width):
        if self.escaped(column):
            difference = unzigzag(self.number(column))
        else:
            difference = self.number(column) << self.shift
        self.time = (self.time + difference) & M64
        return self.time & ((1 << width) - 1)

    def symbol(self, column):
        seen = self.dictionaries.setdefault(column, [])
        index = self.number(column)
        if index > 0:
            return seen[index - 1]
        value = ((seen[-1] if seen else 0) + unzigzag(self.number(column))) & M64
        seen.append(value)
        return value

    def address(self, column, base):
        if self.escaped(column):
            return self.number(column)
        return (base + unzigzag(self.number(column)) * 16) & M64

    def entry(self, foreseen):
        context = self.top() << 32 | self.left
        pc = self.callers.get(context) if foreseen else self.symbol(6)
        time = self.time_of(2, 30)
        self.callers.set(context, pc)
        self.stack.append(pc)
        self.left = 0
        return [pc << 32 | time << 2 | 1]

    def exit(self, foreseen):
        pc = self.top() if foreseen else self.symbol(6)
        time = self.time_of(3, 30)
        if self.stack:
            self.stack.pop()
        self.left = pc
        return [pc << 32 | time << 2 | 2]

    def top(self):
        return self.stack[-1] if self.stack else 0

    @staticmethod
    def size_class(size):
        return min((size + 23) // 16, 127)

    def ring(self, size):
        return self.rings.setdefault(self.size_class(size), [0] * 16)

    def size(self):
        if self.version == 1:
            return self.number(9)
        low = self.byte(9)
        return self.number(10) << 8 | low

    @staticmethod
    def push(ring, address):
        ring.insert(0, address)
        ring.pop()

    def alloc(self):
        flags = self.byte(7)
        context = self.stacks[0] << 32 | self.stacks[1]
        stack = self.allocators.get(context) if flags & 1 else self.symbol(8)
        habit = self.habits.get(hash_bits(stack, 10), (0, 0))
        size = habit[0] if flags & 2 else self.size()
        family = habit[1] if flags & 4 else self.number(11)
        self.habits[hash_bits(stack, 10)] = (size, family)
        origin = flags >> 3
        if origin == 2:
            address = self.bump
        elif origin == 5:
            address = self.address(12, self.newest.get(self.size_class(size), 0))
        elif origin >= 4:
            address = self.address(12, self.bump)
        else:
            ring = self.unknown if origin == 3 else self.ring(size)
            address = ring.pop(0 if origin == 0 else self.number(12))
            ring.append(0)
        time = self.time_of(4, 48)
        self.newest[self.size_class(size)] = address
        self.allocators.set(context, stack)
        self.stacks = (stack, self.stacks[0])
        self.bump = address + max(32, (size + 23) & ~15)
        self.blocks.append((address, size))
        self.after_alloc = True
        return [time << 16 | 3 << 8 | 4 << 2, address | family << 56, size << 32 | stack]

    def free(self, has_family):
        family = self.number(11) if has_family else 0
        number = self.number(13 if self.after_alloc else 14)
        if number == 0:
            address = self.address(15, self.freed_address)
            self.push(self.unknown, address)
        else:
            index = len(self.blocks) - number if self.after_alloc else self.freed + unzigzag(number - 1)
            address, size = self.blocks[index]
            self.push(self.ring(size), address)
            self.freed = index
        self.freed_address = address
        self.after_alloc = False
        return [self.time_of(5, 48) << 16 | 2 << 8 | 6 << 2, address | family << 56]

    def lock(self, takes, foreseen):
        if not foreseen:
            lock = self.symbol(16)
        else:
            lock = self.lockers.get(self.last_lock) if takes else self.last_lock
        time = self.time_of(5, 48)
        if takes:
            self.lockers.set(self.last_lock, lock)
        self.last_lock = lock
        return [time << 16 | 2 << 8 | (8 if takes else 10) << 2, lock]

    def other(self):
        kind_tag, count = self.number(17), self.number(17)
        kind, tag = kind_tag & 63, 3 if kind_tag & 64 else 0
        words = [self.time_of(5, 48) << 16 | count << 8 | kind << 2 | tag]
        before = None
        for i in range(count - 1):
            base = self.first.get(kind, 0) if i == 0 else before[i - 1] if i <= 16 else 0
            word = (base + unzigzag(self.number(18))) & M64
            words.append(word)
            if i == 0:
                self.first[kind] = word
                before = self.rest.setdefault(hash_bits((word << 14 | kind << 8 | count) & M64, 6), [0] * 16)
            elif i <= 16:
                before[i - 1] = word
        return words

    def decode(self):
        self.dictionaries, self.habits, self.rings, self.first, self.rest, self.newest = {}, {}, {}, {}, {}, {}
        self.callers, self.allocators, self.lockers = Foresight(), Foresight(), Foresight()
        self.stack, self.left, self.stacks, self.bump = [], 0, (0, 0), 0
        self.blocks, self.unknown, self.after_alloc = [], [0] * 16, False
        self.freed = self.freed_address = self.last_lock = 0
        self.shift = self.byte(0)
        out = bytes(self.byte(0) for _ in range(128))
        self.time = struct.unpack_from("<Q", out, 8)[0]
        words, step = [], 0
        while len(words) < (self.raw_bytes - 128) // 8:
            if step % 2 == 0:
                pair = self.byte(1)
            op = pair & 15 if step % 2 == 0 else pair >> 4
            step += 1
            words += (self.entry(op == 0) if op < 2 else self.exit(op == 2) if op < 4 else self.alloc() if op == 4
                      else self.free(op == 6) if op < 7 else self.lock(True, op == 7) if op < 9
                      else self.lock(False, op == 9) if op < 11 else self.other() if op == 11
                      else [self.number(18)] if op == 12 else [0] * self.number(17))
        out += b"".join(struct.pack("<Q", word) for word in words)
        return out + bytes(self.byte(0) for _ in range(self.raw_bytes % 8))


def stack_nodes(data, count):
    """Codec 3: gives back the payload of a block of stacks."""
    first, *sizes = struct.unpack_from("<QII", data)
    begin = 16
    lanes = [iter(data[begin:begin + sizes[0]]), iter(data[begin + sizes[0]:begin + sum(sizes)]), iter(data[begin + sum(sizes):])]

    def number(lane):
        value = shift = 0
        while True:
            byte = next(lane)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    parents, depths, pcs = lanes
    nodes, seen = [], []
    for i in range(count):
        parent = (first + i - 1 + unzigzag(number(parents))) & 0xFFFFFFFF
        inside = first <= parent < first + i
        foreseen = (nodes[parent - first][2] & 0xFFFF) + 1 if inside else nodes[-1][2] if nodes else 0
        depth = (foreseen + unzigzag(number(depths))) & 0xFFFFFFFF
        index = number(pcs)
        if index == 0:
            seen.append(((seen[-1] if seen else 0) + unzigzag(number(pcs))) & M64)
        nodes.append((seen[index - 1], parent, depth))
    assert all(next(lane, None) is None for lane in lanes)
    return struct.pack("<Q", first) + b"".join(struct.pack("<QII", *node) for node in nodes)


def blocks_of(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\xabPenna\r\n" and struct.unpack_from("<I", data, 12) == (256,)
    version, = struct.unpack_from("<I", data, 8)
    assert version in (1, 2, 3)
    assert struct.unpack_from("<Q", data, 120)[0] == xxh3(data[:120])
    assert struct.unpack_from("<Q", data, 248)[0] == xxh3(data[128:248])
    at = 256
    while data[at:at + 8] == b"\x1e\x96\xc3\xa5PnB1":
        kind, codec, head_bytes, process, raw, stored, _, payload_sum, head_sum = struct.unpack_from("<BBHIIIQQQ", data, at + 8)
        head = data[at + 48:at + 48 + head_bytes]
        payload = data[at + 48 + head_bytes:at + 48 + head_bytes + stored]
        assert head_sum == xxh3(data[at:at + 40] + head) and payload_sum == xxh3(payload)
        if codec == 1:
            payload = unzstd(payload)
        elif codec == 2:
            payload = Columns(unzstd_columns(payload), raw, version).decode()
        elif codec == 3:
            payload = stack_nodes(unzstd(payload), (raw - 8) // 16)
        assert len(payload) == raw
        if kind == 9:
            check_counts(head, payload, slots=8 if version > 2 else 4)
        yield kind, codec, process, head, payload
        at += 48 + head_bytes + stored
    if at < len(data):
        assert data[at:at + 8] == b"\x1e\x96\xc3\xa5PnT1" and at + 32 == len(data)
        assert struct.unpack_from("<Q", data, at + 24)[0] == xxh3(data[at:at + 24])


def kinds():
    """{number: (name, word, bytes of the payload at least, class)}, from the lists that programs are compiled with."""
    include = pathlib.Path(__file__).resolve().parents[2] / "include/penna"
    sizes = dict(re.findall(r"sizeof\(struct penna_(\w+)\) == (\d+)", (include / "event.h").read_text()))
    sizes["lost"] = 16  # it may end behind the fourth class
    rows = re.findall(r'^PENNA_KIND\(\s*(\d+), (\w+),\s*(\w+),\s*(\w+),\s*"(\w+)"\)', (include / "kinds.inc").read_text(), re.MULTILINE)
    return {int(number): (name, word, int(sizes.get(payload, 0)), of) for number, name, payload, of, word in rows}


CLASSES = ["CALLS", "ALLOC", "LOCKS", "POINTS"]


def check_counts(head, chunk, slots):
    """A chunk's head tells how many records of each class are in it; slots that no class has are 0."""
    assert len(head) == 40 + 4 * slots
    if head[-4:] != bytes(4):
        return  # damaged
    counted, known = [0] * slots, kinds()
    for kind, _, _ in records(chunk, known):
        if kind in known and known[kind][3] in CLASSES:
            counted[CLASSES.index(known[kind][3])] += 1
    assert list(struct.unpack_from(f"<{slots}I", head, 32)) == counted


def extend(begin, low, bits):
    ahead = (low - begin) & ((1 << bits) - 1)
    return begin + ahead - (1 << bits if ahead >= (1 << bits) - (1 << bits - 4) else 0)


def records(chunk, known):
    """(kind, time, pc or payload) of each committed record of a chunk, as section 4 says; pads too."""
    begin, = struct.unpack_from("<Q", chunk, 8)
    content, = struct.unpack_from("<Q", chunk, 24)
    pc_high, = struct.unpack_from("<I", chunk, 64)
    at, end = 128, content // 8
    while at < end:
        header, = struct.unpack_from("<Q", chunk, at)
        tag = header & 3
        if tag in (1, 2):
            yield tag + 1, extend(begin, header >> 2 & 0x3FFFFFFF, 30), pc_high << 32 | header >> 32
            at += 8
            continue
        kind, words = header >> 2 & 63, header >> 8 & 255
        assert header == 0 or words > 0 and at + words * 8 <= end
        payload = chunk[at + 8:at + words * 8]
        if header != 0 and tag == 0:
            assert kind not in known or len(payload) >= known[kind][2], f"a record of kind {kind} is too short"
            pc = struct.unpack_from("<Q", payload)[0] if kind in (2, 3) else payload
            yield kind, extend(begin, header >> 16, 48), pc
        at += max(words, 1) * 8


def check_every_kind(path, text):
    known, seen, lines = kinds(), set(), []
    assert sorted(known) == list(range(1, len(known) + 1)), "the numbers of kinds.inc"
    for block, _, _, _, chunk in blocks_of(path):
        for kind, time, content in records(chunk, known) if block == 9 else []:
            seen.add(kind)
            if known[kind][0] == "PAD":
                continue
            shown = f"{content:x}" if kind in (2, 3) else " ".join(content[i:i + 8].hex() for i in range(0, len(content), 8))
            lines.append(f"{kind} {known[kind][1]} {time} {shown}".rstrip())
    missing = [name for number, (name, _, _, _) in known.items() if number not in seen]
    assert not missing, f"{path} has no record of {missing}: store a golden that has"
    expected = open(text).read().splitlines()
    assert lines == expected, "\n".join(["these are not as expected:"] + [a for a, b in zip(lines, expected) if a != b])
    print(f"{path}: {len(lines)} records, {len(seen)} kinds")


def main(paths):
    first = None
    for path in paths:
        codecs, contents, types = set(), [], set()
        for kind, codec, process, head, payload in blocks_of(path):
            types.add(kind)
            codecs.add((kind in (8, 9), codec))
            if kind in (7, 8, 9):
                contents.append((kind, process, head, payload))
        print(f"{path}: block types {sorted(types)}, {len(contents)} chunks, stacks and sites, codecs {sorted(codecs)}")
        first = first or contents
        assert contents == first, "the same chunks, stacks and sites as in the first file"


if sys.argv[1:2] == ["--every-kind"]:
    check_every_kind(*sys.argv[2:])
else:
    main(sys.argv[1:])
