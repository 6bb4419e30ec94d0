from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Record(_message.Message):
    __slots__ = ("header", "settings", "topology", "program", "collective", "trace")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    TOPOLOGY_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    COLLECTIVE_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    header: Header
    settings: Settings
    topology: Topology
    program: Program
    collective: Collective
    trace: Trace
    def __init__(self, header: _Optional[_Union[Header, _Mapping]] = ..., settings: _Optional[_Union[Settings, _Mapping]] = ..., topology: _Optional[_Union[Topology, _Mapping]] = ..., program: _Optional[_Union[Program, _Mapping]] = ..., collective: _Optional[_Union[Collective, _Mapping]] = ..., trace: _Optional[_Union[Trace, _Mapping]] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("version", "producer", "name", "seed", "scenario_json")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_JSON_FIELD_NUMBER: _ClassVar[int]
    version: int
    producer: str
    name: str
    seed: int
    scenario_json: str
    def __init__(self, version: _Optional[int] = ..., producer: _Optional[str] = ..., name: _Optional[str] = ..., seed: _Optional[int] = ..., scenario_json: _Optional[str] = ...) -> None: ...

class Settings(_message.Message):
    __slots__ = ("fabric", "tcp", "system", "rtt_sample_interval_ps", "time_limit_ps", "replay", "roce", "transports")
    FABRIC_FIELD_NUMBER: _ClassVar[int]
    TCP_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    RTT_SAMPLE_INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    TIME_LIMIT_PS_FIELD_NUMBER: _ClassVar[int]
    REPLAY_FIELD_NUMBER: _ClassVar[int]
    ROCE_FIELD_NUMBER: _ClassVar[int]
    TRANSPORTS_FIELD_NUMBER: _ClassVar[int]
    fabric: str
    tcp: Tcp
    system: System
    rtt_sample_interval_ps: int
    time_limit_ps: int
    replay: bool
    roce: Roce
    transports: _containers.RepeatedCompositeFieldContainer[Transport]
    def __init__(self, fabric: _Optional[str] = ..., tcp: _Optional[_Union[Tcp, _Mapping]] = ..., system: _Optional[_Union[System, _Mapping]] = ..., rtt_sample_interval_ps: _Optional[int] = ..., time_limit_ps: _Optional[int] = ..., replay: bool = ..., roce: _Optional[_Union[Roce, _Mapping]] = ..., transports: _Optional[_Iterable[_Union[Transport, _Mapping]]] = ...) -> None: ...

class Transport(_message.Message):
    __slots__ = ("tcp", "roce")
    TCP_FIELD_NUMBER: _ClassVar[int]
    ROCE_FIELD_NUMBER: _ClassVar[int]
    tcp: Tcp
    roce: Roce
    def __init__(self, tcp: _Optional[_Union[Tcp, _Mapping]] = ..., roce: _Optional[_Union[Roce, _Mapping]] = ...) -> None: ...

class Tcp(_message.Message):
    __slots__ = ("congestion_control", "mtu_bytes", "segment_bytes", "send_buffer_bytes", "receive_buffer_bytes", "initial_cwnd_segments", "min_rto_ps", "initial_rto_ps", "clock_granularity_ps", "delayed_ack_timeout_ps", "delayed_ack_segments", "sack", "timestamps", "window_scaling", "ecn", "link_header_bytes", "socket_per_flow", "recovery", "buffers_count_packets", "unlimited_window")
    class Recovery(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        PRR: _ClassVar[Tcp.Recovery]
        CLASSIC: _ClassVar[Tcp.Recovery]
    PRR: Tcp.Recovery
    CLASSIC: Tcp.Recovery
    CONGESTION_CONTROL_FIELD_NUMBER: _ClassVar[int]
    MTU_BYTES_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    SEND_BUFFER_BYTES_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_BUFFER_BYTES_FIELD_NUMBER: _ClassVar[int]
    INITIAL_CWND_SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    MIN_RTO_PS_FIELD_NUMBER: _ClassVar[int]
    INITIAL_RTO_PS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_GRANULARITY_PS_FIELD_NUMBER: _ClassVar[int]
    DELAYED_ACK_TIMEOUT_PS_FIELD_NUMBER: _ClassVar[int]
    DELAYED_ACK_SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    SACK_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMPS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_SCALING_FIELD_NUMBER: _ClassVar[int]
    ECN_FIELD_NUMBER: _ClassVar[int]
    LINK_HEADER_BYTES_FIELD_NUMBER: _ClassVar[int]
    SOCKET_PER_FLOW_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_FIELD_NUMBER: _ClassVar[int]
    BUFFERS_COUNT_PACKETS_FIELD_NUMBER: _ClassVar[int]
    UNLIMITED_WINDOW_FIELD_NUMBER: _ClassVar[int]
    congestion_control: str
    mtu_bytes: int
    segment_bytes: int
    send_buffer_bytes: int
    receive_buffer_bytes: int
    initial_cwnd_segments: int
    min_rto_ps: int
    initial_rto_ps: int
    clock_granularity_ps: int
    delayed_ack_timeout_ps: int
    delayed_ack_segments: int
    sack: bool
    timestamps: bool
    window_scaling: bool
    ecn: bool
    link_header_bytes: int
    socket_per_flow: bool
    recovery: Tcp.Recovery
    buffers_count_packets: bool
    unlimited_window: bool
    def __init__(self, congestion_control: _Optional[str] = ..., mtu_bytes: _Optional[int] = ..., segment_bytes: _Optional[int] = ..., send_buffer_bytes: _Optional[int] = ..., receive_buffer_bytes: _Optional[int] = ..., initial_cwnd_segments: _Optional[int] = ..., min_rto_ps: _Optional[int] = ..., initial_rto_ps: _Optional[int] = ..., clock_granularity_ps: _Optional[int] = ..., delayed_ack_timeout_ps: _Optional[int] = ..., delayed_ack_segments: _Optional[int] = ..., sack: bool = ..., timestamps: bool = ..., window_scaling: bool = ..., ecn: bool = ..., link_header_bytes: _Optional[int] = ..., socket_per_flow: bool = ..., recovery: _Optional[_Union[Tcp.Recovery, str]] = ..., buffers_count_packets: bool = ..., unlimited_window: bool = ...) -> None: ...

class Roce(_message.Message):
    __slots__ = ("congestion_control", "payload_bytes", "header_bytes", "ack_bytes", "cnp_bytes", "cnp_interval_ps", "time_unit_ps", "telemetry", "window_bytes", "product_window", "variable_window", "ack_interval_bytes", "nack_interval_ps", "timeout_ps", "retries", "data_class", "ack_class", "ecn", "recovery", "min_rate_bps", "increase_bps", "hyper_increase_bps", "dcqcn", "hpcc", "timely", "dctcp")
    class Recovery(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GO_BACK_N: _ClassVar[Roce.Recovery]
        SELECTIVE_REPEAT: _ClassVar[Roce.Recovery]
    GO_BACK_N: Roce.Recovery
    SELECTIVE_REPEAT: Roce.Recovery
    CONGESTION_CONTROL_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    HEADER_BYTES_FIELD_NUMBER: _ClassVar[int]
    ACK_BYTES_FIELD_NUMBER: _ClassVar[int]
    CNP_BYTES_FIELD_NUMBER: _ClassVar[int]
    CNP_INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    TIME_UNIT_PS_FIELD_NUMBER: _ClassVar[int]
    TELEMETRY_FIELD_NUMBER: _ClassVar[int]
    WINDOW_BYTES_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    VARIABLE_WINDOW_FIELD_NUMBER: _ClassVar[int]
    ACK_INTERVAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    NACK_INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_PS_FIELD_NUMBER: _ClassVar[int]
    RETRIES_FIELD_NUMBER: _ClassVar[int]
    DATA_CLASS_FIELD_NUMBER: _ClassVar[int]
    ACK_CLASS_FIELD_NUMBER: _ClassVar[int]
    ECN_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_FIELD_NUMBER: _ClassVar[int]
    MIN_RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    INCREASE_BPS_FIELD_NUMBER: _ClassVar[int]
    HYPER_INCREASE_BPS_FIELD_NUMBER: _ClassVar[int]
    DCQCN_FIELD_NUMBER: _ClassVar[int]
    HPCC_FIELD_NUMBER: _ClassVar[int]
    TIMELY_FIELD_NUMBER: _ClassVar[int]
    DCTCP_FIELD_NUMBER: _ClassVar[int]
    congestion_control: str
    payload_bytes: int
    header_bytes: int
    ack_bytes: int
    cnp_bytes: int
    cnp_interval_ps: int
    time_unit_ps: int
    telemetry: bool
    window_bytes: int
    product_window: bool
    variable_window: bool
    ack_interval_bytes: int
    nack_interval_ps: int
    timeout_ps: int
    retries: int
    data_class: int
    ack_class: int
    ecn: bool
    recovery: Roce.Recovery
    min_rate_bps: int
    increase_bps: int
    hyper_increase_bps: int
    dcqcn: Dcqcn
    hpcc: Hpcc
    timely: Timely
    dctcp: RateDctcp
    def __init__(self, congestion_control: _Optional[str] = ..., payload_bytes: _Optional[int] = ..., header_bytes: _Optional[int] = ..., ack_bytes: _Optional[int] = ..., cnp_bytes: _Optional[int] = ..., cnp_interval_ps: _Optional[int] = ..., time_unit_ps: _Optional[int] = ..., telemetry: bool = ..., window_bytes: _Optional[int] = ..., product_window: bool = ..., variable_window: bool = ..., ack_interval_bytes: _Optional[int] = ..., nack_interval_ps: _Optional[int] = ..., timeout_ps: _Optional[int] = ..., retries: _Optional[int] = ..., data_class: _Optional[int] = ..., ack_class: _Optional[int] = ..., ecn: bool = ..., recovery: _Optional[_Union[Roce.Recovery, str]] = ..., min_rate_bps: _Optional[int] = ..., increase_bps: _Optional[int] = ..., hyper_increase_bps: _Optional[int] = ..., dcqcn: _Optional[_Union[Dcqcn, _Mapping]] = ..., hpcc: _Optional[_Union[Hpcc, _Mapping]] = ..., timely: _Optional[_Union[Timely, _Mapping]] = ..., dctcp: _Optional[_Union[RateDctcp, _Mapping]] = ...) -> None: ...

class Dcqcn(_message.Message):
    __slots__ = ("gain_ppb", "alpha_interval_ps", "cut_interval_ps", "rise_interval_ps", "counter_bytes", "recovery_steps", "first_rate_ppb", "clamps_target")
    GAIN_PPB_FIELD_NUMBER: _ClassVar[int]
    ALPHA_INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    CUT_INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    RISE_INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    COUNTER_BYTES_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_STEPS_FIELD_NUMBER: _ClassVar[int]
    FIRST_RATE_PPB_FIELD_NUMBER: _ClassVar[int]
    CLAMPS_TARGET_FIELD_NUMBER: _ClassVar[int]
    gain_ppb: int
    alpha_interval_ps: int
    cut_interval_ps: int
    rise_interval_ps: int
    counter_bytes: int
    recovery_steps: int
    first_rate_ppb: int
    clamps_target: bool
    def __init__(self, gain_ppb: _Optional[int] = ..., alpha_interval_ps: _Optional[int] = ..., cut_interval_ps: _Optional[int] = ..., rise_interval_ps: _Optional[int] = ..., counter_bytes: _Optional[int] = ..., recovery_steps: _Optional[int] = ..., first_rate_ppb: _Optional[int] = ..., clamps_target: bool = ...) -> None: ...

class Hpcc(_message.Message):
    __slots__ = ("target_ppb", "stages", "reacts_fast")
    TARGET_PPB_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    REACTS_FAST_FIELD_NUMBER: _ClassVar[int]
    target_ppb: int
    stages: int
    reacts_fast: bool
    def __init__(self, target_ppb: _Optional[int] = ..., stages: _Optional[int] = ..., reacts_fast: bool = ...) -> None: ...

class Timely(_message.Message):
    __slots__ = ("short_rtt_ps", "long_rtt_ps", "min_rtt_ps", "weight_ppb", "beta_ppb", "hyper_after")
    SHORT_RTT_PS_FIELD_NUMBER: _ClassVar[int]
    LONG_RTT_PS_FIELD_NUMBER: _ClassVar[int]
    MIN_RTT_PS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_PPB_FIELD_NUMBER: _ClassVar[int]
    BETA_PPB_FIELD_NUMBER: _ClassVar[int]
    HYPER_AFTER_FIELD_NUMBER: _ClassVar[int]
    short_rtt_ps: int
    long_rtt_ps: int
    min_rtt_ps: int
    weight_ppb: int
    beta_ppb: int
    hyper_after: int
    def __init__(self, short_rtt_ps: _Optional[int] = ..., long_rtt_ps: _Optional[int] = ..., min_rtt_ps: _Optional[int] = ..., weight_ppb: _Optional[int] = ..., beta_ppb: _Optional[int] = ..., hyper_after: _Optional[int] = ...) -> None: ...

class RateDctcp(_message.Message):
    __slots__ = ("gain_ppb", "increase_bps")
    GAIN_PPB_FIELD_NUMBER: _ClassVar[int]
    INCREASE_BPS_FIELD_NUMBER: _ClassVar[int]
    gain_ppb: int
    increase_bps: int
    def __init__(self, gain_ppb: _Optional[int] = ..., increase_bps: _Optional[int] = ...) -> None: ...

class HostCost(_message.Message):
    __slots__ = ("message_ps", "bytes_per_s")
    MESSAGE_PS_FIELD_NUMBER: _ClassVar[int]
    BYTES_PER_S_FIELD_NUMBER: _ClassVar[int]
    message_ps: int
    bytes_per_s: int
    def __init__(self, message_ps: _Optional[int] = ..., bytes_per_s: _Optional[int] = ...) -> None: ...

class System(_message.Message):
    __slots__ = ("scheduling", "concurrent_chunks", "injection_latency_ps", "reduction_bytes_per_s", "message_by_message", "admission", "send", "receive", "flows_per_pair", "slots_per_level", "chunk_order")
    class Scheduling(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LIFO: _ClassVar[System.Scheduling]
        FIFO: _ClassVar[System.Scheduling]
    LIFO: System.Scheduling
    FIFO: System.Scheduling
    class Admission(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NEGOTIATED: _ClassVar[System.Admission]
        LOCAL: _ClassVar[System.Admission]
    NEGOTIATED: System.Admission
    LOCAL: System.Admission
    class ChunkOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        INDEX: _ClassVar[System.ChunkOrder]
        ARRIVAL: _ClassVar[System.ChunkOrder]
    INDEX: System.ChunkOrder
    ARRIVAL: System.ChunkOrder
    SCHEDULING_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    INJECTION_LATENCY_PS_FIELD_NUMBER: _ClassVar[int]
    REDUCTION_BYTES_PER_S_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BY_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ADMISSION_FIELD_NUMBER: _ClassVar[int]
    SEND_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_FIELD_NUMBER: _ClassVar[int]
    FLOWS_PER_PAIR_FIELD_NUMBER: _ClassVar[int]
    SLOTS_PER_LEVEL_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ORDER_FIELD_NUMBER: _ClassVar[int]
    scheduling: System.Scheduling
    concurrent_chunks: _containers.RepeatedScalarFieldContainer[int]
    injection_latency_ps: int
    reduction_bytes_per_s: int
    message_by_message: bool
    admission: System.Admission
    send: HostCost
    receive: HostCost
    flows_per_pair: int
    slots_per_level: bool
    chunk_order: System.ChunkOrder
    def __init__(self, scheduling: _Optional[_Union[System.Scheduling, str]] = ..., concurrent_chunks: _Optional[_Iterable[int]] = ..., injection_latency_ps: _Optional[int] = ..., reduction_bytes_per_s: _Optional[int] = ..., message_by_message: bool = ..., admission: _Optional[_Union[System.Admission, str]] = ..., send: _Optional[_Union[HostCost, _Mapping]] = ..., receive: _Optional[_Union[HostCost, _Mapping]] = ..., flows_per_pair: _Optional[int] = ..., slots_per_level: bool = ..., chunk_order: _Optional[_Union[System.ChunkOrder, str]] = ...) -> None: ...

class Topology(_message.Message):
    __slots__ = ("ranks", "nodes", "dimensions", "link_source", "link_target", "link_rate_bps", "link_latency_ps", "link_buffer_bytes", "link_ecn_threshold_bytes", "link_dimension", "path_source", "path_target", "path_begin", "path_links", "forwarding_delay_ps", "reconfiguration", "ranks_forward", "link_loss_ppb", "events", "detection_ps", "reroute", "shared_memory_alpha_ppm", "spread", "flowlet_gap_ps", "shared_links", "traffic", "loss_seed", "node_names", "marks_at_dequeue", "link_ecn_full_bytes", "ecn_chance_ppb", "ecn_seed", "pause_frame_bytes", "reserve_bytes", "resume_bytes", "link_headroom_bytes", "link_share_ppm", "endpoints", "path_transport", "path_class", "markings", "lossy_classes")
    class Spread(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FLOW: _ClassVar[Topology.Spread]
        PACKET: _ClassVar[Topology.Spread]
        FLOWLET: _ClassVar[Topology.Spread]
    FLOW: Topology.Spread
    PACKET: Topology.Spread
    FLOWLET: Topology.Spread
    RANKS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    LINK_SOURCE_FIELD_NUMBER: _ClassVar[int]
    LINK_TARGET_FIELD_NUMBER: _ClassVar[int]
    LINK_RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    LINK_LATENCY_PS_FIELD_NUMBER: _ClassVar[int]
    LINK_BUFFER_BYTES_FIELD_NUMBER: _ClassVar[int]
    LINK_ECN_THRESHOLD_BYTES_FIELD_NUMBER: _ClassVar[int]
    LINK_DIMENSION_FIELD_NUMBER: _ClassVar[int]
    PATH_SOURCE_FIELD_NUMBER: _ClassVar[int]
    PATH_TARGET_FIELD_NUMBER: _ClassVar[int]
    PATH_BEGIN_FIELD_NUMBER: _ClassVar[int]
    PATH_LINKS_FIELD_NUMBER: _ClassVar[int]
    FORWARDING_DELAY_PS_FIELD_NUMBER: _ClassVar[int]
    RECONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    RANKS_FORWARD_FIELD_NUMBER: _ClassVar[int]
    LINK_LOSS_PPB_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    DETECTION_PS_FIELD_NUMBER: _ClassVar[int]
    REROUTE_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_ALPHA_PPM_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    FLOWLET_GAP_PS_FIELD_NUMBER: _ClassVar[int]
    SHARED_LINKS_FIELD_NUMBER: _ClassVar[int]
    TRAFFIC_FIELD_NUMBER: _ClassVar[int]
    LOSS_SEED_FIELD_NUMBER: _ClassVar[int]
    NODE_NAMES_FIELD_NUMBER: _ClassVar[int]
    MARKS_AT_DEQUEUE_FIELD_NUMBER: _ClassVar[int]
    LINK_ECN_FULL_BYTES_FIELD_NUMBER: _ClassVar[int]
    ECN_CHANCE_PPB_FIELD_NUMBER: _ClassVar[int]
    ECN_SEED_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FRAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESERVE_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESUME_BYTES_FIELD_NUMBER: _ClassVar[int]
    LINK_HEADROOM_BYTES_FIELD_NUMBER: _ClassVar[int]
    LINK_SHARE_PPM_FIELD_NUMBER: _ClassVar[int]
    ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    PATH_TRANSPORT_FIELD_NUMBER: _ClassVar[int]
    PATH_CLASS_FIELD_NUMBER: _ClassVar[int]
    MARKINGS_FIELD_NUMBER: _ClassVar[int]
    LOSSY_CLASSES_FIELD_NUMBER: _ClassVar[int]
    ranks: int
    nodes: int
    dimensions: _containers.RepeatedScalarFieldContainer[str]
    link_source: _containers.RepeatedScalarFieldContainer[int]
    link_target: _containers.RepeatedScalarFieldContainer[int]
    link_rate_bps: _containers.RepeatedScalarFieldContainer[int]
    link_latency_ps: _containers.RepeatedScalarFieldContainer[int]
    link_buffer_bytes: _containers.RepeatedScalarFieldContainer[int]
    link_ecn_threshold_bytes: _containers.RepeatedScalarFieldContainer[int]
    link_dimension: _containers.RepeatedScalarFieldContainer[int]
    path_source: _containers.RepeatedScalarFieldContainer[int]
    path_target: _containers.RepeatedScalarFieldContainer[int]
    path_begin: _containers.RepeatedScalarFieldContainer[int]
    path_links: _containers.RepeatedScalarFieldContainer[int]
    forwarding_delay_ps: int
    reconfiguration: Reconfiguration
    ranks_forward: bool
    link_loss_ppb: _containers.RepeatedScalarFieldContainer[int]
    events: _containers.RepeatedCompositeFieldContainer[NetworkEvent]
    detection_ps: int
    reroute: bool
    shared_memory_alpha_ppm: int
    spread: Topology.Spread
    flowlet_gap_ps: int
    shared_links: int
    traffic: _containers.RepeatedCompositeFieldContainer[Traffic]
    loss_seed: int
    node_names: _containers.RepeatedScalarFieldContainer[str]
    marks_at_dequeue: bool
    link_ecn_full_bytes: _containers.RepeatedScalarFieldContainer[int]
    ecn_chance_ppb: int
    ecn_seed: int
    pause_frame_bytes: int
    reserve_bytes: int
    resume_bytes: int
    link_headroom_bytes: _containers.RepeatedScalarFieldContainer[int]
    link_share_ppm: _containers.RepeatedScalarFieldContainer[int]
    endpoints: int
    path_transport: _containers.RepeatedScalarFieldContainer[int]
    path_class: _containers.RepeatedScalarFieldContainer[int]
    markings: _containers.RepeatedCompositeFieldContainer[ClassMarking]
    lossy_classes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ranks: _Optional[int] = ..., nodes: _Optional[int] = ..., dimensions: _Optional[_Iterable[str]] = ..., link_source: _Optional[_Iterable[int]] = ..., link_target: _Optional[_Iterable[int]] = ..., link_rate_bps: _Optional[_Iterable[int]] = ..., link_latency_ps: _Optional[_Iterable[int]] = ..., link_buffer_bytes: _Optional[_Iterable[int]] = ..., link_ecn_threshold_bytes: _Optional[_Iterable[int]] = ..., link_dimension: _Optional[_Iterable[int]] = ..., path_source: _Optional[_Iterable[int]] = ..., path_target: _Optional[_Iterable[int]] = ..., path_begin: _Optional[_Iterable[int]] = ..., path_links: _Optional[_Iterable[int]] = ..., forwarding_delay_ps: _Optional[int] = ..., reconfiguration: _Optional[_Union[Reconfiguration, _Mapping]] = ..., ranks_forward: bool = ..., link_loss_ppb: _Optional[_Iterable[int]] = ..., events: _Optional[_Iterable[_Union[NetworkEvent, _Mapping]]] = ..., detection_ps: _Optional[int] = ..., reroute: bool = ..., shared_memory_alpha_ppm: _Optional[int] = ..., spread: _Optional[_Union[Topology.Spread, str]] = ..., flowlet_gap_ps: _Optional[int] = ..., shared_links: _Optional[int] = ..., traffic: _Optional[_Iterable[_Union[Traffic, _Mapping]]] = ..., loss_seed: _Optional[int] = ..., node_names: _Optional[_Iterable[str]] = ..., marks_at_dequeue: bool = ..., link_ecn_full_bytes: _Optional[_Iterable[int]] = ..., ecn_chance_ppb: _Optional[int] = ..., ecn_seed: _Optional[int] = ..., pause_frame_bytes: _Optional[int] = ..., reserve_bytes: _Optional[int] = ..., resume_bytes: _Optional[int] = ..., link_headroom_bytes: _Optional[_Iterable[int]] = ..., link_share_ppm: _Optional[_Iterable[int]] = ..., endpoints: _Optional[int] = ..., path_transport: _Optional[_Iterable[int]] = ..., path_class: _Optional[_Iterable[int]] = ..., markings: _Optional[_Iterable[_Union[ClassMarking, _Mapping]]] = ..., lossy_classes: _Optional[_Iterable[int]] = ...) -> None: ...

class ClassMarking(_message.Message):
    __slots__ = ("classes", "link_ecn_threshold_bytes", "link_ecn_full_bytes", "ecn_chance_ppb", "marks_at_dequeue")
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    LINK_ECN_THRESHOLD_BYTES_FIELD_NUMBER: _ClassVar[int]
    LINK_ECN_FULL_BYTES_FIELD_NUMBER: _ClassVar[int]
    ECN_CHANCE_PPB_FIELD_NUMBER: _ClassVar[int]
    MARKS_AT_DEQUEUE_FIELD_NUMBER: _ClassVar[int]
    classes: _containers.RepeatedScalarFieldContainer[int]
    link_ecn_threshold_bytes: _containers.RepeatedScalarFieldContainer[int]
    link_ecn_full_bytes: _containers.RepeatedScalarFieldContainer[int]
    ecn_chance_ppb: int
    marks_at_dequeue: bool
    def __init__(self, classes: _Optional[_Iterable[int]] = ..., link_ecn_threshold_bytes: _Optional[_Iterable[int]] = ..., link_ecn_full_bytes: _Optional[_Iterable[int]] = ..., ecn_chance_ppb: _Optional[int] = ..., marks_at_dequeue: bool = ...) -> None: ...

class NetworkEvent(_message.Message):
    __slots__ = ("kind", "time_ps", "text", "links", "rate_bps", "loss_ppb", "ranks", "factor_ppm", "jitter_ppm", "spread_ppm", "jobs", "paths")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LINK_DOWN: _ClassVar[NetworkEvent.Kind]
        LINK_UP: _ClassVar[NetworkEvent.Kind]
        LINK_RATE: _ClassVar[NetworkEvent.Kind]
        LINK_LOSS: _ClassVar[NetworkEvent.Kind]
        COMPUTE: _ClassVar[NetworkEvent.Kind]
        JOB_FAILURE: _ClassVar[NetworkEvent.Kind]
    LINK_DOWN: NetworkEvent.Kind
    LINK_UP: NetworkEvent.Kind
    LINK_RATE: NetworkEvent.Kind
    LINK_LOSS: NetworkEvent.Kind
    COMPUTE: NetworkEvent.Kind
    JOB_FAILURE: NetworkEvent.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    TIME_PS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    LOSS_PPB_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    FACTOR_PPM_FIELD_NUMBER: _ClassVar[int]
    JITTER_PPM_FIELD_NUMBER: _ClassVar[int]
    SPREAD_PPM_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    kind: NetworkEvent.Kind
    time_ps: int
    text: str
    links: _containers.RepeatedScalarFieldContainer[int]
    rate_bps: int
    loss_ppb: int
    ranks: _containers.RepeatedScalarFieldContainer[int]
    factor_ppm: int
    jitter_ppm: int
    spread_ppm: int
    jobs: _containers.RepeatedScalarFieldContainer[int]
    paths: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, kind: _Optional[_Union[NetworkEvent.Kind, str]] = ..., time_ps: _Optional[int] = ..., text: _Optional[str] = ..., links: _Optional[_Iterable[int]] = ..., rate_bps: _Optional[int] = ..., loss_ppb: _Optional[int] = ..., ranks: _Optional[_Iterable[int]] = ..., factor_ppm: _Optional[int] = ..., jitter_ppm: _Optional[int] = ..., spread_ppm: _Optional[int] = ..., jobs: _Optional[_Iterable[int]] = ..., paths: _Optional[_Iterable[int]] = ...) -> None: ...

class Traffic(_message.Message):
    __slots__ = ("text", "begin_ps", "end_ps", "sources", "targets", "interval_ps", "burst", "sizes", "cumulative_ppb", "seed", "route")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BEGIN_PS_FIELD_NUMBER: _ClassVar[int]
    END_PS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    BURST_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    CUMULATIVE_PPB_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    text: str
    begin_ps: int
    end_ps: int
    sources: _containers.RepeatedScalarFieldContainer[int]
    targets: _containers.RepeatedScalarFieldContainer[int]
    interval_ps: int
    burst: bool
    sizes: _containers.RepeatedScalarFieldContainer[int]
    cumulative_ppb: _containers.RepeatedScalarFieldContainer[int]
    seed: int
    route: int
    def __init__(self, text: _Optional[str] = ..., begin_ps: _Optional[int] = ..., end_ps: _Optional[int] = ..., sources: _Optional[_Iterable[int]] = ..., targets: _Optional[_Iterable[int]] = ..., interval_ps: _Optional[int] = ..., burst: bool = ..., sizes: _Optional[_Iterable[int]] = ..., cumulative_ppb: _Optional[_Iterable[int]] = ..., seed: _Optional[int] = ..., route: _Optional[int] = ...) -> None: ...

class Reconfiguration(_message.Message):
    __slots__ = ("interval_ps", "latency_ps", "degree", "discount", "forwarding", "circuit_rate_bps", "circuit_latency_ps", "circuit_buffer_bytes", "circuit_ecn_threshold_bytes", "control_network")
    class Discount(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EXPONENTIAL: _ClassVar[Reconfiguration.Discount]
        LINEAR: _ClassVar[Reconfiguration.Discount]
        FACTORIAL: _ClassVar[Reconfiguration.Discount]
        NONE: _ClassVar[Reconfiguration.Discount]
    EXPONENTIAL: Reconfiguration.Discount
    LINEAR: Reconfiguration.Discount
    FACTORIAL: Reconfiguration.Discount
    NONE: Reconfiguration.Discount
    INTERVAL_PS_FIELD_NUMBER: _ClassVar[int]
    LATENCY_PS_FIELD_NUMBER: _ClassVar[int]
    DEGREE_FIELD_NUMBER: _ClassVar[int]
    DISCOUNT_FIELD_NUMBER: _ClassVar[int]
    FORWARDING_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_RATE_BPS_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_LATENCY_PS_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_BUFFER_BYTES_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_ECN_THRESHOLD_BYTES_FIELD_NUMBER: _ClassVar[int]
    CONTROL_NETWORK_FIELD_NUMBER: _ClassVar[int]
    interval_ps: int
    latency_ps: int
    degree: int
    discount: Reconfiguration.Discount
    forwarding: bool
    circuit_rate_bps: int
    circuit_latency_ps: int
    circuit_buffer_bytes: int
    circuit_ecn_threshold_bytes: int
    control_network: bool
    def __init__(self, interval_ps: _Optional[int] = ..., latency_ps: _Optional[int] = ..., degree: _Optional[int] = ..., discount: _Optional[_Union[Reconfiguration.Discount, str]] = ..., forwarding: bool = ..., circuit_rate_bps: _Optional[int] = ..., circuit_latency_ps: _Optional[int] = ..., circuit_buffer_bytes: _Optional[int] = ..., circuit_ecn_threshold_bytes: _Optional[int] = ..., control_network: bool = ...) -> None: ...

class Program(_message.Message):
    __slots__ = ("id", "name", "operation", "group_size", "units", "space", "equal_units", "phase_dimension", "step_begin", "op", "phase", "peer", "offset", "count", "target", "dep_begin", "dep", "route", "offset_turn", "target_turn", "pieces", "repeat", "repeat_step", "phase_level", "protocol")
    class Op(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SEND: _ClassVar[Program.Op]
        RECV: _ClassVar[Program.Op]
        RECV_REDUCE: _ClassVar[Program.Op]
        COPY: _ClassVar[Program.Op]
        REDUCE: _ClassVar[Program.Op]
    SEND: Program.Op
    RECV: Program.Op
    RECV_REDUCE: Program.Op
    COPY: Program.Op
    REDUCE: Program.Op
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    GROUP_SIZE_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    EQUAL_UNITS_FIELD_NUMBER: _ClassVar[int]
    PHASE_DIMENSION_FIELD_NUMBER: _ClassVar[int]
    STEP_BEGIN_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    DEP_BEGIN_FIELD_NUMBER: _ClassVar[int]
    DEP_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_TURN_FIELD_NUMBER: _ClassVar[int]
    TARGET_TURN_FIELD_NUMBER: _ClassVar[int]
    PIECES_FIELD_NUMBER: _ClassVar[int]
    REPEAT_FIELD_NUMBER: _ClassVar[int]
    REPEAT_STEP_FIELD_NUMBER: _ClassVar[int]
    PHASE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    operation: str
    group_size: int
    units: int
    space: int
    equal_units: bool
    phase_dimension: _containers.RepeatedScalarFieldContainer[int]
    step_begin: _containers.RepeatedScalarFieldContainer[int]
    op: _containers.RepeatedScalarFieldContainer[int]
    phase: _containers.RepeatedScalarFieldContainer[int]
    peer: _containers.RepeatedScalarFieldContainer[int]
    offset: _containers.RepeatedScalarFieldContainer[int]
    count: _containers.RepeatedScalarFieldContainer[int]
    target: _containers.RepeatedScalarFieldContainer[int]
    dep_begin: _containers.RepeatedScalarFieldContainer[int]
    dep: _containers.RepeatedScalarFieldContainer[int]
    route: _containers.RepeatedScalarFieldContainer[int]
    offset_turn: _containers.RepeatedScalarFieldContainer[int]
    target_turn: _containers.RepeatedScalarFieldContainer[int]
    pieces: _containers.RepeatedCompositeFieldContainer[Piece]
    repeat: int
    repeat_step: int
    phase_level: _containers.RepeatedScalarFieldContainer[int]
    protocol: ProgramProtocol
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., operation: _Optional[str] = ..., group_size: _Optional[int] = ..., units: _Optional[int] = ..., space: _Optional[int] = ..., equal_units: bool = ..., phase_dimension: _Optional[_Iterable[int]] = ..., step_begin: _Optional[_Iterable[int]] = ..., op: _Optional[_Iterable[int]] = ..., phase: _Optional[_Iterable[int]] = ..., peer: _Optional[_Iterable[int]] = ..., offset: _Optional[_Iterable[int]] = ..., count: _Optional[_Iterable[int]] = ..., target: _Optional[_Iterable[int]] = ..., dep_begin: _Optional[_Iterable[int]] = ..., dep: _Optional[_Iterable[int]] = ..., route: _Optional[_Iterable[int]] = ..., offset_turn: _Optional[_Iterable[int]] = ..., target_turn: _Optional[_Iterable[int]] = ..., pieces: _Optional[_Iterable[_Union[Piece, _Mapping]]] = ..., repeat: _Optional[int] = ..., repeat_step: _Optional[int] = ..., phase_level: _Optional[_Iterable[int]] = ..., protocol: _Optional[_Union[ProgramProtocol, _Mapping]] = ...) -> None: ...

class ProgramProtocol(_message.Message):
    __slots__ = ("local_members", "near_wire_ppm", "far_wire_ppm", "near_delay_ps", "far_delay_ps", "launch_ps", "near_from")
    LOCAL_MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NEAR_WIRE_PPM_FIELD_NUMBER: _ClassVar[int]
    FAR_WIRE_PPM_FIELD_NUMBER: _ClassVar[int]
    NEAR_DELAY_PS_FIELD_NUMBER: _ClassVar[int]
    FAR_DELAY_PS_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_PS_FIELD_NUMBER: _ClassVar[int]
    NEAR_FROM_FIELD_NUMBER: _ClassVar[int]
    local_members: int
    near_wire_ppm: int
    far_wire_ppm: int
    near_delay_ps: int
    far_delay_ps: int
    launch_ps: int
    near_from: int
    def __init__(self, local_members: _Optional[int] = ..., near_wire_ppm: _Optional[int] = ..., far_wire_ppm: _Optional[int] = ..., near_delay_ps: _Optional[int] = ..., far_delay_ps: _Optional[int] = ..., launch_ps: _Optional[int] = ..., near_from: _Optional[int] = ...) -> None: ...

class Piece(_message.Message):
    __slots__ = ("program", "phase", "first", "groups", "group_step", "member_step", "unit_step")
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    GROUP_STEP_FIELD_NUMBER: _ClassVar[int]
    MEMBER_STEP_FIELD_NUMBER: _ClassVar[int]
    UNIT_STEP_FIELD_NUMBER: _ClassVar[int]
    program: int
    phase: int
    first: int
    groups: int
    group_step: int
    member_step: int
    unit_step: int
    def __init__(self, program: _Optional[int] = ..., phase: _Optional[int] = ..., first: _Optional[int] = ..., groups: _Optional[int] = ..., group_step: _Optional[int] = ..., member_step: _Optional[int] = ..., unit_step: _Optional[int] = ...) -> None: ...

class Collective(_message.Message):
    __slots__ = ("id", "name", "program", "ranks", "bytes", "chunks", "priority_class", "iteration", "layer", "groups", "choice", "slows_ppm")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_CLASS_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    SLOWS_PPM_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    program: int
    ranks: _containers.RepeatedScalarFieldContainer[int]
    bytes: int
    chunks: int
    priority_class: int
    iteration: int
    layer: int
    groups: int
    choice: str
    slows_ppm: int
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., program: _Optional[int] = ..., ranks: _Optional[_Iterable[int]] = ..., bytes: _Optional[int] = ..., chunks: _Optional[int] = ..., priority_class: _Optional[int] = ..., iteration: _Optional[int] = ..., layer: _Optional[int] = ..., groups: _Optional[int] = ..., choice: _Optional[str] = ..., slows_ppm: _Optional[int] = ...) -> None: ...

class Trace(_message.Message):
    __slots__ = ("ranks", "layers", "names", "type", "layer", "iteration", "duration_ps", "collective", "peer", "bytes", "tag", "dep_begin", "dep", "route", "jobs", "job", "lane", "lane_slots", "start_dep_begin", "start_dep", "peer_modulus")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        COMPUTE: _ClassVar[Trace.Type]
        COLLECTIVE: _ClassVar[Trace.Type]
        SEND: _ClassVar[Trace.Type]
        RECV: _ClassVar[Trace.Type]
        TIMER: _ClassVar[Trace.Type]
    COMPUTE: Trace.Type
    COLLECTIVE: Trace.Type
    SEND: Trace.Type
    RECV: Trace.Type
    TIMER: Trace.Type
    RANKS_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    DURATION_PS_FIELD_NUMBER: _ClassVar[int]
    COLLECTIVE_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    TAG_FIELD_NUMBER: _ClassVar[int]
    DEP_BEGIN_FIELD_NUMBER: _ClassVar[int]
    DEP_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    LANE_SLOTS_FIELD_NUMBER: _ClassVar[int]
    START_DEP_BEGIN_FIELD_NUMBER: _ClassVar[int]
    START_DEP_FIELD_NUMBER: _ClassVar[int]
    PEER_MODULUS_FIELD_NUMBER: _ClassVar[int]
    ranks: _containers.RepeatedScalarFieldContainer[int]
    layers: _containers.RepeatedScalarFieldContainer[str]
    names: _containers.RepeatedScalarFieldContainer[str]
    type: _containers.RepeatedScalarFieldContainer[int]
    layer: _containers.RepeatedScalarFieldContainer[int]
    iteration: _containers.RepeatedScalarFieldContainer[int]
    duration_ps: _containers.RepeatedScalarFieldContainer[int]
    collective: _containers.RepeatedScalarFieldContainer[int]
    peer: _containers.RepeatedScalarFieldContainer[int]
    bytes: _containers.RepeatedScalarFieldContainer[int]
    tag: _containers.RepeatedScalarFieldContainer[int]
    dep_begin: _containers.RepeatedScalarFieldContainer[int]
    dep: _containers.RepeatedScalarFieldContainer[int]
    route: _containers.RepeatedScalarFieldContainer[int]
    jobs: _containers.RepeatedScalarFieldContainer[str]
    job: _containers.RepeatedScalarFieldContainer[int]
    lane: _containers.RepeatedScalarFieldContainer[int]
    lane_slots: _containers.RepeatedScalarFieldContainer[int]
    start_dep_begin: _containers.RepeatedScalarFieldContainer[int]
    start_dep: _containers.RepeatedScalarFieldContainer[int]
    peer_modulus: int
    def __init__(self, ranks: _Optional[_Iterable[int]] = ..., layers: _Optional[_Iterable[str]] = ..., names: _Optional[_Iterable[str]] = ..., type: _Optional[_Iterable[int]] = ..., layer: _Optional[_Iterable[int]] = ..., iteration: _Optional[_Iterable[int]] = ..., duration_ps: _Optional[_Iterable[int]] = ..., collective: _Optional[_Iterable[int]] = ..., peer: _Optional[_Iterable[int]] = ..., bytes: _Optional[_Iterable[int]] = ..., tag: _Optional[_Iterable[int]] = ..., dep_begin: _Optional[_Iterable[int]] = ..., dep: _Optional[_Iterable[int]] = ..., route: _Optional[_Iterable[int]] = ..., jobs: _Optional[_Iterable[str]] = ..., job: _Optional[_Iterable[int]] = ..., lane: _Optional[_Iterable[int]] = ..., lane_slots: _Optional[_Iterable[int]] = ..., start_dep_begin: _Optional[_Iterable[int]] = ..., start_dep: _Optional[_Iterable[int]] = ..., peer_modulus: _Optional[int] = ...) -> None: ...
