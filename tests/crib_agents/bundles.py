"""A bundle made by hand, without torch: a player that lays the card with the most points."""

from __future__ import annotations

from pathlib import Path

import msgspec
import onnx
from onnx import TensorProto, helper

from crib_agents.bundle import MODEL, SPEC, describe
from crib_env.observation import layout, observation_size
from crib_env.rules import SIX_CARD

MASKED = -1e8
OPSET = 18


def greedy_model() -> bytes:
    """Logits are the observation's ``points``, the value is their sum."""
    size = observation_size(SIX_CARD)
    piece = next(piece for piece in layout(SIX_CARD) if piece.name == "points")
    numbers = {"from": [piece.offset], "to": [piece.offset + piece.length], "axis": [1]}
    constants = [
        helper.make_tensor(name, TensorProto.INT64, [1], value) for name, value in numbers.items()
    ]
    constants.append(helper.make_tensor("masked", TensorProto.FLOAT, [], [MASKED]))
    nodes = [
        helper.make_node("Slice", ["observation", "from", "to", "axis"], ["points"]),
        helper.make_node("Cast", ["action_mask"], ["legal"], to=TensorProto.BOOL),
        helper.make_node("Where", ["legal", "points", "masked"], ["logits"]),
        helper.make_node("ReduceSum", ["points", "axis"], ["value"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "greedy",
        [
            helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["batch", size]),
            helper.make_tensor_value_info("action_mask", TensorProto.INT8, ["batch", 52]),
        ],
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 52]),
            helper.make_tensor_value_info("value", TensorProto.FLOAT, ["batch"]),
        ],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def write_bundle(folder: Path) -> Path:
    """Write the greedy player's bundle, without vectors."""
    folder.mkdir()
    model = greedy_model()
    spec = describe("greedy", SIX_CARD, MASKED, "sum of points", OPSET, model)
    (folder / MODEL).write_bytes(model)
    (folder / SPEC).write_bytes(msgspec.json.encode(spec))
    return folder
