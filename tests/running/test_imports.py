"""No module imports itself through others: contracts hold the layers, and this holds what lies inside one package."""

import grimp

ROOTS = ("engine", "simulator")


def in_circles(graph: grimp.ImportGraph) -> set[str]:
    """The modules that import each other, and those that import them: what is left without all that need nothing."""
    left = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    while free := {module for module, imported in left.items() if not imported & left.keys()}:
        left = {module: imported for module, imported in left.items() if module not in free}
    return set(left)


def test_no_module_imports_itself_through_others() -> None:
    assert in_circles(grimp.build_graph(*ROOTS, cache_dir=None)) == set()


def test_a_circle_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")):
        graph.add_import(importer=importer, imported=imported)
    assert in_circles(graph) == {"a", "b", "c"}
