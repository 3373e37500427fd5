"""Check the package layout: names, imports, sizes, start-up, plain words, and the content of the repository."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import moss_memory
from contract.doors import FULL
from moss_memory.errors import STATUS
from moss_memory.registry import catalog
from moss_memory.storage.queries import load_queries
from support.of_every import of_every

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "moss_memory"
MODULES = sorted(PACKAGE.rglob("*.py"))
PACKAGE_OF = {
    "capsule": "capsule",
    "artifact": "artifact",
    "tasks": "task",
    "moss": "everything",
    "record": "record",
    "submit": "record",
    "retrieve": "record",
    "list": "record",
}
"""The package below `tools/` of each prefix; other prefixes belong to reasoning."""
FAMILY_IMPORTS = {
    "task": {"reasoning"},  # every change of a task is written to its trace and graph
    "reasoning": {"task/model"},  # a target is a plan or a task
    "task/status_tools": {"capsule"},  # a hand-over can be stored as a capsule
    "task/handoff_erase": {"capsule"},  # erasing a task erases its hand-over capsules
    "reasoning/cards/pack_tools": {"capsule", "artifact"},  # a context pack contains rows of all families
    "reasoning/cards/pack_rows": {"capsule", "artifact"},  # it formats these rows
}
"""The imports between families that are allowed: of a package, or of one module."""
CLI_PACKAGES = ("args", "render", "graph_image", "commands", "main")
"""The packages of the command line: each imports only from those before it."""
SLOW_IMPORTS = {
    "typing", "dataclasses", "inspect", "pathlib", "logging", "asyncio", "msgspec", "subprocess", "mcp",
    "psycopg", "numpy", "onnxruntime", "pydantic", "anyio", "difflib", "unicodedata", "argparse", "importlib.metadata",
}  # fmt: skip


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULE_NAMES = {name_of(path) for path in MODULES}


@functools.cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_for_the_type_checker(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def runtime_nodes(node: ast.AST) -> list[ast.AST]:
    """Return every node below, without the branches that only a type checker reads."""
    found: list[ast.AST] = []
    below = list(ast.iter_child_nodes(node))
    while below:
        child = below.pop()
        if is_for_the_type_checker(child):
            assert isinstance(child, ast.If)
            below += child.orelse
        else:
            found.append(child)
            below += ast.iter_child_nodes(child)
    return found


@functools.cache
def imported(path: Path) -> set[str]:
    """Return the modules of this package that a module imports at run time, at its top or inside functions."""
    package = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    known = MODULE_NAMES
    found = set()
    for node in runtime_nodes(parse(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{source}.{alias.name}" if f"{source}.{alias.name}" in known else source for alias in node.names}
    return found & known


INTERFACES = ("cli", "mcp", "http", "web", "connect", "demo", "adapters")
LAYERS = {
    "errors": 0, "version": 0, "log": 0, "code_state": 0, "secrets": 1, "registry": 1, "config": 1, "search": 2,
    "storage": 3, "rows": 4, "tools": 5, "tools.everything": 6, "transfer": 6, "maintenance": 7, "store": 7,
    "async_store": 7,
    **dict.fromkeys(INTERFACES, 8),
    # Modules that import nothing but errors:
    "rows.names": 0, "rows.paging": 0, "rows.times": 0, "registry.invisible": 0,
    "storage.postgres.url": 0, "storage.files": 1,
}  # fmt: skip
"""The layer of each package, or of one module of it: a module imports only from its own layer and those below."""


def layer(module: str) -> int:
    """Return the layer of a module: that of its longest listed prefix."""
    parts = module.split(".")[1:]
    names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((LAYERS[name] for name in names if name in LAYERS), 9)


def family(module: str) -> str:
    """Return the path of a module below `tools/`, or nothing."""
    parts = module.split(".")[1:]
    return "/".join(parts[1:]) if parts[:1] == ["tools"] else ""


@of_every(MODULES)
def test_imports_go_one_way_down(path: Path) -> None:
    height, here = layer(name_of(path)), family(name_of(path))
    for target in imported(path):
        assert layer(target) <= height, f"{name_of(path)} imports {target}, which is in a higher layer"
        there = family(target)
        if height == layer(target) == LAYERS["tools"] and here.split("/")[0] != there.split("/")[0]:
            assert may_import(here, there), f"{name_of(path)} imports {target} from another family"


@of_every(sorted((PACKAGE / "cli").rglob("*.py")))
def test_packages_of_the_command_line_import_one_way(path: Path) -> None:
    below = "moss_memory.cli."
    packages = [name.removeprefix(below).split(".")[0] for name in (name_of(path), *imported(path)) if below in name]
    for package in packages[1:]:
        assert CLI_PACKAGES.index(package) <= CLI_PACKAGES.index(packages[0]), f"{name_of(path)} imports {package}"


def test_no_imports_are_circular() -> None:
    found = {name_of(path): imported(path) for path in MODULES}
    while ends := [name for name, targets in found.items() if not targets & found.keys()]:
        for name in ends:
            del found[name]
    assert not found, f"circular imports, at the top or inside functions: {sorted(found)}"


ENGINES = re.compile(r"json_each|pragma|sqlite(?!:)|fts5|apsw", re.IGNORECASE)
"""Words of one engine; `sqlite:` begins a store URL."""
CHOOSING = ("open_engine", "read_external")
"""The functions that choose an engine by the URL. `search.tokens` imports SQLite's tokenizer for both engines."""


@of_every(MODULES)
def test_only_engine_packages_name_their_database(path: Path) -> None:
    if ".storage.sqlite" in name_of(path) or name_of(path).endswith(".search.tokens"):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))  # of its own: it is cut below
    chosen = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in CHOOSING]
    code = _without_docstrings(tree, chosen)
    assert [line for line in code.splitlines() if ENGINES.search(line)] == [], f"{name_of(path)} names one engine"


OPENERS = ("storage", "support", "search/capsules.py")
"""Tests of SQLite alone: its files, its index, failing disks."""


def test_only_tests_of_the_engine_open_the_database() -> None:
    tests = Path(__file__).parent
    opening = [
        path.relative_to(tests).as_posix()
        for path in sorted(tests.rglob("*.py"))
        if ".cache" not in path.parts  # the programs of others, which `make clients` installs there
        and re.search(r"^\s*import apsw\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert [path for path in opening if not path.startswith(OPENERS)] == []


def _without_docstrings(tree: ast.Module, without: list[ast.FunctionDef]) -> str:
    """Return the code of a module without comments, docstrings and some functions."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [
                part
                for part in body
                if part not in without and not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


@of_every(sorted(PACKAGE.rglob("*.sql")))
def test_shared_statements_run_on_every_engine(path: Path) -> None:
    if "storage" not in path.parts:
        text = path.read_text(encoding="utf-8")
        odd = re.compile(
            r"json_each|pragma|iif\(|insert or|\browid\b|\bmax\([^()]*,|cross join [^()]* on ", re.IGNORECASE
        )
        assert odd.findall(text) == []


FEW = {
    "reasoning.pins": "the pins of one document",
    "reasoning.list_tags": "answered whole",
    "reasoning.documents_of": "the documents of one branch",
    "reasoning.chain": "a branch and its bases",
    "reasoning.card_entries": "the notes of one card",
    "reasoning.copies_of": "the copies of one entry",
    "reasoning.family_of_branch": "the branches derived from one branch",
    "model.evidence_by_step": "of one task",
    "model.evidence": "of one task",
    "model.dependents": "of one task",
    "model.dependencies": "of one task",
    "model.tasks_of_plan": "of one plan",
    "model.step_counts": "of one plan",
    "model.subtree": "of one step",
    "model.claims": "of one task",
    "model.claims_of_agent": "of one agent",
}
"""Statements without a limit, each with the reason why its result is small."""


@of_every(MODULES)
def test_queries_without_a_limit_are_bounded_or_streamed(path: Path) -> None:
    if ".storage." in name_of(path) or layer(name_of(path)) == LAYERS["cli"]:
        return
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "rows":
            if not node.args or ast.unparse(node.func.value).split(".")[-1] not in ("tx", "_tx"):
                continue
            statement = ast.unparse(node.args[0])
            named = re.fullmatch(r"sql\['(\w+)'\]", statement)
            statements = [one for one in _statements().items() if named and one[0].endswith(f".{named[1]}")]
            bounded = all(key in FEW or " limit " in f"{sql} " for key, sql in statements) if named else True
            if not named and isinstance(node.args[0], (ast.Constant, ast.JoinedStr)):
                bounded = any(part in statement for part in (" limit ", "sql_in", "{chosen}", "= :row_id"))
            assert bounded, f"{name_of(path)}, line {node.lineno}: {statement} has no limit; stream it"


def test_every_listed_statement_exists() -> None:
    assert FEW.keys() <= _statements().keys()


@functools.cache
def _statements() -> dict[str, str]:
    return {sql.key: sql for file in PACKAGE.rglob("queries.sql") for sql in load_queries(str(file)).values()}


def may_import(here: str, there: str) -> bool:
    """Tell if a module of one family may import a module of another one."""
    allowed = [
        other for source, others in FAMILY_IMPORTS.items() if f"{here}/".startswith(f"{source}/") for other in others
    ]
    return any(f"{there}/".startswith(f"{other}/") for other in allowed)


@of_every(catalog.operations())
def test_a_tool_is_a_function_of_its_name_in_the_package_of_its_prefix(tool: Any) -> None:
    module = sys.modules[tool.body.__module__]
    assert tool.name == tool.body.__name__
    assert getattr(module, tool.name) is tool
    prefix = tool.name.partition("_")[0]
    assert module.__name__.split(".")[2] == PACKAGE_OF.get(tool.name, PACKAGE_OF.get(prefix, "reasoning"))
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert source.count(f"\ndef {tool.name}(") == 1


@of_every(MODULES)
def test_modules_and_functions_fit_their_size(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500
    for node in ast.walk(parse(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 70, f"{node.name} is too long"


@of_every(MODULES)
def test_modules_have_a_docstring_and_a_name_of_their_own(path: Path) -> None:
    assert not parse(path).body or ast.get_docstring(parse(path)), "the module has no docstring"
    assert not {"utils", "helpers", "manager", "common", "misc"} & set(name_of(path).split("."))


def listed_in_contributing() -> set[str]:
    """Return the paths below src/moss_memory that CONTRIBUTING lists."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = text.partition("src/moss_memory/\n")[2].partition("\ntests/")[0].splitlines()
    found, above = set(), {0: ""}
    for line in filter(str.strip, lines):
        depth = len(line) - len(line.lstrip())
        found.add(above[depth - 2] + line.split()[0])
        above[depth] = above[depth - 2] + line.split()[0]
    return found


def test_contributing_lists_every_package_and_root_module() -> None:
    modules = {path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")}
    packages = {f"{path.parent.relative_to(PACKAGE)}/" for path in PACKAGE.rglob("*/__init__.py")}
    assert listed_in_contributing() == modules | packages


def test_using_a_store_imports_nothing_slow(tmp_path: Path) -> None:
    script = (
        "import sys; before = set(sys.modules); import moss_memory\n"
        f"store = moss_memory.open_store({str(tmp_path / 'home')!r})\n"
        f"store.call('capsule_store', {{'name': 'a', 'capsule_text': {FULL!r}}})\n"
        "store.call('capsule_fetch', {'name': 'a'}); store.call('capsule_list', {}); store.close()\n"
        "import json; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    result = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    loaded = set(json.loads(result.stdout))
    assert "moss_memory.tools.capsule.capsule_tools" in loaded
    assert not loaded & SLOW_IMPORTS
    assert not [name for name in loaded if name.split(".")[0] == "moss_memory" and layer(name) == LAYERS["cli"]]


def loaded_at_once(node: ast.AST) -> list[ast.AST]:
    """Return the nodes that run at import: none inside functions, none for the type checker."""
    found = []
    for child in ast.iter_child_nodes(node):
        if is_for_the_type_checker(child):
            assert isinstance(child, ast.If)
            found += [part for kept in child.orelse for part in (kept, *loaded_at_once(kept))]
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found += [child, *loaded_at_once(child)]
    return found


@of_every([path for path in MODULES if layer(name_of(path)) < LAYERS["cli"]])
def test_no_module_below_the_interfaces_has_a_slow_import(path: Path) -> None:
    for node in loaded_at_once(parse(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) and not node.level else []
        if ".storage.postgres" in name_of(path):
            # The driver is imported if a URL names a server, numpy by the first search.
            names = [name for name in names if name not in ("psycopg", "numpy")]
        assert not set(names) & (SLOW_IMPORTS - {"unicodedata"}), f"{name_of(path)} imports {names}"


def test_a_store_on_a_server_is_opened_and_written_without_numpy(tmp_path: Path) -> None:
    modules = [f"moss_memory.storage.postgres.{name}" for name in ("engine", "transaction", "retry", "indexer")]
    script = f"import sys, {', '.join(modules)}; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-I", "-c", script], check=True, cwd=tmp_path)


def test_importing_the_package_imports_almost_nothing(tmp_path: Path) -> None:
    script = "import sys; before = set(sys.modules); import moss_memory; print(len(set(sys.modules) - before))"
    result = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert int(result.stdout) <= 30


def literals(path: Path) -> dict[str, list[Any]]:
    """Return the `Literal` types of a module by name."""
    found = {}
    hidden = [part for node in parse(path).body if is_for_the_type_checker(node) for part in node.body]  # type: ignore[attr-defined]
    for statement in [*parse(path).body, *hidden]:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            for part in ast.walk(statement.value):
                if isinstance(part, ast.Subscript) and getattr(part.value, "id", "") == "Literal":
                    choices = ast.literal_eval(part.slice)
                    found[statement.targets[0].id] = list(choices) if isinstance(choices, tuple) else [choices]
    return found


def test_literal_types_equal_the_choices_that_the_decoder_checks() -> None:
    compared = 0
    for path in MODULES:
        for name, allowed in literals(path).items():
            schema = getattr(importlib.import_module(name_of(path)), name, None)
            if isinstance(schema, dict):
                assert (schema.get("enum") or schema["items"]["enum"]) == allowed, f"{name_of(path)}.{name}"
                compared += 1
    assert compared >= 3


def test_every_choice_of_a_tool_is_known_to_the_type_checker() -> None:
    known = [allowed for path in MODULES for allowed in literals(path).values()]

    def enums(value: Any) -> list[Any]:
        if isinstance(value, dict):
            inner = [found for part in value.values() for found in enums(part)]
            return [value["enum"], *inner] if "enum" in value else inner
        return [found for part in value for found in enums(part)] if isinstance(value, list) else []

    for tool in catalog.operations():
        for choices in enums(tool.schema()):
            assert choices in known, f"{tool.name}: {choices}"


def test_the_version_is_that_of_the_distribution() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        assert tomllib.load(file)["project"]["version"] == moss_memory.__version__


def test_the_dependencies_at_run_time_are_these_few() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        needed = tomllib.load(file)["project"]["dependencies"]
    assert [re.split(r"[^a-z-]", name)[0] for name in needed] == ["apsw", "jsonschema"]


def repository_files() -> list[Path]:
    skipped = {".git", ".venv", "node_modules", "dist", ".cache", "__pycache__"}
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in skipped and not name.endswith(("_cache", ".egg-info"))]
        found += [Path(folder, name) for name in names]
    return [path for path in found if ".hypothesis" not in path.parts]


def test_no_file_contains_a_path_of_this_machine() -> None:
    home = os.path.expanduser("~")
    places = {str(place) for place in (ROOT, ROOT.parent / "shared", sys.prefix) if len(Path(place).parts) > 2}
    telling = {place.encode() for place in (*places, *([home + "/"] if home != "/" else []))}
    for path in repository_files():
        content = path.read_bytes()
        named = any(place in content for place in telling)
        assert not named, f"{path.relative_to(ROOT)} names a machine path"


DOCUMENTED = {
    "AMBIGUOUS_ADDRESSING": 400, "INVALID_REQUEST": 400, "NOT_FOUND": 404, "NAME_ALREADY_EXISTS": 409,
    "CAPSULE_TOO_LARGE": 413, "FILE_TOO_LARGE": 413, "COMPOSE_TOO_LARGE": 413, "CAPSULE_TOO_THIN": 422,
    "CANCELLED": 499, "INTERNAL": 500, "CONFLICT": 409, "STORAGE_BUSY": 503, "STORAGE_FULL": 507,
    "STORAGE_CORRUPT": 500, "STORAGE_READONLY": 500, "NOT_A_STORE": 500,
}  # fmt: skip


def test_every_code_has_the_status_of_the_documents() -> None:
    assert {code: STATUS.get(code) for code in DOCUMENTED} == DOCUMENTED


def test_every_code_is_explained_to_users() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [code for code in STATUS if f"`{code}`" not in pages] == []


def test_every_code_that_is_raised_is_in_the_list() -> None:
    for path in MODULES:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "MossError" and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    assert first.value in STATUS, f"{name_of(path)} raises {first.value!r}"


def test_no_test_sleeps_measures_time_or_is_skipped() -> None:
    skipped = r"pytest\.mark\.(skip|skipif|xfail)|pytest\.(skip|xfail)\("
    clocks = r"\bsleep\(|\b(monotonic|perf_counter|process_time|thread_time)(_ns)?\b|\btime\.time(_ns)?\(\)|\btimeit\b"
    banned = re.compile(f"{skipped}|{clocks}")
    tests = [path for path in (ROOT / "tests").rglob("*.py") if not {"support", "soak", ".cache"} & set(path.parts)]
    for path in tests:
        if path.name != Path(__file__).name:
            match = banned.search(path.read_text(encoding="utf-8"))
            assert match is None, f"{path.relative_to(ROOT)}: {match and match.group()}"


UNPLAIN = re.compile(
    r'"""(What|Who|Whoever|Those|Whether|Where|How|Return whether) |'
    r"\b(so many|so long as|of so|(?<!there )(is|are) none|as it came"
    r"|told apart|stands? beside|the ear|by hand of|who may|[Ww]hoever|nobody hears|the wish to"
    r"|comes? to its (point|end)|[Bb]reathe|[Nn]ewsroom|[Ee]rrand|[Ff]ooting|resettl\w+"
    r"|if it is none|cannot stand beside|survives a power cut|in other words than|took the place of|to who may know"
    r"|You can type all of it|a folder of its own leaves|in a pipe gets them|as (long|quick) as starting Python"
    r"|on every line: |What may be said|as thin as can be|beside what|for those who|kept in step|goes on (from|where)"
    r"|on their way into|both say|say two things|in their way|as far as can be seen|where none"
    r"|where (that|it|this) (is known|says so)|tells of|what is in it|what stands|in its own words|leads on|at the wish"
    r"|what it is called|however many of|do(es)? nothing: the call|where (this page|the work) (lies|stands)"
    r"|where to go on|to go on with|stands on|stand after|in (the|its) way|all the same|comes and goes|beside NOT"
    r"|which there is not|(capability|process) knows|with what is true|rests on what|look whether|store that rests"
    r"|computation rests|though it came|because others come|that is no text|bytes that are no|given out|turned down"
    r"|waits too|(any|some|no)body (asked|can|configured|has claimed|looked|may)|(tells|says) how|where that is"
    r"|one (row|vector) a (document|version)|counts for nothing|[Ww]hat the search (asks|finds))\b"
)
"""Phrases that a reader must read twice, and metaphors: use the textbook word, "if" and an imperative."""


VAGUE = re.compile(
    r"\b(Shape|Searching|Erasure|Spelled|Closed|Offer|Desk|Held|Compared|Arrival|Taking|Hearing|Site|Visit|nearest"
    r"|is_taken|is_made|carry_out|carry|breathe|concerns|own_key|look_over|patience_s|see_one_state|change_nothing"
    r"|go_on_after|beyond_the_index|words_of_question|is_beyond|turned|told|spelled|forwarded|mark|within|forget|given"
    r"|spend|end_of|asked|shown|most|passages|Passages|keep|held|fold|look_up|reply|replies|advice|places?|places?_of"
    r"|places_in|place_from|check_place)$"
)
"""Names of functions and classes that say too little; the textbook name replaced each of them."""


def test_functions_and_classes_have_textbook_names() -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    named = [(path, node.name) for path in MODULES for node in ast.walk(parse(path)) if isinstance(node, kinds)]
    assert [f"{name_of(path)}.{name}" for path, name in named if VAGUE.match(name)] == []


def test_no_two_modules_have_the_same_name() -> None:
    """Each engine implements the modules of storage under the same names."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        if path.stem != "__init__" and path.parent.name not in ("sqlite", "postgres"):
            found.setdefault(path.stem, []).append(name_of(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_no_two_classes_have_the_same_name() -> None:
    found: dict[str, list[str]] = {}
    for path in MODULES:
        for name in [node.name for node in parse(path).body if isinstance(node, ast.ClassDef)]:
            found.setdefault(name, []).append(name_of(path))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_texts_use_plain_words() -> None:
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.sql"), *PACKAGE.rglob("*.html")]
    files += [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs").rglob("*.py"),
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    ]
    found = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            text = text.replace(" is none", "")  # a test of the template language
        for number, line in enumerate(text.splitlines(), start=1):
            if match := UNPLAIN.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    assert found == []


UNMARKED = (
    "section not found: ",  # the words of the documents
    "{path} must be", "{path} is no field of ", "{path} is {",  # of a record: its fields are no arguments
)  # fmt: skip


def refusals(path: Path) -> list[tuple[str, str]]:
    """Return the message of each refusal of a module and its argument; variables are in braces."""
    found = []
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "invalid" and node.args:
            for keyword in node.keywords:
                about = ast.unparse(keyword.value)
                name = "{" + about + "}" if about.isidentifier() else about.strip("'")
                if keyword.arg == "path":
                    found.append((ast.unparse(node.args[0]).lstrip("f").strip("'\""), name))
    return found


@of_every([path for path in MODULES if layer(name_of(path)) < LAYERS["cli"]])
def test_a_refusal_marks_the_argument_that_it_begins_with(path: Path) -> None:
    for message, argument in refusals(path):
        if not message.startswith(UNMARKED):
            assert message.split()[0] != argument, f"{name_of(path)}: mark {argument} with backticks in {message!r}"
