"""Reading a `.tflite` flatbuffer with every offset checked.

The readers of the flatbuffers package trust the file: a flipped bit makes them wrap around to the
end of the file, or loop over a length of four thousand million. Here each read lies within the
file or raises Damaged with its place, and the entries that are visited have a budget.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.errors import ModelError

FIELDS = {
    kind: names.split()
    for kind, names in {
        "Model": "version operator_codes subgraphs description buffers metadata_buffer metadata"
        " signature_defs",
        "OperatorCode": "deprecated_builtin_code custom_code version builtin_code",
        "SubGraph": "tensors inputs outputs operators name",
        "Tensor": "shape type buffer name quantization is_variable sparsity shape_signature",
        "Quantization": "min max scale zero_point details_type details axis",
        "Operator": "opcode inputs outputs options_type options custom_options",
        "Buffer": "data offset size",
        "Metadata": "name buffer",
        "SignatureDef": "inputs outputs signature_key deprecated_tag subgraph_index",
    }.items()
}
"""The fields of each table in the order of TFLite's schema, as far as this project reads them."""


class Damaged(ModelError):
    """The file contradicts itself; the text says where and how."""


class Flatbuffer:
    """The bytes of a file and how many more entries of vectors may be visited in it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        # An entry takes a byte or more, most take four; twice that, because sharing is legal.
        self._entries_left = 2 * len(content)

    def root(self, kind: str) -> Table:
        """The table that the file starts with."""
        position = int(self.numbers("I", 0, "the start")[0])
        return Table(self, position, FIELDS[kind], "the model")

    def spend(self, entries: int, where: str) -> None:
        """Take visited entries from the budget."""
        self._entries_left -= entries
        if self._entries_left < 0:
            raise Damaged(f"{where}: more entries than the file has room for")

    def require(self, start: int, size: int, where: str) -> None:
        """Raise Damaged unless the bytes lie within the file."""
        if start < 0 or start + size > len(self.content):
            raise Damaged(f"{where}: outside of the file")

    def numbers(self, form: str, start: int, where: str) -> tuple[int | float, ...]:
        """Little-endian numbers in the form of the struct module."""
        self.require(start, struct.calcsize(f"<{form}"), where)
        return struct.unpack_from(f"<{form}", self.content, start)


@dataclass(frozen=True, slots=True)
class Vector:
    """Where the entries of a vector start, and how many there are."""

    start: int
    length: int


class Table:
    """One table, its fields by name; ``where`` names it in errors ("subgraph 0, tensor 3")."""

    def __init__(self, file: Flatbuffer, position: int, fields: Sequence[str], where: str) -> None:
        self._file = file
        self._position = position
        self._fields = fields
        self.where = where
        self._offsets = self._read_offsets()

    def _read_offsets(self) -> tuple[int, ...]:
        """The offset of each field in the table; 0 is a field that has its default."""
        layout = self._position - int(self._file.numbers("i", self._position, self.where)[0])
        layout_size, size = map(int, self._file.numbers("HH", layout, self.where))
        self._file.require(self._position, size, self.where)
        if layout_size < 4:
            raise Damaged(f"{self.where}: no layout")
        self._file.require(layout, layout_size, self.where)
        form = f"{min((layout_size - 4) // 2, len(self._fields))}H"
        offsets = tuple(map(int, self._file.numbers(form, layout + 4, self.where)))
        if any(offset >= size for offset in offsets if offset):
            raise Damaged(f"{self.where}: a field outside of it")
        return offsets

    def _offset(self, name: str) -> int:
        index = self._fields.index(name)
        return self._offsets[index] if index < len(self._offsets) else 0

    def has(self, name: str) -> bool:
        """Whether the field is present."""
        return self._offset(name) != 0

    def place(self, name: str) -> int | None:
        """Where in the file the value of a field is, None when it has its default."""
        offset = self._offset(name)
        return self._position + offset if offset else None

    def number(self, name: str, form: str, default: float = 0) -> int | float:
        """A number of the struct module's form."""
        offset = self._offset(name)
        if not offset:
            return default
        return self._file.numbers(form, self._position + offset, f"{self.where}: {name}")[0]

    def whole(self, name: str, form: str, default: int = 0) -> int:
        """A whole number of the struct module's form."""
        return int(self.number(name, form, default))

    def vector(self, name: str, entry_size: int) -> Vector | None:
        """The extent of a vector, None when absent. Its entries lie within the file."""
        start = self._target(name)
        if start is None:
            return None
        where = f"{self.where}: {name}"
        length = int(self._file.numbers("I", start, where)[0])
        self._file.require(start + 4, length * entry_size, where)
        return Vector(start + 4, length)

    def numbers(self, name: str, form: str) -> tuple[int | float, ...]:
        """A vector of numbers."""
        vector = self.vector(name, struct.calcsize(f"<{form}"))
        if vector is None:
            return ()
        self._file.spend(vector.length, f"{self.where}: {name}")
        return self._file.numbers(f"{vector.length}{form}", vector.start, self.where)

    def wholes(self, name: str, form: str = "i") -> tuple[int, ...]:
        """A vector of whole numbers."""
        return tuple(map(int, self.numbers(name, form)))

    def text(self, name: str) -> str:
        """A string, with a mark for each byte that is no UTF-8."""
        vector = self.vector(name, 1)
        if vector is None:
            return ""
        end = vector.start + vector.length
        self._file.require(end, 1, f"{self.where}: {name}")
        self._file.spend(vector.length, f"{self.where}: {name}")
        return self._file.content[vector.start : end].decode(errors="replace")

    def tables(self, name: str, kind: str) -> list[Table]:
        """A vector of tables."""
        vector = self.vector(name, 4)
        if vector is None:
            return []
        self._file.spend(vector.length, f"{self.where}: {name}")
        label = name.removesuffix("s").replace("_", " ")
        label = label if self.where == "the model" else f"{self.where}, {label}"
        places = range(vector.start, vector.start + 4 * vector.length, 4)
        return [
            Table(self._file, at + self._relative(at), FIELDS[kind], f"{label} {index}")
            for index, at in enumerate(places)
        ]

    def table(self, name: str, fields: Sequence[str]) -> Table | None:
        """One table with these fields, None when absent."""
        start = self._target(name)
        return None if start is None else Table(self._file, start, fields, f"{self.where}: {name}")

    def _target(self, name: str) -> int | None:
        offset = self._offset(name)
        at = self._position + offset
        return at + self._relative(at) if offset else None

    def _relative(self, at: int) -> int:
        return int(self._file.numbers("I", at, self.where)[0])
