"""The pages about node types say what the node types say."""

from scripts.node_docs import DOCS, node_pages


def test_docs_of_node_types_are_up_to_date():
    written = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    expected = node_pages()
    assert set(written) == set(expected), "run: python -m scripts.node_docs"
    stale = [name for name, text in expected.items() if written[name] != text]
    assert not stale, f"run: python -m scripts.node_docs ({', '.join(stale)} say something else)"


def test_the_fields_of_a_list_have_rows_of_their_own():
    page = node_pages()["flow.expectations.md"]
    assert (
        "| `rules[].condition` | A Spark SQL expression; a row for which it is false or null breaks the rule. | text | required |" in page
    )
    assert "| `rules[].action` |" in page
    assert "`p95`" in node_pages()["flow.aggregate.md"]
