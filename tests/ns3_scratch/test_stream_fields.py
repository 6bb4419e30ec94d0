"""The C++ side of the stream agrees with `network_api.proto`: version, fields, enumerations."""

import re
from pathlib import Path

import pytest
from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from frontend import network_api_pb2 as api
from frontend.stream import VERSION

STREAM = Path(__file__).parents[2] / "ns3-scratch" / "stream"
PROTO = (Path(api.__file__).parent / "network_api.proto").read_text()
STRUCTS = (STREAM / "stream.h").read_text()
FIELDS = (STREAM / "stream-fields.h").read_text()
READER = (STREAM / "stream-reader.cc").read_text()

MESSAGES = api.DESCRIPTOR.message_types_by_name
OTHER_NAMES = {
    "Header": "StreamHeader",
    "Tcp": "TcpSettings",
    "Transport": "TransportSettings",
    "System": "SystemSettings",
    "Roce": "RoceSettings",
    "Dcqcn": "DcqcnSettings",
    "Hpcc": "HpccSettings",
    "Timely": "TimelySettings",
    "RateDctcp": "RateDctcpSettings",
}
"""Names of the structs that differ from the message names."""
RECORDS = [name for name in MESSAGES if name != "Record"]

ENUMERATIONS = {
    "Scheduling": MESSAGES["System"].enum_types_by_name["Scheduling"],
    "ChunkOrder": MESSAGES["System"].enum_types_by_name["ChunkOrder"],
    "AdmissionKind": MESSAGES["System"].enum_types_by_name["Admission"],
    "LossRecovery": MESSAGES["Tcp"].enum_types_by_name["Recovery"],
    "RoceRecovery": MESSAGES["Roce"].enum_types_by_name["Recovery"],
    "Discount": MESSAGES["Reconfiguration"].enum_types_by_name["Discount"],
    "EventKind": MESSAGES["NetworkEvent"].enum_types_by_name["Kind"],
    "PathSpread": MESSAGES["Topology"].enum_types_by_name["Spread"],
    "StepOp": MESSAGES["Program"].enum_types_by_name["Op"],
    "NodeType": MESSAGES["Trace"].enum_types_by_name["Type"],
}
"""The enumerations of stream.h."""
STORED_AS_NUMBERS = {"Program.op": "StepOp", "Trace.type": "NodeType"}
"""Fields that are numbers in the `.proto`, and enumerations in stream.h."""
NOT_IN_RECORDS = {"Topology": {"folding"}, "Program": {"mirrors"}}
"""Members that the simulator sets."""
CPP_TYPES = {
    FieldDescriptor.TYPE_UINT32: "uint32_t",
    FieldDescriptor.TYPE_UINT64: "uint64_t",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_STRING: "std::string",
}


def struct_of(message: str) -> str:
    return OTHER_NAMES.get(message, message)


def members_by_number(struct: str) -> list[str]:
    """Return the members for the fields 1, 2, 3 …, in snake case; "" for a number not in use."""
    (table,) = re.findall(rf"FIELDS<{struct}> = std::tuple\{{\n([^;]*)\}};", FIELDS)
    members: list[str] = []
    assert table.count("&") == table.count(f"&{struct}::")
    for row in re.findall(r"^    (\S.*(?:\n     .*)*),$", table, re.MULTILINE):
        if jump := re.fullmatch(r"From\{(\d+)\}", row):
            members += [""] * (int(jump[1]) - 1 - len(members))
            continue
        field = re.fullmatch(
            rf'(?:Limited\("(\w+)",\s+)?&{struct}::(\w+)(?:\)|,.*)?', row, re.DOTALL
        )
        assert field, row
        members.append(re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", field[2]))
        assert field[1] in (None, members[-1])  # the name in error messages
    return members


def types_by_member(struct: str) -> dict[str, str]:
    """Return the type of every member of a struct and its base, by its name in snake case."""
    ((base, body),) = re.findall(
        rf"^struct {struct}(?: : (\w+))?\n\{{\n(.*?)^\}};", STRUCTS, re.DOTALL | re.MULTILINE
    )
    rows = re.findall(r"^    (\S+) (\w+)(?:\{.*\})?;", body, re.MULTILINE)
    return (types_by_member(base) if base else {}) | {
        re.sub("[A-Z]", lambda c: f"_{c[0].lower()}", name): kind for kind, name in rows
    }


def cpp_type(field: FieldDescriptor) -> str:
    """Return the C++ type of a field of the `.proto`."""
    if field.message_type is not None:
        kind = struct_of(field.message_type.name)
    elif field.type == FieldDescriptor.TYPE_ENUM:
        (kind,) = [name for name, enum in ENUMERATIONS.items() if enum is field.enum_type]
    else:
        # "cosim.v1.Trace.type"
        name = field.full_name.removeprefix(f"{api.DESCRIPTOR.package}.")
        kind = STORED_AS_NUMBERS.get(name, CPP_TYPES[field.type])
    return f"std::vector<{kind}>" if field.is_repeated else kind


def test_every_message_has_its_fields() -> None:
    tables = re.findall(r"FIELDS<(\w+)> = std::tuple", FIELDS)
    assert sorted(tables) == sorted(map(struct_of, RECORDS))


@pytest.mark.parametrize("message", RECORDS)
def test_fields_have_the_same_numbers(message: str) -> None:
    members = members_by_number(struct_of(message))
    fields = {field.name: field.number for field in MESSAGES[message].fields}
    numbers = {name: number for number, name in enumerate(members, 1) if name}
    assert numbers == fields


@pytest.mark.parametrize("message", RECORDS)
def test_fields_have_the_same_types(message: str) -> None:
    fields = {field.name: cpp_type(field) for field in MESSAGES[message].fields}
    types = types_by_member(struct_of(message))
    assert types.keys() - fields.keys() == NOT_IN_RECORDS.get(message, set())
    assert {name: types[name] for name in fields} == fields


def test_kinds_of_records_have_the_same_numbers() -> None:
    kinds = dict(re.findall(r"case (\d+):[^:]*?m_stream\.(\w+)", READER))
    (last,) = re.findall(r"kind > (\d+)", READER)
    kinds[last], *_ = re.findall(r"default:\s*ReadRecord\(record, m_stream\.(\w+)", READER)
    fields = {field.number: field.name for field in MESSAGES["Record"].fields}
    assert {int(number): name.removesuffix("s") for number, name in kinds.items()} == {
        number: name.removesuffix("s") for number, name in fields.items()
    }


@pytest.mark.parametrize(("name", "enumeration"), ENUMERATIONS.items())
def test_enumerations_have_the_same_values(name: str, enumeration: EnumDescriptor) -> None:
    (body,) = re.findall(rf"^enum class {name} : \w+\n\{{\n(.*?)^\}};", STRUCTS, re.S | re.M)
    values = {key: int(number) for key, number in re.findall(r"(\w+) = (\d+),", body)}
    assert values == {value.name: value.number for value in enumeration.values}
    (last,) = re.findall(rf"ENUMERATION<{name}>\{{{name}::(\w+),", READER)
    assert values[last] == max(values.values())


def test_all_enumerations_are_compared() -> None:
    declared = [enum.full_name for message in MESSAGES.values() for enum in message.enum_types]
    assert sorted(declared) == sorted(enum.full_name for enum in ENUMERATIONS.values())
    assert len(re.findall(r"^enum class", STRUCTS, re.MULTILINE)) == len(ENUMERATIONS)


def test_the_version_is_the_same() -> None:
    (reader,) = re.findall(r"STREAM_VERSION = (\d+);", (STREAM / "stream-reader.h").read_text())
    (proto,) = re.findall(r"uint32 version = 1; +// (\d+)$", PROTO, re.MULTILINE)
    assert int(reader) == int(proto) == VERSION
