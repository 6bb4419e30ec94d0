from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GlobalMetadata(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: str
    def __init__(self, version: _Optional[str] = ...) -> None: ...

class Node(_message.Message):
    __slots__ = ("id", "name", "type", "ctrl_deps", "data_deps", "duration_micros", "inputs", "attr")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CTRL_DEPS_FIELD_NUMBER: _ClassVar[int]
    DATA_DEPS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MICROS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    ATTR_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    type: int
    ctrl_deps: _containers.RepeatedScalarFieldContainer[int]
    data_deps: _containers.RepeatedScalarFieldContainer[int]
    duration_micros: int
    inputs: Inputs
    attr: _containers.RepeatedCompositeFieldContainer[Attribute]
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., type: _Optional[int] = ..., ctrl_deps: _Optional[_Iterable[int]] = ..., data_deps: _Optional[_Iterable[int]] = ..., duration_micros: _Optional[int] = ..., inputs: _Optional[_Union[Inputs, _Mapping]] = ..., attr: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ...) -> None: ...

class Inputs(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: str
    def __init__(self, values: _Optional[str] = ...) -> None: ...

class Attribute(_message.Message):
    __slots__ = ("name", "double_val", "float_val", "int32_val", "int64_val", "uint32_val", "uint64_val", "sint32_val", "sint64_val", "fixed32_val", "fixed64_val", "sfixed32_val", "sfixed64_val", "bool_val", "bool_list", "string_val")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VAL_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VAL_FIELD_NUMBER: _ClassVar[int]
    INT32_VAL_FIELD_NUMBER: _ClassVar[int]
    INT64_VAL_FIELD_NUMBER: _ClassVar[int]
    UINT32_VAL_FIELD_NUMBER: _ClassVar[int]
    UINT64_VAL_FIELD_NUMBER: _ClassVar[int]
    SINT32_VAL_FIELD_NUMBER: _ClassVar[int]
    SINT64_VAL_FIELD_NUMBER: _ClassVar[int]
    FIXED32_VAL_FIELD_NUMBER: _ClassVar[int]
    FIXED64_VAL_FIELD_NUMBER: _ClassVar[int]
    SFIXED32_VAL_FIELD_NUMBER: _ClassVar[int]
    SFIXED64_VAL_FIELD_NUMBER: _ClassVar[int]
    BOOL_VAL_FIELD_NUMBER: _ClassVar[int]
    BOOL_LIST_FIELD_NUMBER: _ClassVar[int]
    STRING_VAL_FIELD_NUMBER: _ClassVar[int]
    name: str
    double_val: float
    float_val: float
    int32_val: int
    int64_val: int
    uint32_val: int
    uint64_val: int
    sint32_val: int
    sint64_val: int
    fixed32_val: int
    fixed64_val: int
    sfixed32_val: int
    sfixed64_val: int
    bool_val: bool
    bool_list: Flags
    string_val: str
    def __init__(self, name: _Optional[str] = ..., double_val: _Optional[float] = ..., float_val: _Optional[float] = ..., int32_val: _Optional[int] = ..., int64_val: _Optional[int] = ..., uint32_val: _Optional[int] = ..., uint64_val: _Optional[int] = ..., sint32_val: _Optional[int] = ..., sint64_val: _Optional[int] = ..., fixed32_val: _Optional[int] = ..., fixed64_val: _Optional[int] = ..., sfixed32_val: _Optional[int] = ..., sfixed64_val: _Optional[int] = ..., bool_val: bool = ..., bool_list: _Optional[_Union[Flags, _Mapping]] = ..., string_val: _Optional[str] = ...) -> None: ...

class Flags(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, values: _Optional[_Iterable[bool]] = ...) -> None: ...
