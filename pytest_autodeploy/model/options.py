"""The options of builtin operators, as far as work, order and variables depend on them."""

from __future__ import annotations

from pytest_autodeploy.model.flatbuffer import Damaged, Table
from pytest_autodeploy.model.graph import Option

_WINDOW = "padding:b stride_w:i stride_h:i"
_DILATION = "dilation_w_factor:i=1 dilation_h_factor:i=1"
_POOL = f"{_WINDOW} filter_width:i filter_height:i fused_activation_function:b"

_FIELDS = {
    name: [field.split(":") for field in fields.split()]
    for name, fields in {
        "AVERAGE_POOL_2D": _POOL,
        "BATCH_MATMUL": "adj_x:? adj_y:?",
        "CALL": "subgraph:I",
        "CALL_ONCE": "init_subgraph_index:i",
        "CONV_2D": f"{_WINDOW} fused_activation_function:b {_DILATION}",
        "CONV_3D": "padding:b stride_d:i stride_w:i stride_h:i fused_activation_function:b"
        " dilation_d_factor:i=1 dilation_w_factor:i=1 dilation_h_factor:i=1",
        "DEPTHWISE_CONV_2D": f"{_WINDOW} depth_multiplier:i fused_activation_function:b"
        f" {_DILATION}",
        "FULLY_CONNECTED": "fused_activation_function:b weights_format:b keep_num_dims:?",
        "IF": "then_subgraph_index:i else_subgraph_index:i",
        "L2_POOL_2D": _POOL,
        "LSTM": "fused_activation_function:b cell_clip:f proj_clip:f kernel_type:b",
        "MAX_POOL_2D": _POOL,
        "SVDF": "rank:i fused_activation_function:b",
        "TRANSPOSE_CONV": f"{_WINDOW} fused_activation_function:b",
        "UNIDIRECTIONAL_SEQUENCE_LSTM": "fused_activation_function:b cell_clip:f proj_clip:f"
        " time_major:?",
        "VAR_HANDLE": "container:s shared_name:s",
        "WHILE": "cond_subgraph_index:i body_subgraph_index:i",
    }.items()
}

_NAMES = {
    "padding": ("SAME", "VALID"),
    "fused_activation_function": ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"),
}


def read_options(operator: Table, name: str) -> dict[str, Option]:
    """The options of a builtin operator, absent ones with the defaults of TFLite's schema."""
    fields = _FIELDS.get(name, [])
    table = operator.table("options", [field for field, _ in fields]) if fields else None
    return {field: _read(table, field, form) for field, form in fields}


def _read(table: Table | None, field: str, form: str) -> Option:
    if form == "s":
        return table.text(field) if table else ""
    form, _, default = form.partition("=")
    value: Option = table.number(field, form, int(default or 0)) if table else int(default or 0)
    if form == "?":
        return bool(value)
    names = _NAMES.get(field)
    if names is None:
        return value
    if table and not 0 <= int(value) < len(names):
        raise Damaged(f"{table.where}: {field} is {value}")
    return names[int(value)]
