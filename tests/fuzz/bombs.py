"""Texts that are small and ask for much: of memory, of time, of the stack."""

LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
"""Each of what goes before: merged keys are looked up in all of them."""

BOMBS = {
    "aliases": LAUGHS,
    "aliases as queues": LAUGHS + "partitions: *a11\nqueues: *a11\n",
    "merges": MERGES,
    "merges as queues": MERGES + "partitions: [*a8]\nqueues: [*a8]\n",
    "it holds itself": "&a {queues: [*a], partitions: [*a]}",
    "a list holds itself": "queues: &a [*a]\npartitions: &b [*b]\n",
    "it merges itself": "queues: &a {<<: *a, path: root}\n",
    "brackets": "queues: " + "[" * 5_000 + "]" * 5_000,
    "open brackets": "queues: " + "[{" * 2_500,
    "braces": '{"queues": ' + '{"a": ' * 5_000 + "1" + "}" * 5_001,
    "blocks": "queues:\n" + "".join(" " * n + "-\n" for n in range(1, 400)),
    "items in a line": "queues: \n" + "- " * 2_000 + "x",
    "keys in keys": "? " * 1_000 + "x",
    "queues in queues": "partitions:\n- queues:\n"
    + "".join(f"{'  ' * n}- name: a\n{'  ' * n}  queues:\n" for n in range(1, 200)),
    "digits": "queues: " + "9" * 100_000,
    "digits of a number": '{"queues": [{"path": "root", "max": {"cpu": ' + "9" * 100_000 + "}}]}",
    "an exponent": "queues: [{path: root, max: {cpu: 1e999999999, memory: '1e999999999'}}]",
    "an exponent below": "queues: [{path: root, max: {cpu: 1e-999999999, memory: '1e-999999999'}}]",
    "a duration": f"queues: [{{path: root, delay: {'9' * 5_000}h}}]",
    "sixties": "queues: " + ":".join(["59"] * 20_000),
    "documents": "---\nqueues: []\n" * 5_000,
    "comments": "#\n" * 50_000 + "queues: []",
    "blanks": "queues:" + " " * 200_000 + "[]",
    "one long key": "a" * 200_000 + ": queues",
    "one long quote": 'queues: "' + "\\x41" * 50_000 + '"',
    "an open quote": 'queues: "' + "a " * 100_000,
    "NUL": 'queues: ["\\0", "\0"]',
    "surrogates": 'queues: [{path: "\ud800"}, {path: "\\ud800"}]',
    "tags": "queues: !!python/object/apply:os.system [exit 1]",
    "binary": "queues: !!binary '*'\npartitions: !!binary 9",
    "times": "queues: 9999-99-99\npartitions: 0000-00-00T99:99:99Z",
    "odd keys": "{[a]: 1, {b: 1}: 2, ? : 3, queues: {null: 1, 1: 2, 1.5: 3, true: 4}}",
    "many anchors": "queues:\n" + "".join(f"- &a{n} x\n" for n in range(5_000)),
    "the same key": "queues:\n" + "  a: 1\n" * 5_000,
    "a directive": "%YAML 99.99\n%TAG ! !\n---\nqueues: !x y",
}
