"""Move modules by a table `old new`, and rewrite every mention: imports, dotted names in texts, and paths.

python move/move.py . move/messaging.txt move/config.txt  (in a clean checkout)
"""
import ast, io, pathlib, re, subprocess, sys, tokenize

root = pathlib.Path(sys.argv[1]).resolve()
PLACES = {"baton_messaging": "packages/baton-messaging/src/", "baton_dev": "packages/baton-dev/src/"}
table = {}
for name in sys.argv[2:]:
    for line in pathlib.Path(name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            old, new = line.split()
            if old.startswith("messaging"):
                new = f"baton_messaging.{new}"
            table[old] = new
if any(k.startswith("messaging") for k in table):
    table["messaging"] = "baton_messaging"

def git(*words): subprocess.run(["git", "-C", str(root), *words], check=True)
def path_of(dotted): return PLACES.get(dotted.split(".")[0], "") + dotted.replace(".", "/")

# 1. files -----------------------------------------------------------------------------------------------------
files = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
heads = sorted(table, key=len, reverse=True)
def new_name(dotted):
    for head in heads:
        if dotted == head: return table[head]
        if dotted.startswith(head + "."): return table[head] + dotted[len(head):]
    return dotted
moves = []
for f in files:
    p = pathlib.PurePosixPath(f)
    if p.suffix == ".py":
        dotted = ".".join(p.with_suffix("").parts)
        is_init = dotted.endswith(".__init__")
        if is_init: dotted = dotted[: -len(".__init__")]
        new = new_name(dotted)
        if new != dotted:
            # a module that becomes a package's __init__ or vice versa does not occur
            moves.append((f, path_of(new) + ("/__init__.py" if is_init else ".py")))
    elif f.startswith("baton_messaging/"):
        g = re.sub(r"^baton_messaging/", path_of("baton_messaging") + "/", f)
        g = g.replace("/templates/messaging/", "/templates/baton_messaging/").replace("/static/messaging/", "/static/baton_messaging/")
        moves.append((f, g))
seen = set()
for old, new in moves:
    assert new not in seen, (old, new); seen.add(new)
    (root / new).parent.mkdir(parents=True, exist_ok=True)
    git("mv", old, new)
# every folder of a moved module is a package
for _old, new in moves:
    if new.endswith(".py"):
        folder = (root / new).parent
        while folder.name not in ("src", "") and folder != root and not (folder / "__init__.py").exists() and ("/src/" in str(folder) or folder.parent.joinpath("__init__.py").exists()):
            (folder / "__init__.py").write_text(""); folder = folder.parent
git("add", "-A")

# 2. mentions -----------------------------------------------------------------------------------------------------
tops = sorted({k.split(".")[0] for k in table})
modules = set(table)
DOTTED = re.compile(r"(?<![\w./-])(" + "|".join(tops) + r")((?:\.\w+)+)")
old_files = {m[0] for m in moves}
def is_module(dotted):
    p = dotted.replace(".", "/")
    return dotted in table or f"{p}.py" in old_files or f"{p}/__init__.py" in old_files

def rename_dotted(text):
    def one(m):
        dotted = m.group(0)
        parts = dotted.split(".")
        for n in range(len(parts), 1, -1):
            head = ".".join(parts[:n])
            if is_module(head):
                return ".".join([new_name(head), *parts[n:]])
        return dotted
    return DOTTED.sub(one, text)

def rewrite_python(text):
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    renamed = {}
    edits = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level and node.module.split(".")[0] in tops:
            plain, out = [], []
            for a in node.names:
                full = f"{node.module}.{a.name}"
                if is_module(full):
                    parent, _, leaf = new_name(full).rpartition(".")
                    if a.asname:
                        out.append(f"from {parent} import {leaf} as {a.asname}")
                    else:
                        out.append(f"from {parent} import {leaf}")
                        if leaf != a.name: renamed[a.name] = leaf
                else:
                    plain.append(a.name + (f" as {a.asname}" if a.asname else ""))
            if plain:
                out.insert(0, f"from {new_name(node.module)} import " + ", ".join(plain))
            first, last = lines[node.lineno - 1], lines[node.end_lineno - 1]
            indent = first[: len(first) - len(first.lstrip())]
            comments = [l[l.index("#"):].rstrip() for l in lines[node.lineno - 1 : node.end_lineno] if "#" in l]
            tail = ("  " + comments[0]) if comments else ""
            # ruff keeps a parenthesised list on lines of its own by its magic comma
            edits.append((node.lineno - 1, node.end_lineno, [f"{indent}{o}{tail}\n" for o in out]))
    for start, end, new in sorted(edits, reverse=True):
        lines[start:end] = new
    text = "".join(lines)
    if renamed:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        spots = []
        for i, t in enumerate(tokens):
            if t.type == tokenize.NAME and t.string in renamed:
                prev, nxt = tokens[i - 1].string, tokens[i + 1].string
                if prev not in (".", "import", "from") and (nxt == "." or (prev in "(,[" and nxt in ",)]")):
                    spots.append(t)
        lines = text.splitlines(keepends=True)
        for t in reversed(spots):
            r, c = t.start
            line = lines[r - 1]
            lines[r - 1] = line[:c] + renamed[t.string] + line[c + len(t.string):]
        text = "".join(lines)
    return rename_dotted(text)

PATHS = sorted(((old, new) for old, new in moves), key=lambda m: -len(m[0]))
folders = {}
for head in heads:
    folders[head.replace(".", "/")] = table[head].replace(".", "/")
def rename_paths(text):
    for old, new in sorted(((k.replace(".", "/") + ".py", v.replace(".", "/") + ".py") for k, v in table.items()), key=lambda m: -len(m[0])):
        text = re.sub(r"(?<![\w./-])" + re.escape(old) + r"\b", new, text)
    for old, new in sorted(folders.items(), key=lambda m: -len(m[0])):
        if "/" in old or True:
            text = re.sub(r"(?<![\w./-])" + re.escape(old) + r"/", new + "/", text)
            if "/" in old:
                text = re.sub(r"(?<![\w./-])" + re.escape(old) + r"(?![\w/.-])", new, text)
    return text

files = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
for f in files:
    p = root / f
    if p.suffix in (".mo", ".lock", ".svg", ".json") or not p.exists(): continue
    text = p.read_text()
    new = rename_paths(rewrite_python(text)) if p.suffix == ".py" else rename_paths(rename_dotted(text))
    if new != text: p.write_text(new)
git("add", "-A")
