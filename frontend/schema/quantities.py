"""Quantities of the schema: integers in base units that remember how they were written."""

from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from frontend import units

_LARGEST = 2**60  # sums must fit the 63 bits of ns-3's Time; as time, 13 days


class Quantity(int):
    """An exact integer in the base unit of its kind; shown as it was written (`100Gbps`)."""

    kind: ClassVar[units.Kind]
    minimum: ClassVar[int] = 0
    maximum: ClassVar[int] = _LARGEST
    given: str | int

    @classmethod
    def parse(cls, value: object) -> Self:
        """Return the quantity that `value` writes; ValueError says what is accepted."""
        if isinstance(value, cls):
            return value
        number = units.parse(value, cls.kind)
        if number < cls.minimum:
            smallest = units.written(cls.minimum, cls.kind)
            least = f"at least {smallest}" if cls.minimum > 1 else "more than 0"
            raise ValueError(f"expected {units.accepted(cls.kind)}, {least}")
        if number > cls.maximum:
            raise ValueError(f"expected at most {units.written(cls.maximum, cls.kind)}")
        result = cls(number)
        result.given = value if isinstance(value, str) else number
        return result

    def written(self) -> str | int:
        """The value as the scenario gave it, or with the largest unit that divides it."""
        return getattr(self, "given", units.written(self, self.kind))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(_written),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        names = "|".join(unit.replace("/", "\\/") for unit in cls.kind.units)
        pattern = rf"^\s*\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*({names})\s*$"
        text = {"type": "string", "pattern": pattern, "examples": [cls.kind.example]}
        return {"anyOf": [text, {"const": 0}]} if cls.minimum == 0 else text


def _written(value: Any) -> Any:
    # pydantic serialises defaults without validating their type, so anything may come here.
    return value.written() if isinstance(value, Quantity) else value


class Time(Quantity):
    """Picoseconds."""

    kind = units.TIME
    maximum = 10**18


class PositiveTime(Time):
    """Picoseconds, at least one."""

    minimum = 1


class Delay(Time):
    """Picoseconds of a latency, a timeout or an interval between events."""

    maximum = 10**15  # MAX_DELAY_PS of ns3-scratch/stream/stream-validator.h


class PositiveDelay(Delay):
    """Picoseconds of a timeout or an interval, at least one."""

    minimum = 1


class Size(Quantity):
    """Bytes."""

    kind = units.SIZE


class PositiveSize(Size):
    """Bytes, at least one."""

    minimum = 1


class SegmentSize(PositiveSize):
    """Payload of a TCP segment: at least what the smallest packet holds beside all headers."""

    minimum = 16  # an MTU of 68 less IPv4, TCP and the timestamp option


class FrameSize(PositiveSize):
    """Bytes of a frame on the wire."""

    maximum = 10_000


class Headroom(Size):
    """Bytes, or the name of a formula, which is held as 0 bytes."""

    formulas: ClassVar[tuple[str, ...]] = ("cable", "three_latencies")

    @classmethod
    def parse(cls, value: object) -> Self:
        """As `Quantity.parse`, and the names."""
        if isinstance(value, str) and value.strip() in cls.formulas:
            result = cls(0)
            result.given = value.strip()
            return result
        try:
            return super().parse(value)
        except ValueError as error:
            raise ValueError(f"{error}, or {' or '.join(cls.formulas)}") from None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        written = super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [{"enum": list(cls.formulas)}, *written.get("anyOf", [written])]}


class HeaderSize(Size):
    """Bytes of a link's header."""

    maximum = 1000


class ElementSize(PositiveSize):
    """Bytes of a number."""

    maximum = 64


class SizeOrUnlimited(Size):
    """Bytes, or `unlimited`, which is held as a number."""

    unlimited: ClassVar[int]

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit."""
        return self == self.unlimited

    @classmethod
    def parse(cls, value: object) -> Self:
        """As `Quantity.parse`, and `unlimited`."""
        if isinstance(value, str) and value.strip() == "unlimited":
            result = cls(cls.unlimited)
            result.given = "unlimited"
            return result
        try:
            return super().parse(value)
        except ValueError as error:
            said = str(error)
            raise ValueError(said if said.endswith("?") else f"{said}, or unlimited") from None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        written = super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [{"const": "unlimited"}, written.get("anyOf", [written])[0]]}


class Buffer(SizeOrUnlimited):
    """Bytes of a switch's packet memory, or `unlimited`.

    An unlimited buffer is held as 256 TiB, the most that the simulator accepts. No run fills it,
    and its queues are measured like those of other buffers.
    """

    unlimited = 2**48
    maximum = unlimited

    @classmethod
    def parse(cls, value: object) -> Self:
        """As `SizeOrUnlimited.parse`, and more than 0."""
        result = super().parse(value)
        if result == 0 and not isinstance(value, cls):
            raise ValueError(f"expected {units.accepted(cls.kind)}, more than 0, or unlimited")
        return result


class PacketSize(SizeOrUnlimited):
    """Bytes of an IPv4 packet: what every network carries (RFC 791) to the largest; or `unlimited`.

    An unlimited packet is held as 1 GiB, the most that the simulator accepts.
    """

    minimum = 68
    maximum = 65535
    unlimited = 2**30


class Window(SizeOrUnlimited):
    """Bytes that a connection may have on its way, or `unlimited`."""

    minimum = 1
    unlimited = 2**48


class Rate(Quantity):
    """Bits per second, at least 1000: a packet should last seconds at most."""

    kind = units.RATE
    minimum = 1000


class ByteRate(Quantity):
    """Bytes per second, at least one."""

    kind = units.BYTE_RATE
    minimum = 1


class ComputeRate(Quantity):
    """Floating-point operations per second, at least one."""

    kind = units.COMPUTE
    minimum = 1
