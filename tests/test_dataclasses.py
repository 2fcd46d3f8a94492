"""Objects of the library are not changed afterwards, and those that hold arrays are compared by who they are."""

import dataclasses

from test_settings import modules

FREE = {"Report"}  # filled while a table is replayed


def kinds():
    for name, module in modules():
        for kind in vars(module).values():
            if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__ == name:
                yield kind


def has_arrays(field):
    return "NDArray" in str(field.type) and "Callable" not in str(field.type)


def test_objects_are_frozen():
    assert {kind.__name__ for kind in kinds() if not kind.__dataclass_params__.frozen} == FREE


def test_objects_with_arrays_are_equal_to_themselves_alone():
    holding = [kind for kind in kinds() if any(has_arrays(field) for field in dataclasses.fields(kind))]
    assert len(holding) > 5
    assert [kind.__name__ for kind in holding if kind.__dataclass_params__.eq] == []
