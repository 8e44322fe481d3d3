"""The pages about node types say what the node types say."""

from scripts.node_docs import DOCS, node_pages


def test_docs_of_node_types_are_up_to_date():
    written = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    expected = node_pages()
    assert set(written) == set(expected), "run: python -m scripts.node_docs"
    stale = [name for name, text in expected.items() if written[name] != text]
    assert not stale, f"run: python -m scripts.node_docs ({', '.join(stale)} say something else)"
