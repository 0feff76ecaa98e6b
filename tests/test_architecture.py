"""What holds the house together: imports go one way, and nothing heavy loads before its time."""

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike

PACKAGE = Path(lookalike.__file__).parent

# Each package may import those before it, and none after it.
ORDER = (
    *("base", "settings", "kernels"),
    *("read", "text", "sketches", "planning", "candidates", "score"),
    *("recipe", "cluster", "write", "results"),
    *("job", "index", "reports", "api", "learn", "spark", "cli", "__main__"),
)
FACES = ("cli", "__main__", "api")
MAX_ENTRIES = 24
TO_COME = {"server"}
"""Faces for which the listing has room left."""
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


def imported(path: Path) -> set[str]:
    """Give the modules of the package that a file imports, wherever it does, types included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.removeprefix("lookalike.") for name in node.names}
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("lookalike."):
            module = str(node.module).removeprefix("lookalike").removeprefix(".")
            inner = {f"{module}.{name.name}".removeprefix(".") for name in node.names}
            found |= (inner & set(MODULES)) or {module}
    return found & set(MODULES)


IMPORTS = {name: imported(path) - {name} for name, path in MODULES.items()}


@pytest.mark.parametrize("module", MODULES)
def test_a_package_imports_only_those_before_it(module: str) -> None:
    package = module.partition(".")[0]
    for other in IMPORTS[module]:
        before = other.partition(".")[0]
        assert ORDER.index(before) <= ORDER.index(package), f"{module} imports {other}"


def test_no_modules_import_each_other() -> None:
    left = {name: set(imports) for name, imports in IMPORTS.items()}
    while free := [name for name, imports in left.items() if not imports & set(left)]:
        for name in free:
            del left[name]
    assert not left


def test_no_face_imports_a_kernel() -> None:
    for module, imports in IMPORTS.items():
        if module.partition(".")[0] in FACES:
            assert not [name for name in imports if name.startswith("kernels")], module


def test_a_job_makes_sketches_and_scores_by_its_recipe_alone() -> None:
    beneath = {"sketches", "planning", "score", "kernels"}
    for module, path in MODULES.items():
        if module.startswith("job."):
            # Where memory is limited, compiled code is loaded before anything else.
            allowed = {"kernels"} if module == "job.job" else set()
            assert imported_at_runtime(path) & beneath <= allowed, module


DOOR = {"base", "settings", "index", "api", "learn", "write", "spark", "cli"}
"""What a command may import, beside the package itself; all else it reaches by the one door."""


def imported_at_runtime(path: Path) -> set[str]:
    """Give the packages that a file imports, wherever it does, but not for types alone."""
    tree = ast.parse(path.read_text())
    for_types = [
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for part in node.body
        for inner in ast.walk(part)
    ]
    names = set()
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            within = {f"{node.module}.{name.name}" for name in node.names}
            inner = {name for name in within if name.removeprefix("lookalike.") in MODULES}
            names |= inner or {str(node.module)}
        elif isinstance(node, ast.ImportFrom):
            names.add("lookalike.relative")
    ours = [name.split(".") for name in names if name.split(".")[0] == "lookalike"]
    return {name[1] for name in ours if len(name) > 1}


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("cli")])
def test_commands_come_in_by_one_door(module: str) -> None:
    assert imported_at_runtime(MODULES[module]) <= DOOR


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import lookalike", set()),
        ("from lookalike import __version__", set()),
        ("def f():\n    from lookalike.results.pairs import Links", {"results"}),
        ("import lookalike.job.job as job", {"job"}),
        ("from lookalike import results", {"results"}),
        ("if TYPE_CHECKING:\n    from lookalike.results import FindResult", set()),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from lookalike.read import x", {"read"}),
        ("from . import screen", {"relative"}),
    ],
)
def test_ways_around_the_door_are_seen(source: str, found: set[str], tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(source)
    assert imported_at_runtime(tmp_path / "made.py") == found


def test_the_listing_is_short_and_has_an_order() -> None:
    entries = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert {path.removesuffix(".py") for path in entries} == {*ORDER, "__init__", "py.typed"}
    assert len(entries | TO_COME) <= MAX_ENTRIES


def test_public_names_are_sorted_and_load() -> None:
    assert lookalike.__all__ == sorted(lookalike.__all__)
    for name in lookalike.__all__:
        assert getattr(lookalike, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lookalike.nothing


def modules_after(code: str) -> set[str]:
    report = "import sys, json; print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def heavy_modules_after(code: str) -> set[str]:
    return modules_after(code) & {"numpy", "numba", "pyarrow", "scipy", "rich"}


def test_importing_the_package_and_its_commands_loads_nothing_heavy() -> None:
    assert heavy_modules_after("import lookalike, lookalike.cli") == set()


WITHOUT_COMPILER = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} is not to be loaded")
sys.meta_path.insert(0, Missing())
"""


@pytest.mark.long
def test_modules_load_without_the_compiler() -> None:
    loading = [
        f"import lookalike.{name}"
        for name in MODULES
        if name != "__main__" and not name.startswith(("kernels.native", "kernels.compiling"))
    ]
    assert "import lookalike.planning.plan" in loading
    assert "numba" not in modules_after("\n".join([WITHOUT_COMPILER, *loading]))


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan"],
        ["plan", "--metric", "cosine", "--json"],
        ["plan", "--signature", "128"],
        ["curve", "and:4", "or:4", "--threshold", "0.7"],
        ["learn"],
        ["--help"],
        ["find", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_what_runs_no_kernel_needs_no_compiler(arguments, told) -> None:
    code = f"sys.argv = {['lookalike', *arguments]}\nfrom lookalike.cli import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER + code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert (done.returncode, done.stdout, done.stderr) == told(*arguments)


def test_plans_in_python_need_no_compiler() -> None:
    code = "import lookalike; lookalike.Cascade; lookalike.plan(0.7).sentence()"
    assert "numba" not in modules_after(WITHOUT_COMPILER + code)


def test_instructions_are_defined_where_kernels_find_them() -> None:
    # One that is missing would be missed when a kernel is compiled, and no sooner.
    for path in (PACKAGE / "kernels").glob("*.py"):
        tree = ast.parse(path.read_text())
        told = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and any(getattr(one, "id", "") == "instruction" for one in node.decorator_list)
        }
        if told:
            native = importlib.import_module(f"lookalike.kernels.native.{path.stem}")
            assert told == set(native.__all__)


def test_comparing_by_kept_code_loads_nothing_that_only_compiling_needs() -> None:
    lookalike.compare("some words", "some other words")
    loaded = modules_after("import lookalike; lookalike.compare('some words', 'some other words')")
    assert "numba" in loaded
    compiling = {"numba.np.linalg", "numba.np.arraymath", "numba.typed.typeddict", "scipy.linalg"}
    others = {
        "numpy.ma",
        "pandas",
        "lookalike.planning.sampling",
        "lookalike.score.cosine",
        "lookalike.read.tables",
    }
    assert not loaded & (compiling | others)


@pytest.mark.long
def test_finding_by_kept_code_loads_nothing_that_only_compiling_needs(sample_documents) -> None:
    code = f"""
import contextlib, io, sys
from lookalike.cli import main
sys.argv = ["lookalike", "find", {str(sample_documents)!r}, "--json", "--quiet"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main()
"""
    modules_after(code)
    loaded = modules_after(code)
    assert "numba" in loaded
    compiling = {"numba.np.linalg", "numba.np.arraymath", "numba.np.arrayobj", "scipy.linalg"}
    assert not loaded & (compiling | {"pandas"})


@pytest.mark.long
def test_finding_works_where_neither_pandas_nor_polars_is_installed() -> None:
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import lookalike
print(len(lookalike.find(["a text", "a text"]).pairs))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_the_package_has_no_asserts() -> None:
    for path in MODULES.values():
        tree = ast.parse(path.read_text())
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Assert)], path


def test_every_kernel_is_compiled_by_the_decorators_of_one_module() -> None:
    for path in (PACKAGE / "kernels").rglob("*.py"):
        source = path.read_text()
        if path.name != "compiling.py":
            assert "njit" not in source, path
            assert "parallel" not in source, path
            assert "fastmath" not in source, path


def test_parts_of_kernels_are_called_by_kernels_alone() -> None:
    # Python that calls one crashes.
    trees = {path: list(ast.walk(ast.parse(path.read_text()))) for path in MODULES.values()}
    made: dict[str, set[str]] = {"inner": set(), "kernel": set()}
    for node in (node for nodes in trees.values() for node in nodes):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                made.get(getattr(decorator, "id", ""), set()).add(node.name)
    assert not any(name.startswith("_") for name in made["kernel"])
    assert not made["inner"] & made["kernel"]
    for path, nodes in trees.items():
        if path.parent.name == "kernels":
            continue
        taken = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
        modules = set()
        for node in taken:
            names = {name.name for name in node.names}
            if node.module == "lookalike.kernels":
                modules |= {name.asname or name.name for name in node.names}
            elif node.module and node.module.startswith("lookalike.kernels."):
                assert not names & made["inner"], (path, names)
        for node in nodes:
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in modules:
                assert node.attr not in made["inner"], (path, node.attr)


@pytest.mark.long
def test_a_tour_of_the_package_compiles_each_kernel_once(tmp_path) -> None:
    code = """
import importlib, json, pkgutil, sys
import lookalike, lookalike.base.memory, lookalike.kernels, numpy as np, pyarrow as pa
from lookalike.kernels.jit import Kernel
from scipy.sparse import csr_array
from pathlib import Path
texts = ["plain ascii text", "PLAIN ascii text!", "\u039f\u0394\u039f\u03a3 complex e\u0301", ""]
def written(name, texts):
    lines = [json.dumps({"id": i, "text": text}) for i, text in enumerate(texts)]
    Path(sys.argv[1], name).write_text("\\n".join(lines))
    return Path(sys.argv[1], name)
file = written("texts.jsonl", texts)
tokens = written("tokens.jsonl", [["a", "b"], ["b", "a", "c"], []])
every = ({}, {"recall": 1}, {"multiset": True}, {"shingle": "words:2"}, {"normalise": "none"},
         {"estimate": True}, {"cascade": "or:2 and:2"}, {"max_df": 0.9}, {"ignore": "plain"})
lookalike.base.memory.MIN_BYTES = 0
for source in (texts, pa.array(texts), pa.array(texts, pa.string()).slice(1), file, tokens):
    for memory in (None, 1000):
        for options in every:
            if source is tokens and {"shingle", "ignore", "normalise"} & set(options):
                continue
            if memory and "recall" in options:
                continue
            result = lookalike.find(source, threshold=0.3, memory=memory, **options)
            result.pairs, result.clusters, result.top(1)
            if "estimate" not in options:
                result = lookalike.dedup(source, threshold=0.3, memory=memory, **options)
                result.removed, result.clusters
for threshold in (0.3, 0.5):
    lookalike.find(file, threshold=threshold, work=Path(sys.argv[1], "work"))
lookalike.dedup(texts, against=file, keep="longest")
for weights in ("counts", "binary", "log", "tf-idf"):
    for options in ({}, {"recall": 1}, {"estimate": True}, {"cascade": "or:2 and:2"}):
        result = lookalike.find(texts, metric="cosine", weights=weights, threshold=0.3, **options)
        result.pairs, result.clusters
    lookalike.find(file, simhash=3, weights=weights).clusters
    lookalike.sketch(file, weights=weights, columns=["simhash", "minhash", "bits"])
vectors = np.random.default_rng(1).standard_normal((40, 5)).astype(np.float32)
np.save(Path(sys.argv[1], "vectors.npy"), vectors)
file = Path(sys.argv[1], "vectors.npy")
ways = ({}, {"estimate": True}, {"cascade": "or:2 and:2"}, {"bands": 1, "rows": 70})
for source in (vectors, vectors.astype(float), csr_array(vectors), file):
    for memory in (None, 1000):
        for options in ways:
            given = {"metric": "cosine", "threshold": 0.3, "memory": memory, **options}
            result = lookalike.find(source, **given)
            result.pairs, result.clusters
            if "estimate" not in options:
                lookalike.dedup(source, **given).removed
    lookalike.find(source, metric="cosine", recall=1).pairs
    lookalike.sketch(source)
lookalike.compare(*texts[:2], metric="cosine")
lookalike.compare(*texts[:2])
import lookalike.index.crowded
lookalike.index.crowded.CROWD_ROWS = 1
for number, (options, documents) in enumerate([
    ({}, texts), ({"no_text": True}, texts), ({"multiset": True}, texts),
    ({"metric": "cosine", "like": texts, "weights": "tf-idf"}, texts),
    ({"metric": "cosine", "dimension": 5}, vectors),
    ({"metric": "cosine", "dimension": 5, "no_text": True}, vectors),
]):
    place = Path(sys.argv[1], f"{number}.lookalike")
    with lookalike.Index.create(place, threshold=0.3, **options) as index:
        index.add_all(documents)
        index.add("one", documents[0])
        index.admit("two", documents[1])
        index.add_all(documents, new_only=True, id=None)
        index.query(documents[1])
        index.query_all(documents)
        other = Path(sys.argv[1], f"{number}-other.lookalike")
        with lookalike.Index.create(other, like=place) as second:
            second.merge(index)
            second.compact()
compiled = 0
for module in pkgutil.iter_modules(lookalike.kernels.__path__):
    for name, kernel in vars(importlib.import_module("lookalike.kernels." + module.name)).items():
        if isinstance(kernel, Kernel) and not name.startswith("_"):
            signatures = kernel.dispatcher.signatures
            compiled += len(signatures) == 1
            if len(signatures) > 1:
                print(name, signatures)
print(compiled > 20)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
