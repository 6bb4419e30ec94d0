"""Alter a file: its bytes, its words, its values, or the fields of its protobuf messages."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from ruamel.yaml import YAML

from tests.fuzz.values import anything, digits, natural, text

Mutator = Callable[[random.Random, bytes], bytes]

_INSERTS = (
    *("!!set ", "!!binary ", "!!omap ", "!x ", "&a ", "*a", "<<: ", "? ", "- ", ": ", "\n", "\t"),
    *("[" * 3000, "{a: " * 200, "<a>" * 3000, "</a>", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "&b;"),
    *("l1 requires l2\n", "}", "]", '"', "\0", "#", ",", ",,", "%YAML 9.9\n---\n", "..."),
)


def alter_bytes(chance: random.Random, data: bytes) -> bytes:
    """Replace, insert, delete, repeat or cut bytes."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        at = chance.randrange(len(changed) + 1)
        length = chance.choice([1, 1, 2, 8, 100])
        match chance.randrange(6):
            case 0:
                changed[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                changed[at:at] = chance.randbytes(length)
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length] * chance.choice([1, 2, 50])
            case 4 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 5 if chance.random() < 0.2:
                del changed[at:]
    return bytes(changed)


def alter_text(chance: random.Random, data: bytes) -> bytes:
    """Replace numbers and words, and insert, repeat, swap or delete words and lines."""
    content = data.decode(errors="replace")
    for _ in range(chance.choice([1, 1, 2, 3])):
        words = re.findall(r"\w+(?:\.\d+)?|\s+|[^\w\s]", content)
        lines = content.splitlines(keepends=True)
        if not words:
            break
        at, line = chance.randrange(len(words)), chance.randrange(len(lines))
        match chance.randrange(7):
            case 0 | 1:
                numbers = [i for i, word in enumerate(words) if word[0].isdigit()]
                if numbers:
                    words[chance.choice(numbers)] = digits(chance)
            case 2:
                words[at] = chance.choice([text(chance, words[at]), chance.choice(words)])
            case 3:
                words.insert(at, chance.choice(_INSERTS))
            case 4:
                lines.insert(line, chance.choice(lines) * chance.choice([1, 1, 2, 500]))
                words = lines
            case 5:
                other = chance.randrange(len(lines))
                lines[line], lines[other] = lines[other], lines[line]
                words = lines
            case _:
                del lines[line]
                words = lines
        content = "".join(words)
    return content.encode(errors="replace")


def alter_values(chance: random.Random, data: bytes) -> bytes:
    """Replace, delete, add or move values of a YAML or JSON document, and write it as JSON."""
    document = YAML(typ="safe", pure=True).load(data.decode())
    values = [json.dumps(holder[key]) for holder, key in _places(document)]
    for _ in range(chance.choice([1, 1, 2, 3])):
        places = list(_places(document))
        if not places:
            break
        holder, key = chance.choice(places)
        match chance.randrange(6):
            case 0:
                del holder[key]
            case 1:
                holder[key] = json.loads(chance.choice(values))
            case 2 if isinstance(holder, dict):
                _, name = chance.choice(places)
                holder[str(name)] = anything(chance, holder[key])
            case 2:
                holder.insert(key, anything(chance, holder[key]))
            case _:
                holder[key] = anything(chance, holder[key])
    # The encoder itself refuses what is nested too deeply.
    return "".join(_json(document)).encode(errors="surrogatepass")


def inside_gzip(alter: Mutator) -> Mutator:
    """Return a mutator that alters what a gzip file holds."""

    def altered(chance: random.Random, data: bytes) -> bytes:
        return gzip.compress(alter(chance, gzip.decompress(data)))

    return altered


def _json(value: Any) -> Iterator[str]:
    """Write JSON without recursion, which Python limits."""
    open_values: list[Any] = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, _Raw):
            yield one
        elif isinstance(one, dict):
            open_values.append(_Raw("}"))
            for i, (key, inner) in enumerate(one.items()):
                open_values += [_Raw("," if i else ""), inner, _Raw(json.dumps(str(key)) + ": ")]
            yield "{"
        elif isinstance(one, list):
            open_values.append(_Raw("]"))
            for i, inner in enumerate(one):
                open_values += [_Raw("," if i else ""), inner]
            yield "["
        else:
            yield json.dumps(one, default=str)


class _Raw(str):
    """A text that is written as it is."""


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Return every place in a document: what holds a value, and its key or index."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])


def alter_messages(
    decode: Callable[[bytes], list[Message]], write: Callable[..., bytes]
) -> Mutator:
    """Return a mutator that alters fields of a sequence of messages.

    Parameters
    ----------
    decode, write : callable
        Read the messages of a file, and write them.
    """

    def alter(chance: random.Random, data: bytes) -> bytes:
        messages = decode(data)
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            match chance.randrange(20):
                case 0:
                    del messages[chance.randrange(len(messages))]
                case 1:
                    at, other = chance.randrange(len(messages)), chance.choice(messages)
                    messages.insert(at, type(other).FromString(other.SerializeToString()))
                case _:
                    _alter_field(chance, chance.choice(messages))
            if not messages:
                break
        return write(messages)

    return alter


def _alter_field(chance: random.Random, message: Message) -> None:
    """Alter one field, which may be inside a nested message."""
    present: list[FieldDescriptor] = [field for field, _ in message.ListFields()]
    fields: Any = present if present and chance.random() < 0.8 else message.DESCRIPTOR.fields
    field: FieldDescriptor = chance.choice(fields)
    if field.message_type is not None and not field.is_repeated:
        _alter_field(chance, getattr(message, field.name))
    elif not field.is_repeated:
        setattr(message, field.name, _field_value(chance, field, getattr(message, field.name)))
    else:
        _alter_list(chance, field, getattr(message, field.name))


def _alter_list(chance: random.Random, field: FieldDescriptor, values: Any) -> None:
    if field.message_type is not None:
        if not values or chance.random() < 0.1:
            values.add()
        elif chance.random() < 0.1:
            del values[chance.randrange(len(values))]
        _alter_field(chance, chance.choice(values)) if values else None
        return
    near = chance.choice(values) if values else field.default_value or _zero(field)
    value = _field_value(chance, field, near)
    match chance.randrange(8):
        case 0:
            values.append(value)
        case 1 if values:
            del values[chance.randrange(len(values))]
        case 2:
            del values[:]
        case 3 if values:  # every value alike
            values[:] = [value] * len(values)
        case 4 if values:
            at, other = chance.randrange(len(values)), chance.randrange(len(values))
            values[at], values[other] = values[other], values[at]
        case _ if values:
            values[chance.randrange(len(values))] = value


def _zero(field: FieldDescriptor) -> Any:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return b""
    return "" if field.type == FieldDescriptor.TYPE_STRING else 0


_BITS = {
    FieldDescriptor.TYPE_INT32: 31,
    FieldDescriptor.TYPE_SINT32: 31,
    FieldDescriptor.TYPE_SFIXED32: 31,
    FieldDescriptor.TYPE_ENUM: 31,
    FieldDescriptor.TYPE_UINT32: 32,
    FieldDescriptor.TYPE_FIXED32: 32,
    FieldDescriptor.TYPE_INT64: 63,
    FieldDescriptor.TYPE_SINT64: 63,
    FieldDescriptor.TYPE_SFIXED64: 63,
    FieldDescriptor.TYPE_UINT64: 64,
    FieldDescriptor.TYPE_FIXED64: 64,
}


def _field_value(chance: random.Random, field: FieldDescriptor, near: Any) -> Any:
    match field.type:
        case FieldDescriptor.TYPE_BOOL:
            return not near
        case FieldDescriptor.TYPE_STRING:
            return text(chance, near)
        case FieldDescriptor.TYPE_BYTES:
            return alter_bytes(chance, near)
        case FieldDescriptor.TYPE_FLOAT | FieldDescriptor.TYPE_DOUBLE:
            return chance.choice([0.0, -1.0, 1e30, float("nan"), float("inf")])
    if field.enum_type is not None and chance.random() < 0.7:
        return chance.choice(list(field.enum_type.values_by_number))
    value = natural(chance, _BITS[field.type], abs(int(near)))
    return -value if field.type in _SIGNED and chance.random() < 0.2 else value


_SIGNED = {kind for kind, bits in _BITS.items() if bits in (31, 63)} - {FieldDescriptor.TYPE_ENUM}
