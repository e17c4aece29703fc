"""The ordered layers of the house, and the imports that are allowed between them.

Imports are absolute, at the top of the file, and point to the same layer or a lower one. `import
jit` is never right: it would make a second copy of `minitorch2.jit`. Names are looked up upwards in
the few files of LATE_BINDING only, and the reason for each stands beside it.
"""

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.house import ROOMS, SourceFile, source_files

# Lowest first. A module belongs to the entry with the longest matching name, files inside one entry
# may import each other. The balcony stands in room 1, where users look for it, and ranks above jit
# and kernels; `minitorch2` itself (its `__init__`) gathers room 1's public names.
LAYERS = (
    "minitorch2.errors",
    "minitorch2.custom_backends",
    "minitorch2.config",
    "minitorch2.garbage",
    "minitorch2.forks",
    "minitorch2.compile_settings",
    "minitorch2.compile_config",
    "minitorch2.artifacts",
    "minitorch2.phases",
    "minitorch2.public",
    "minitorch2.trees",
    "minitorch2.__future__",
    "minitorch2.dtypes",
    "minitorch2.layouts",
    "minitorch2.formats",
    "minitorch2.devices",
    "minitorch2.storages",
    "minitorch2.dispatch",
    "minitorch2.settings",
    "minitorch2.tensors",
    "minitorch2.types",
    "minitorch2.return_types",
    "minitorch2.size_marks",
    "minitorch2.swapping",
    "minitorch2.printing",
    "minitorch2.backends.primitives",
    "minitorch2.random",
    "minitorch2.backends.blas",
    "minitorch2.backends.heap",
    "minitorch2.backends.row_kernels",
    "minitorch2.backends.update_kernels",
    "minitorch2.ops",
    "minitorch2.backends",
    "minitorch2.batching",
    "minitorch2.autograd",
    "minitorch2.ops.inplace",
    "minitorch2.ops.in_place_views",
    "minitorch2.ops.differentiation",
    "minitorch2.ops.rows",
    "minitorch2.ops.namespaces",
    "minitorch2.ops.methods",
    "minitorch2.ops.fills",
    "minitorch2.untyped_storage",
    "minitorch2.ops.memory_methods",
    "minitorch2.ops.outputs",
    "minitorch2.ops.overloads",
    "minitorch2.ops.view_copies",
    "minitorch2.ops.segments",
    "minitorch2.ops.short_ways",
    "minitorch2.ops.bind",
    "minitorch2.control_flow",
    "minitorch2._higher_order_ops",
    "minitorch2.nested_values",
    "minitorch2.creation",
    "minitorch2.typed_tensors",
    "minitorch2.ranges",
    "minitorch2.differences",
    "minitorch2.splits",
    "minitorch2.interchange",
    "minitorch2.functions",
    "minitorch2.draws",
    "minitorch2.library",
    "minitorch2.linalg",
    "minitorch2.factor_solutions",
    "minitorch2.special",
    "minitorch2.masked",
    "minitorch2.fft",
    "minitorch2.array_functions",
    "minitorch2.version",
    "minitorch2.__config__",
    "minitorch2.xpu",
    "minitorch2.mps",
    "minitorch2.cuda",
    "minitorch2.accelerator",
    "minitorch2.distributed",
    "minitorch2.futures",
    "minitorch2.testing",
    "minitorch2.profiler",
    "minitorch2.autograd.profiler",
    "minitorch2.func",
    "minitorch2.autograd.functional",
    "minitorch2.foreach",
    "minitorch2.overrides",
    "minitorch2._C",
    "minitorch2.subclasses",
    "minitorch2.sparse",
    "minitorch2.nn",
    "minitorch2.native_norms",
    "minitorch2.spectra",
    "minitorch2.signal",
    "minitorch2.distributions",
    "minitorch2.optim",
    "minitorch2.amp",
    "minitorch2.utils",
    "minitorch2.absent",
    "minitorch2.torch_files",
    "minitorch2.torch_distribution",
    "minitorch2._logging",
    "minitorch2.onnx",
    "minitorch2.quantization",
    "minitorch2.serialization",
    "minitorch2.hub",
    "minitorch2.multiprocessing",
    "minitorch2.utils.model_zoo",
    "minitorch2.fx",
    "minitorch2.compat",
    "minitorch2",
    "minitorch2.jit.syntax",
    "minitorch2.jit.shapes",
    "minitorch2.jit.ir",
    "minitorch2.jit.class_series",
    "minitorch2.jit.capture.source",
    "minitorch2.jit.changes",
    "minitorch2.jit.guards",
    "minitorch2.jit.capture",
    "minitorch2.jit.passes",
    "minitorch2.jit.autodiff",
    "minitorch2.jit",
    "minitorch2.kernels.functions",
    "minitorch2.kernels.index",
    "minitorch2.kernels.positions",
    "minitorch2.kernels.loop_ir",
    "minitorch2.kernels.printer",
    "minitorch2.kernels.parser",
    "minitorch2.kernels.verify",
    "minitorch2.kernels.vecmath",
    "minitorch2.kernels.runtime",
    "minitorch2.kernels.interpreter",
    "minitorch2.kernels.simulator",
    "minitorch2.kernels.lower",
    "minitorch2.kernels.schedule",
    "minitorch2.kernels.codegen",
    "minitorch2.kernels.eager_primitives",
    "minitorch2.kernels.eager_pooling",
    "minitorch2.kernels.eager_scans",
    "minitorch2.kernels.eager_rows",
    "minitorch2.kernels",
    "minitorch2.compiling",
    "minitorch2.compiler",
    "minitorch2._dynamo",
    "minitorch2.cli",
)
BALCONY = (
    "minitorch2.compiling", "minitorch2.compiler", "minitorch2._dynamo",
)  # fmt: skip

# The only files that may import inside functions, by name or upwards, each with its reason.
LATE_BINDING = {
    "minitorch2/backends/blas.py": "products and convolutions on the threads of the kernels' room",
    "minitorch2/__init__.py": "lazy names: compile, compiler, jit and what else the balcony offers",
    "minitorch2/backends/row_kernels.py": "kernels of single rows, for large arrays: room 3's",
    "minitorch2/backends/update_kernels.py": "kernels of optimizers' updates: room 3's",
    "minitorch2/backends/composite_programs.py": "composite rows as programs: the compiler's",
    "minitorch2/backends/primitives.py": "registry of CPU primitives: the loader of room 3's",
    "minitorch2/compiling.py": "registry of backends: a program found on disk needs no stages",
    "minitorch2/utils/tensorboard.py": "tensorboard, an extra, is imported by who writes for it",
    "minitorch2/serialization/whole.py": "classes are found by the names that a file gives",
    "minitorch2/utils/__init__.py": "torch.utils.data brings multiprocessing along: few need it",
    "minitorch2/absent.py": "a folder of a part that is left out is imported when it is asked for",
    "minitorch2/forks.py": "waits for a module that another thread is importing, by its name",
    "minitorch2/compat.py": "`import torch.nn` in a script loads the module of that name here",
    "jit/autodiff/records.py": "a loaded program's graphs stay text: most need no parser",
    "kernels/eager_composites.py": "a program found on disk needs no stages",
    "kernels/runtime/compile.py": "a kernel found in the cache is loaded without a compiler",
    "kernels/runtime/build.py": "Numba, the other frontend, is imported only when it is asked for",
    "kernels/runtime/cuda.py": "numba.cuda is imported at the first use of a GPU",
    "cli/doctor.py": "an installation that cannot be imported is what it reports",
}

# Third-party packages and the rooms that may use them; `import minitorch2` stays quick and light.
LIBRARIES = {
    "numpy": ("minitorch2", "jit", "kernels", "cli"),
    "ml_dtypes": ("minitorch2", "kernels"),
    "numba": ("kernels",),
    "llvmlite": ("kernels",),
    "click": ("cli",),
    "rich": ("cli",),
}
FILES = source_files()
MODULES = {file.module for file in FILES}
Import = ast.Import | ast.ImportFrom


def rank(module: str) -> int:
    """The layer a module belongs to: the longest entry that is the module or a parent of it."""
    entries = [name for name in LAYERS if module == name or module.startswith(name + ".")]
    return LAYERS.index(max(entries, key=len))


def targets(node: Import) -> Iterator[str]:
    """The modules an import statement reaches: `from minitorch2 import ops` reaches its `ops`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    inner = [f"{base}.{alias.name}" for alias in node.names]
    yield from dict.fromkeys(name if name in MODULES else base for name in inner)


def imports(tree: ast.Module) -> Iterator[Import]:
    """Every import statement of a file, wherever it stands."""
    return (node for node in ast.walk(tree) if isinstance(node, Import))


def at_top(tree: ast.Module) -> set[Import]:
    """The imports at a file's top level, those under `if TYPE_CHECKING:` among them."""
    blocks = [tree.body]
    blocks += [
        node.body
        for node in tree.body
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    ]
    return {node for block in blocks for node in block if isinstance(node, Import)}


def runtime_imports(tree: ast.Module) -> Iterator[Import]:
    """The imports that are carried out: all but those under `if TYPE_CHECKING:`."""
    typing_only = at_top(tree) - set(tree.body)
    return (node for node in imports(tree) if node not in typing_only)


def places(nodes: Iterable[Import]) -> str:
    """The statements with their lines, for a message."""
    return "; ".join(f"line {node.lineno}: {ast.unparse(node)}" for node in nodes)


def hidden(file: SourceFile) -> list[Import]:
    """The imports inside functions and classes."""
    return [node for node in imports(file.tree()) if node not in at_top(file.tree())]


def by_name(file: SourceFile) -> bool:
    """Whether a file imports modules by their names."""
    names = {node.attr for node in ast.walk(file.tree()) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(file.tree()) if isinstance(node, ast.Name)}
    return not names.isdisjoint({"import_module", "__import__"})


def upward(file: SourceFile) -> list[Import]:
    """The imports of a higher layer."""
    return [
        node
        for node in runtime_imports(file.tree())
        for target in targets(node)
        if target.startswith("minitorch2") and rank(target) > rank(file.module)
    ]


def test_every_module_has_its_layer():
    lone = [module for module in sorted(MODULES) if rank(module) == LAYERS.index("minitorch2")]
    assert lone == ["minitorch2"], f"give these a place in LAYERS: {lone}"
    empty = [name for name in LAYERS if not any(LAYERS[rank(module)] == name for module in MODULES)]
    assert not empty, f"LAYERS names what is not there: {empty}"


def test_layers_follow_the_rooms():
    order = list(ROOMS)
    files = {file.module: file for file in FILES}
    inside = [name for name in LAYERS if name not in BALCONY]
    ranks = [order.index(files[name].room) for name in inside if name in files]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_imports(file: SourceFile):
    tree = file.tree()
    relative = [n for n in imports(tree) if isinstance(n, ast.ImportFrom) and n.level]
    assert not relative, f"imports are absolute: {places(relative)}"
    copies = [
        n
        for n in imports(tree)
        if any(t.split(".")[0] in ("jit", "kernels", "cli", "tests") for t in targets(n))
    ]
    assert not copies, f"a room is imported as minitorch2.<room>: {places(copies)}"
    if file.path in LATE_BINDING:
        return
    assert not by_name(file), "a module is imported by name"
    assert not hidden(file), f"imports stand at the top of the file: {places(hidden(file))}"
    assert not upward(file), f"{file.module} may not import upwards: {places(upward(file))}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_libraries(file: SourceFile):
    allowed = {name for name, rooms in LIBRARIES.items() if file.room in rooms}
    foreign = [
        node
        for node in imports(file.tree())
        for target in targets(node)
        if target.split(".")[0] in LIBRARIES.keys() - allowed or target.split(".")[0] == "torch"
    ]
    assert not foreign, f"not for {file.room}/: {places(foreign)}"


def test_late_binding_names_only_files_that_bind_late():
    files = {file.path: file for file in FILES}
    for path in LATE_BINDING:
        file = files[path]
        needed = by_name(file) or hidden(file) or upward(file)
        assert needed, f"{path} needs no exception any more"
