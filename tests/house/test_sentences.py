"""What the server says is said in Chinese, too: each sentence in its code has words, and no words are left of one that is gone."""

import re

from scripts.sentences import chinese, guarantees, sentences, told

HELP = "write it in Chinese into frontend/src/api/sentences/zh.json, with {1}, {2} … for its values"
CHINESE = chinese()


def test_every_sentence_has_chinese_words() -> None:
    missing = {text: place for text, place in told().items() if text not in CHINESE}
    assert not missing, HELP


def test_no_words_are_left_of_a_sentence_that_is_gone() -> None:
    gone = set(CHINESE) - {sentence.text for sentence in sentences()} - set(guarantees())
    assert not gone, "the code no longer says this: correct the sentence in zh.json, or take it out"


def test_the_words_take_every_value_once() -> None:
    taken = {text: sorted(re.findall(r"\{(\d*)\}", words)) for text, words in CHINESE.items()}
    wrong = {text: CHINESE[text] for text, numbers in taken.items() if numbers != [str(number + 1) for number in range(text.count("{}"))]}
    assert not wrong


def test_the_sentences_are_found_wherever_they_stand() -> None:
    texts = set(told())
    assert "its table has more than {} rows; raise the limit, or join it" in texts
    assert "there is no node {}" in {sentence.text for sentence in sentences()}
