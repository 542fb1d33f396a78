"""Give labels, tables, tasks, checks and queues their final names: python move/names.py ."""
import pathlib, re, subprocess, sys
root = pathlib.Path(sys.argv[1]).resolve()
TABLES = {"outboxmessage": "outbox", "processedmessage": "inbox", "attempt": "attempt", "deadletter": "dead_letter", "interruption": "interruption",
  "pause": "pause", "circuit": "circuit", "heartbeat": "heartbeat", "replay": "replay", "auditentry": "audit_entry", "auditedletter": "audited_letter",
  "groupalert": "group_alert", "recovery": "recovery", "minute": "minute", "total": "total", "tallying": "rollup"}
RULES = [
  (r"\bmessaging\.([EW]\d{1,3})\b", r"baton.\1"), (r"messaging\.\{check_id\}", "baton.{check_id}"),
  (r"\bmessaging\.(prune|tend_dead_letters|reconcile|tally|collector)\b", r"baton.\1"),
  (r'"messaging\.\?"', '"baton.?"'), (r'"baton_messaging\.relaying"', '"baton.relay"'), (r'"messaging\.envelope"', '"baton.envelope"'),
  (r'"baton_messaging\.messages\.envelope"', '"baton.envelope"'),
  (r'"messaging\.(mail_alert|note_unknown_task)"', r'"baton_messaging.\1"'),
  (r"admin:baton_messaging_", "admin:baton_messaging_"), (r'f"messaging_deadletter_\{', 'f"baton_messaging_deadletter_{'),
  (r"\bmessaging\.((?:view|replay|edit|discard|pause|add|change|delete)_\w+)", r"baton_messaging.\1"),
  (r"/admin/baton_messaging/", "/admin/baton_messaging/"), (r'"messaging\.Replay"', '"baton_messaging.Replay"'),
  (r"\bmessaging_outbox\b", "baton_outbox_notify"),
  (r"\bmessaging_(" + "|".join(TABLES) + r")(?!\w)", lambda m: "baton_" + TABLES[m.group(1)]),
]
files = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
for f in files:
    p = root / f
    if p.suffix in (".mo", ".lock", ".svg") or "/migrations/0" in f or not p.exists(): continue
    text = new = p.read_text()
    for pattern, to in RULES: new = re.sub(pattern, to, new)
    if new != text: p.write_text(new)
# the rest, each place by itself -----------------------------------------------------------------------------------
def sub(path, *pairs):
    p = root / path
    text = p.read_text()
    for a, b in pairs:
        assert re.search(a, text), (path, a)
        text = re.sub(a, b, text)
    p.write_text(text)
P = "packages/baton-messaging/src/baton_messaging/"
QUEUE = (r"\bqueue `?messaging\b`?", lambda m: m.group(0).replace("messaging", "baton"))
sub("Procfile", (r"worker-messaging", "worker-baton"), (r"-n messaging@%h -Q messaging", "-n baton@%h -Q baton"))
sub(P + "checks/publishing.py", (r'outside="messaging"', 'outside="baton_messaging"'))
sub(P + "checks/results.py", (r'outside="messaging"', 'outside="baton_messaging"'))
sub(P + "checks/responsibility.py", (r'\{"messaging"\}', '{"baton_messaging"}'))
sub(P + "checks/objections.py", (r"``messaging\.<", "``baton.<"))
sub(P + "diagnosis/doctor/retention.py", QUEUE)
sub(P + "apps.py", (r'name = "messaging"', 'name = "baton_messaging"'), ("MessagingConfig", "BatonMessagingConfig"), ('"""The messaging app."""', '"""The Django app of Baton\'s machinery."""'))
sub(P + "tasks.py", (r"``messaging``", "``baton``"))
sub("packages/baton-dev/src/baton_dev/translations.py", (r'"baton_messaging/locale": \("messaging",\)', '"packages/baton-messaging/src/baton_messaging/locale": ("packages/baton-messaging/src/baton_messaging",)'))
sub("config/settings/base.py", (r'"messaging",', '"baton_messaging",'))
sub("config/settings/celery.py", (r'QUEUE = "messaging"', 'QUEUE = "baton"'))
sub("config/queues.py", (r'Queue\("messaging"', 'Queue("baton"'))
sub("tests/contract/test_emptied_broker.py", (r'"messaging"', '"baton"'))
sub("tests/blame/stack.py", (r'"messaging"', '"baton"'))
for page in ("docs/monitoring/alerts.yml", "docs/monitoring.md", "docs/operations.md"): sub(page, QUEUE)
for model, table_name in {"attempt": ["attempt"], "audit": ["audit_entry", "audited_letter"], "dead_letter": ["dead_letter"], "flow_control": ["pause", "circuit"],
    "group_alert": ["group_alert"], "heartbeat": ["heartbeat"], "inbox": ["inbox"], "interruption": ["interruption"], "outbox": ["outbox"], "recovery": ["recovery"],
    "replay": ["replay"], "statistics": [None, "minute", "total", "rollup"]}.items():
    p = root / P / f"models/{model}.py"
    names = iter(table_name)
    def put(m):
        name = next(names)
        return m.group(0) + (f'        db_table = "baton_{name}"\n' if name else "")
    text = re.sub(r"    class Meta:\n", put, p.read_text())
    p.write_text(text)
# names of constraints and indexes are unique in a schema that the package shares with a project
names = set()
for p in (root / P / "models").glob("*.py"):
    names |= set(re.findall(r'\bname="([a-z_]+)"', p.read_text()))
names -= {"baton_deadletter"}
SHORT = {"baton_attempt_newest": "attempt_newest"}
for f in files:
    p = root / f
    if p.suffix not in (".py", ".md") or "/migrations/0" in f or not p.exists(): continue
    text = new = p.read_text()
    for name in names: new = re.sub(rf'(["`]){name}(["`])', rf"\1baton_{SHORT.get(name, name)}\2", new)
    if new != text: p.write_text(new); print("names in", f)
