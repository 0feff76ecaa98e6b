"""The sketches of documents as a table, and the pairs within a distance of their fingerprints."""

import itertools
import json
import math
import random
import re
import struct
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import lookalike
import twins
import twins_cosine
from lookalike.base.columns import Store
from lookalike.base.errors import SettingsError
from lookalike.candidates import hamming
from made_documents import place_of_texts
from source_files import as_lines, write_records

WORDS = [f"word{number}" for number in range(150)]
EMPTY = {"blank": " \n\t ", "nothing": ""}


def corpus(seed=3, originals=16, length=60):
    """Make texts with copies and edits of every weight, and empty ones, in no order."""
    choice = random.Random(seed)
    texts = dict(EMPTY)
    for i in range(originals):
        words = choice.choices(WORDS, k=length)
        for j, edits in enumerate([0, 0, 1, 2, 3, 5]):
            edited = list(words)
            for _ in range(edits):
                edited[choice.randrange(length)] = choice.choice(WORDS)
            texts[f"{i:02}-{j}"] = " ".join(edited)
    texts["short"] = "bread"
    names = list(texts)
    choice.shuffle(names)
    return {name: texts[name] for name in names}


@pytest.fixture(scope="module")
def texts():
    return corpus()


@pytest.fixture(scope="module")
def vectors():
    return np.random.default_rng(4).normal(size=(40, 33))


def without_memory(monkeypatch, folder):
    """Let jobs run in no memory, with temporary files in a folder of the test's own."""
    monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
    monkeypatch.setattr("lookalike.job.canonical_parts.MEMORY_PER_BYTE", {"text": 0})
    monkeypatch.setattr("tempfile.tempdir", str(folder))


def column(table, name):
    return dict(zip(table["id"].to_pylist(), table[name].to_pylist(), strict=True))


class TestColumns:
    def test_texts_have_a_fingerprint_and_a_signature(self, texts):
        table = lookalike.sketch(texts)
        assert table.column_names == ["id", "simhash", "minhash"]
        assert table.schema.field("simhash").type == pa.uint64()
        assert table.schema.field("minhash").type == pa.list_(pa.uint32(), 128)
        assert table["id"].to_pylist() == list(texts)

    def test_vectors_have_bits(self, vectors):
        table = lookalike.sketch(vectors)
        assert table.column_names == ["id", "bits"]
        assert table.schema.field("bits").type == pa.list_(pa.uint32(), 8)
        assert table["id"].to_pylist() == list(range(40))

    @pytest.mark.parametrize(
        "columns", [["bits"], ["minhash", "simhash"], ("bits", "simhash", "minhash")]
    )
    def test_those_asked_for_are_given_in_that_order(self, texts, columns):
        lengths = {"minhash": {"rows": 7}, "bits": {"bits": 96}, "simhash": {}}
        given: Any = {name: at for column in columns for name, at in lengths[column].items()}
        table = lookalike.sketch(texts, columns=columns, **given)
        assert table.column_names == ["id", *columns]
        whole = lookalike.sketch(texts, columns=["simhash", "minhash", "bits"], rows=7, bits=96)
        assert table.equals(whole.select(["id", *columns]))

    def test_a_file_says_what_its_columns_are(self, texts, vectors):
        options: dict[str, Any] = {
            "columns": ["simhash", "minhash", "bits"],
            "shingle": "words:2",
            "seed": 9,
        }
        table = lookalike.sketch(texts, **options, multiset=True, weights="log", bits=64)
        said = {name.decode(): value.decode() for name, value in table.schema.metadata.items()}
        assert re.fullmatch("[0-9a-f]{16}", said.pop("lookalike.fingerprint"))
        assert said == {
            "lookalike.simhash": "64 bits of log of words:2",
            "lookalike.minhash": "128 rows of multisets of words:2, seed 9",
            "lookalike.bits": "64 bits of log of words:2, seed 9",
        }
        metadata = lookalike.sketch(vectors).schema.metadata
        assert metadata[b"lookalike.bits"] == b"256 bits of vectors, seed 1"

    def test_empty_documents_have_nulls_and_no_others_do(self, texts):
        table = lookalike.sketch(texts, columns=["simhash", "minhash", "bits"])
        for row in table.to_pylist():
            missing = [row[name] is None for name in ("simhash", "minhash", "bits")]
            assert missing == [row["id"] in EMPTY] * 3

    def test_what_is_all_ignored_has_nulls_too(self, texts):
        options: dict[str, Any] = {"columns": ["simhash", "minhash", "bits"], "shingle": "words:1"}
        table = lookalike.sketch(texts, **options, ignore="Bread, and  word1")
        bare = {row["id"] for row in table.to_pylist() if row["bits"] is None}
        assert bare == {*EMPTY, "short"}
        assert table["simhash"].null_count == table["minhash"].null_count == 3
        plenty = lookalike.sketch(["a b", "b", "b c", "b"], **options, max_df=0.7)
        assert [row is None for row in plenty["minhash"].to_pylist()] == [False, True, False, True]

    def test_a_missing_vector_has_a_null(self, vectors):
        rows = [*vectors.tolist(), None]
        found = lookalike.sketch([None, *rows], bits=64)["bits"].to_pylist()
        assert found == [None, *lookalike.sketch(vectors, bits=64)["bits"].to_pylist(), None]

    @pytest.mark.parametrize("source", [[], ["", None], pa.array([], pa.large_string())])
    def test_no_documents_have_no_sketches(self, source):
        table = lookalike.sketch(source, columns=["simhash", "minhash", "bits"])
        assert len(table) == len(source)
        for name in ("simhash", "minhash", "bits"):
            assert table[name].null_count == len(source)
        assert table.schema.field("minhash").type == pa.list_(pa.uint32(), 128)


class TestNumbers:
    @pytest.mark.parametrize("shingle", ["chars:4", "words:2"])
    @pytest.mark.parametrize("multiset", [False, True])
    def test_signatures_are_those_of_the_definition(self, texts, shingle, multiset):
        some = dict(list(texts.items())[:12])
        options = {"shingle": shingle, "multiset": multiset, "seed": 5, "rows": 9}
        table = lookalike.sketch(some, columns=["minhash"], **options)
        unit, k = shingle.split(":")
        hashes = twins.char_hashes if unit == "chars" else twins.word_hashes
        for name, rows in column(table, "minhash").items():
            elements = twins.elements(hashes(twins.canonical(some[name]), int(k)), multiset)
            assert rows == (twins.signature(elements, 5, 9) if elements else None)

    @pytest.mark.parametrize("weights", twins_cosine.WEIGHTS)
    def test_fingerprints_are_those_of_the_definition(self, texts, weights):
        some = dict(list(texts.items())[:9])
        table = lookalike.sketch(some, columns=["simhash"], shingle="chars:3", weights=weights)
        hashes = {name: twins.char_hashes(twins.canonical(text), 3) for name, text in some.items()}
        distinct = list({tuple(each) for each in hashes.values() if each})
        spread = twins_cosine.frequencies(distinct)
        for name, found in column(table, "simhash").items():
            weighted_set = twins_cosine.weighted_set(hashes[name], weights, len(distinct), spread)
            assert found == (
                twins_cosine.fingerprint(list(weighted_set.items())) if weighted_set else None
            )

    @pytest.mark.parametrize("weights", ["counts", "tf-idf"])
    def test_bits_of_texts_are_those_of_the_definition(self, weights):
        some = ["tea for two and two for tea", "two for the road", "tea for two and two for tea!"]
        table = lookalike.sketch(
            some, columns=["bits"], shingle="words:1", weights=weights, bits=96, seed=7
        )
        hashes = [twins.word_hashes(text.rstrip("!"), 1) for text in some]
        spread = twins_cosine.frequencies(hashes)
        for each, words in zip(hashes, table["bits"].to_pylist(), strict=True):
            weighted_set = twins_cosine.weighted_set(each, weights, 3, spread)
            folded = twins_cosine.fold(list(weighted_set.items()), 7)
            assert words == twins_cosine.sketch(folded, 4096, 96, 7)

    def test_bits_of_vectors_are_those_of_the_definition(self, vectors):
        found = lookalike.sketch(vectors[:2], bits=128, seed=3)["bits"].to_pylist()
        for vector, words in zip(vectors[:2].tolist(), found, strict=True):
            numbers = struct.unpack("<33f", twins_cosine.dense_document(vector))
            assert words == twins_cosine.sketch(list(numbers), 2048, 128, 3)

    def test_a_longer_sketch_begins_with_the_shorter_one(self, texts, vectors):
        long = lookalike.sketch(texts, columns=["minhash", "bits"], rows=300, bits=2048)
        for rows, bits in ((1, 64), (31, 96), (32, 1024), (129, 2016)):
            short = lookalike.sketch(texts, columns=["minhash", "bits"], rows=rows, bits=bits)
            for name, size in (("minhash", rows), ("bits", bits // 32)):
                begun = [each and each[:size] for each in long[name].to_pylist()]
                assert short[name].to_pylist() == begun
        whole = lookalike.sketch(vectors, bits=2048)["bits"].to_pylist()
        for bits in range(64, 2049, 96):
            begun = [words[: bits // 32] for words in whole]
            assert lookalike.sketch(vectors, bits=bits)["bits"].to_pylist() == begun

    def test_the_signature_is_what_estimates_are_made_of(self, texts):
        options: dict[str, Any] = {"shingle": "chars:5", "seed": 11}
        result = lookalike.find(texts, threshold=0.5, estimate=True, **options)
        rows = column(lookalike.sketch(texts, rows=result.plan.estimated, **options), "minhash")
        assert len(result.pairs) > 100
        for pair in result.pairs.to_pylist():
            a, b = rows[pair["a"]], rows[pair["b"]]
            assert pair["similarity"] == np.mean(np.equal(a, b))

    @pytest.mark.parametrize("weights", ["counts", "log"])
    def test_the_bits_are_what_estimates_of_the_cosine_are_made_of(self, texts, weights):
        options = {"shingle": "words:1", "weights": weights, "seed": 11}
        result = lookalike.find(texts, metric="cosine", estimate=True, threshold=0.7, **options)
        bits = result.plan.estimated
        assert 1024 <= bits <= 2048
        size = -(-bits // 32) * 32
        found = column(lookalike.sketch(texts, columns=["bits"], bits=size, **options), "bits")
        assert len(result.pairs) > 100
        for pair in result.pairs.to_pylist():
            apart = sum(
                (a ^ b).bit_count()
                for a, b in zip(*(found[pair[end]] for end in "ab"), strict=True)
            )
            told = math.cos(math.pi * apart / size)
            assert pair["similarity"] == pytest.approx(told, abs=1e-12)

    def test_the_seed_is_not_of_fingerprints_and_weights_are_not_of_signatures(self, texts):
        columns = ["simhash", "minhash", "bits"]
        plain = lookalike.sketch(texts, columns=columns, shingle="chars:3")
        seeded = lookalike.sketch(texts, columns=columns, shingle="chars:3", seed=2)
        weighed = lookalike.sketch(texts, columns=columns, shingle="chars:3", weights="binary")
        same = [[one[name].equals(plain[name]) for name in columns] for one in (seeded, weighed)]
        assert same == [[True, False, False], [False, True, False]]

    def test_identical_documents_have_identical_sketches_and_a_row_each(self, texts):
        table = lookalike.sketch(texts, columns=["simhash", "minhash", "bits"])
        rows = {row.pop("id"): row for row in table.to_pylist()}
        assert all(rows[f"{i:02}-0"] == rows[f"{i:02}-1"] for i in range(16))
        assert rows["00-0"] != rows["01-0"]

    def test_vectors_of_equal_direction_have_the_same_bits(self, vectors):
        found = lookalike.sketch(vectors)["bits"]
        assert lookalike.sketch(4 * vectors)["bits"].equals(found)
        opposite = lookalike.sketch(-vectors)["bits"].to_pylist()
        assert opposite == [[word ^ 0xFFFFFFFF for word in words] for words in found.to_pylist()]

    def test_sparse_rows_have_the_bits_of_their_weighted_features(self):
        rows = sparse.csr_array(np.array([[0, 2.0, 0, 0, -1.5], [1.0, 0, 0, 0, 0]]))
        found = lookalike.sketch(rows, bits=64, seed=2)["bits"].to_pylist()
        for row, words in zip(([(1, 1.0), (4, -0.75)], [(0, 1.0)]), found, strict=True):
            features = sorted((twins.value(0, place), number) for place, number in row)
            folded = twins_cosine.fold(features, 2)
            assert words == twins_cosine.sketch(folded, 4096, 64, 2)

    def test_tokens_are_shingles_as_they_are(self, tmp_path):
        tokens = [["a", "b", "b"], ["b", "c"], [], ["A"]]
        path = write_records(tmp_path / "tokens.jsonl", [{"text": each} for each in tokens])
        table = lookalike.sketch(path, rows=5)
        for each, row in zip(tokens, table.to_pylist(), strict=True):
            hashes = [twins.token_hash(token) for token in each]
            weighted_set = twins_cosine.weighted_set(hashes, "counts")
            wanted = (
                twins_cosine.fingerprint(list(weighted_set.items())),
                twins.signature(set(weighted_set), 1, 5),
            )
            assert (row["simhash"], row["minhash"]) == (wanted if each else (None, None))


ALL: dict[str, Any] = {"columns": ["simhash", "minhash", "bits"], "rows": 20, "weights": "tf-idf"}


class TestSameness:
    def test_threads_and_pieces_change_nothing(self, texts, monkeypatch):
        expected = lookalike.sketch(texts, threads=1, **ALL)
        for threads, piece in ((2, 1 << 20), (3, 500), (1, 3000)):
            for module in ("job.canonical_parts", "text.shingles", "text.weighted_shingles"):
                monkeypatch.setattr(f"lookalike.{module}.PIECE_BYTES", piece)
            monkeypatch.setattr("lookalike.job.sketch_table.TABLE_BYTES", piece)
            found = lookalike.sketch(texts, threads=threads, **ALL)
            assert found.equals(expected)
            assert found.schema.metadata == expected.schema.metadata

    def test_no_memory_changes_nothing(self, texts, monkeypatch, tmp_path):
        expected = lookalike.sketch(texts, **ALL)
        without_memory(monkeypatch, tmp_path)
        seen = []
        spill = Store.spill
        monkeypatch.setattr(Store, "spill", lambda *given: seen.append(given) or spill(*given))
        assert lookalike.sketch(texts, memory=1000, **ALL).equals(expected)
        assert seen
        assert list(tmp_path.iterdir()) == []

    def test_the_order_of_the_source_is_that_of_the_rows_alone(self, texts):
        backwards = dict(reversed(texts.items()))
        found = lookalike.sketch(backwards, **ALL)
        expected = lookalike.sketch(texts, **ALL)
        assert found.to_pylist() == expected.to_pylist()[::-1]

    @pytest.mark.long
    def test_every_kind_of_source_has_the_same_sketches(self, texts, tmp_path):
        names, written = list(texts), list(texts.values())
        table = pa.table({"id": names, "text": written})
        records = table.to_pylist()
        expected = lookalike.sketch(texts, **ALL)
        sources = [
            table,
            pd.Series(written, index=names),
            pl.DataFrame({"id": names, "text": written}),
            *(write_records(tmp_path / f"a.{kind}", records) for kind in ("jsonl.gz", "parquet")),
        ]
        for source in sources:
            assert lookalike.sketch(source, **ALL).to_pylist() == expected.to_pylist()
        assert lookalike.sketch(written, **ALL)["bits"].equals(expected["bits"])


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"columns": ["hash"]}, "column 'hash' is unknown: use some of simhash, minhash, bits"),
            ({"columns": []}, "columns= is empty: use some of simhash, minhash, bits"),
            ({"rows": 0}, "rows=0: use a whole number from 1"),
            ({"rows": True}, "rows=True"),
            ({"rows": 1.5}, "rows=1.5"),
            *(
                ({"bits": bits}, f"bits={bits!r}: use a multiple of 32 from 64 to 2,048")
                for bits in (0, 32, 63, 65, 100, -64, 2049, 2080, True, 256.0, "256")
            ),
            ({"weights": "heavy"}, "weights='heavy' is unknown"),
            ({"shingle": "chars:0"}, "shingle='chars:0'"),
            ({"seed": -1}, "seed=-1"),
            ({"max_df": 2.0}, "max_df=2"),
        ],
        ids=str,
    )
    def test_what_cannot_be_is_refused_in_one_line(self, options, message):
        with pytest.raises(SettingsError) as refused:
            lookalike.sketch(["some text"], **options)
        assert message in str(refused.value)
        assert "\n" not in str(refused.value)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"columns": ["simhash"]}, "simhash and minhash are of text: vectors have bits alone"),
            ({"columns": ["bits", "minhash"]}, "bits alone; use columns='bits'"),
            ({"weights": "log"}, "is for text"),
            ({"shingle": "chars:5"}, "is for text"),
            ({"ignore": "text"}, "is for text"),
            ({"max_df": 0.5}, "is for text"),
        ],
        ids=str,
    )
    def test_what_is_for_text_is_refused_for_vectors(self, vectors, options, message):
        for source in (vectors, sparse.csr_array(vectors)):
            with pytest.raises(SettingsError, match=message):
                lookalike.sketch(source, **options)


class TestProgram:
    @pytest.fixture
    def source(self, texts, tmp_path):
        records = [{"id": name, "text": text} for name, text in texts.items()]
        return write_records(tmp_path / "in" / "docs.jsonl", records)

    def test_lines_go_to_standard_output_and_a_sentence_to_standard_error(
        self, told, source, texts
    ):
        status, output, errors = told("sketch", source, "--rows", 3)
        assert status == 0
        assert [json.loads(line) for line in output.splitlines()] == (
            lookalike.sketch(texts, rows=3).to_pylist()
        )
        assert "\x1b" not in output + errors
        _, sentence, seconds = errors.partition(f"Sketched {len(texts)} documents.\n")
        assert sentence
        assert seconds.startswith("Seconds ")

    @pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
    @pytest.mark.parametrize("piped", [False, True])
    def test_every_format_holds_the_same_numbers(
        self, told, source, texts, tmp_path, kind, piped, capfdbinary
    ):
        columns = ["simhash", "bits"]
        expected = lookalike.sketch(texts, columns=columns, bits=64)
        command = ["sketch", source, "-q", "--columns", ",".join(columns), "--bits", 64]
        out = tmp_path / f"sketches.{kind}"
        if piped and kind != "parquet":
            status, output, errors = told(*command, "--format", kind)
            assert (status, errors) == (0, "")
            out.write_text(output)
        else:
            assert told(*command, "-o", out) == (0, "", "")
        if kind == "parquet":
            found = pq.read_table(out)
            assert found.schema.equals(expected.schema)
            assert expected.schema.metadata.items() <= found.schema.metadata.items()
            rows = found.to_pylist()
        elif kind == "jsonl":
            rows = [json.loads(line) for line in out.read_text().splitlines()]
        else:
            options = pyarrow.csv.ConvertOptions(column_types={"simhash": pa.uint64()})
            rows = pyarrow.csv.read_csv(out, convert_options=options).to_pylist()
            for row in rows:
                row["bits"] = json.loads(row["bits"]) if row["bits"] else None
        assert rows == expected.to_pylist()

    def test_options_reach_the_sketches(self, told, source, texts, tmp_path):
        (tmp_path / "ignored.txt").write_text("word1 word2 word3")
        command = ["sketch", source, "-q", "--columns", "simhash minhash bits", "-s", "words:1"]
        command += ["--multiset", "--weights", "log", "--seed", 4, "--rows", 2, "--bits", 64]
        command += ["--ignore", tmp_path / "ignored.txt", "--max-df", "0.5", "--normalise", "none"]
        status, output, errors = told(*command, "--memory", "600MB", "--threads", 1)
        assert (status, errors) == (0, "")
        expected = lookalike.sketch(
            texts,
            columns=["simhash", "minhash", "bits"],
            shingle="words:1",
            multiset=True,
            weights="log",
            seed=4,
            rows=2,
            bits=64,
            ignore="word1 word2 word3",
            max_df=0.5,
            normalise="none",
        )
        assert [json.loads(line) for line in output.splitlines()] == expected.to_pylist()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--columns", "hash"], "column 'hash' is unknown"),
            (["--columns", ""], "--columns is empty"),
            (["--bits", "100"], "--bits 100: use a multiple of 32"),
            (["--weights", "log", "--normalise", "x"], "--normalise x is unknown"),
            (["-o", "sketches.xyz"], "the format of sketches.xyz is not known"),
            (["--memory", "lots"], "--memory lots is not understood"),
        ],
        ids=str,
    )
    def test_wrong_usage_is_one_line_and_status_2(
        self, told, source, arguments, message, monkeypatch
    ):
        monkeypatch.chdir(source.parent)
        status, output, errors = told("sketch", source, *arguments, "-q")
        assert (status, output) == (2, "")
        assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
        assert message in errors
        assert [path.name for path in source.parent.iterdir()] == ["docs.jsonl"]

    def test_sketches_are_for_programs_and_the_formats_are_named(self, told, source):
        status, output, errors = told("sketch", source, "--format", "table", "-q")
        assert (status, output) == (2, "")
        assert "--format table: use jsonl, csv or parquet\n" in errors

    @pytest.mark.parametrize("name", ["broken.jsonl", "binary.txt", "gone.txt"])
    def test_what_cannot_be_read_is_one_line_and_writes_nothing(self, told, tmp_path, name):
        (tmp_path / "broken.jsonl").write_bytes(as_lines([{"id": 1, "text": "one"}]) + b'{"id": ')
        (tmp_path / "binary.txt").write_bytes(bytes(range(256)))
        out = tmp_path / "sketches.jsonl"
        status, output, errors = told("sketch", tmp_path / name, "-o", out)
        assert (status, output) == (1, "")
        last = errors.splitlines()[-1]
        assert last.startswith("lookalike: ")
        assert name in last
        assert sorted(path.name for path in tmp_path.iterdir()) == ["binary.txt", "broken.jsonl"]

    def test_a_vector_without_a_direction_is_one_line_and_writes_nothing(self, told, tmp_path):
        np.save(tmp_path / "a.npy", [[1.0, 2.0], [0.0, 0.0]])
        status, output, errors = told("sketch", tmp_path / "a.npy", "-o", tmp_path / "s.csv", "-q")
        assert (status, output) == (1, "")
        assert re.fullmatch(r"lookalike: [^\n]*a\.npy:2[^\n]* is zero [^\n]+\n", errors)
        assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]

    def test_bad_lines_are_passed_over_and_counted_if_asked(self, told, tmp_path):
        path = tmp_path / "broken.jsonl"
        path.write_bytes(b'{"id": 1, "text": "one"}\n{"id":\n{"id": 3, "text": "three"}\n')
        status, output, errors = told("sketch", path, "--skip-bad", "--columns", "simhash")
        assert status == 0
        assert [json.loads(line)["id"] for line in output.splitlines()] == [1, 3]
        assert "Sketched 2 documents; 1 skipped." in errors

    def test_standard_input_is_a_source_and_an_empty_folder_is_none(self, told, tmp_path):
        status, output, errors = told("sketch", "-", "-q", given=b'{"text": "tea"}\n')
        assert (status, errors) == (0, "")
        assert json.loads(output)["simhash"] == twins.char_hashes("tea", 5)[0]
        status, output, errors = told("sketch", tmp_path)
        assert (status, output) == (1, "")
        assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
        status, output, errors = told("sketch", "-", given=b"")
        assert (status, output) == (0, "")
        assert "Sketched 0 documents." in errors

    def test_a_source_is_never_written_over(self, told, source):
        before = source.read_bytes()
        status, _, errors = told("sketch", source, "-o", source, "-q")
        assert status == 1
        assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
        assert source.read_bytes() == before


def by_brute_force(prints, distance):
    """Give the distance of every two fingerprints that differ in at most so many bits."""
    there = {name: word for name, word in prints.items() if word is not None}
    found = {}
    for a, b in itertools.combinations(sorted(there), 2):
        apart = twins_cosine.distance(there[a], there[b])
        if apart <= distance:
            found[a, b] = apart
    return found


class TestWithinADistance:
    @pytest.mark.parametrize(
        ("distance", "weights"),
        [*((distance, None) for distance in (*range(7), 10, 16)), (3, "tf-idf"), (6, "log")],
    )
    def test_every_pair_of_fingerprints_within_it_is_found(self, texts, distance, weights):
        options = {"shingle": "words:1", "weights": weights}
        prints = column(lookalike.sketch(texts, columns=["simhash"], **options), "simhash")
        expected = by_brute_force(prints, distance)
        result = lookalike.find(texts, simhash=distance, **options)
        rows = result.pairs.to_pylist()
        assert {(row["a"], row["b"]): row["distance"] for row in rows} == expected
        assert len(rows) == result.pair_count == len(expected)
        assert distance == 0 or max(expected.values()) == distance
        for row in rows:
            same = texts[row["a"]] == texts[row["b"]]
            assert row["score"] == ("exact" if same else "estimated")
            told = math.cos(math.pi * row["distance"] / 64)
            assert row["similarity"] == pytest.approx(told, abs=1e-15)
        assert list(rows[0]) == ["a", "b", "similarity", "score", "distance"]
        order = [(row["distance"], row["a"], row["b"]) for row in rows]
        assert order == sorted(order)
        assert result.top(9).equals(result.pairs.slice(0, 9))

    @pytest.mark.parametrize("cost", [1e-12, 1e-6, 1e-2, 1e4])
    def test_every_choice_of_tables_finds_the_same(self, texts, cost, monkeypatch):
        distances = (1, 3, 6)
        before = [lookalike.find(texts, simhash=each, shingle="words:1") for each in distances]
        monkeypatch.setattr(hamming, "TABLE_COST", cost)
        after = [lookalike.find(texts, simhash=each, shingle="words:1") for each in distances]
        for one, other in zip(before, after, strict=True):
            assert one.pairs.equals(other.pairs)
        tables = [[result.plan.signature for result in results] for results in (before, after)]
        assert (tables[0] == tables[1]) == (cost > 1)

    def test_random_words_of_few_bits_are_all_found(self, monkeypatch):
        # Of one token each, a document has the hash of it for a fingerprint.
        choice = random.Random(8)
        texts = [f"t{choice.randrange(10**9)}" for _ in range(400)]
        prints = dict(enumerate(twins.word_hashes(text, 1)[0] for text in texts))
        for distance in (12, 16):
            result = lookalike.find(texts, simhash=distance, shingle="words:1")
            found = {(row["a"], row["b"]): row["distance"] for row in result.pairs.to_pylist()}
            assert found == by_brute_force(prints, distance)

    def test_the_least_alike_of_a_cluster_are_told_by_their_fingerprints(self, texts):
        options: dict[str, Any] = {"shingle": "words:1"}
        prints = column(lookalike.sketch(texts, columns=["simhash"], **options), "simhash")
        result = lookalike.find(texts, simhash=5, **options)
        members = {}
        for row in result.clusters.to_pylist():
            members.setdefault((row["cluster"], row["similarity"]), []).append(row["id"])
        assert len(members) > 10
        for (_, similarity), names in members.items():
            widest = max(by_brute_force({name: prints[name] for name in names}, 64).values())
            assert similarity == pytest.approx(math.cos(math.pi * widest / 64), abs=1e-15)

    def test_threads_memory_and_order_change_nothing(self, texts, monkeypatch, tmp_path):
        expected = lookalike.find(texts, simhash=4, threads=1)
        backwards = dict(reversed(texts.items()))
        assert lookalike.find(backwards, simhash=4, threads=3).pairs.equals(expected.pairs)
        without_memory(monkeypatch, tmp_path)
        for module in ("candidates.buckets", "job.sketch"):
            monkeypatch.setattr(f"lookalike.{module}.BLOCK_DOCUMENTS", 30)
        result = lookalike.find(texts, simhash=4, memory=1000)
        assert place_of_texts(result).is_relative_to(tmp_path)
        assert result.pairs.equals(expected.pairs)
        assert result.clusters.equals(expected.clusters)

    def test_empty_and_bare_documents_are_in_no_pair(self):
        texts = ["", " ", "bread", "bread", "Bread and", "bread, bread and"]
        result = lookalike.find(texts, simhash=16, shingle="words:1", ignore="bread and")
        # Two copies are identical whatever counts; the rest has no fingerprint.
        assert result.pairs.select(["a", "b", "distance"]).to_pylist() == [
            {"a": 2, "b": 3, "distance": 0}
        ]

    def test_it_is_of_text(self, vectors):
        with pytest.raises(SettingsError, match=r"^[^\n]*vectors[^\n]*$"):
            lookalike.find(vectors, simhash=3)

    @pytest.mark.parametrize("distance", [-1, 17, 3.0, True, "3"])
    def test_a_distance_that_cannot_be_is_refused(self, distance):
        with pytest.raises(SettingsError, match=rf"^simhash={distance!r}: use [^\n]+$"):
            lookalike.find(["text"], simhash=distance)

    @pytest.fixture
    def source(self, texts, tmp_path):
        records = [{"id": name, "text": text} for name, text in texts.items()]
        return write_records(tmp_path / "in" / "docs.jsonl", records)

    def test_the_program_gives_the_same_with_the_distance(self, told, source, texts):
        expected = lookalike.find(texts, simhash=3, shingle="words:1")
        command = ["find", source, "--simhash", 3, "-s", "words:1"]
        status, output, errors = told(*command, "-q", "--format", "jsonl")
        assert (status, errors) == (0, "")
        assert [json.loads(line) for line in output.splitlines()] == expected.pairs.to_pylist()
        status, output, errors = told(*command)
        assert status == 0
        assert re.search(r"similarity +distance +a +b", output)
        assert re.search(r"~0\.9988 +1 ", output)
        assert re.search(r"\n +1\.0000 +0 ", output)
        assert "every pair that differs in at most 3 bits is found" in " ".join(errors.split())

    @pytest.mark.parametrize(
        "arguments",
        [
            ["-t", "0.9"],
            ["--recall", "0.9"],
            ["--metric", "cosine"],
            ["--metric", "jaccard"],
            ["--bands", "2", "--rows", "3"],
            ["--cascade", "or:4"],
            ["--estimate"],
            ["--seed", "2"],
            ["--multiset"],
            ["--simhash", "17"],
        ],
        ids=lambda given: given[0],
    )
    def test_options_that_would_do_nothing_are_refused(self, told, source, arguments):
        status, output, errors = told("find", source, "--simhash", 3, *arguments)
        assert (status, output) == (2, "")
        assert re.fullmatch(r"lookalike: [^\n]+\n", errors)

    @pytest.mark.parametrize(("first", "second"), [(2, 5), (5, 2), (0, 6)])
    def test_a_kept_work_folder_serves_other_distances(
        self, texts, source, tmp_path, first, second
    ):
        fresh = lookalike.find(source, simhash=second).pairs
        work = tmp_path / "work"
        lookalike.find(source, simhash=first, work=work)
        assert lookalike.find(source, simhash=second, work=work).pairs.equals(fresh)

    def test_a_kept_work_folder_serves_a_distance_with_as_many_tables(
        self, source, tmp_path, monkeypatch
    ):
        # As for a hundred thousand documents: 15 tables for a distance of 4, and for one of 14.
        monkeypatch.setattr(hamming, "TABLE_COST", 0.05)
        fresh = lookalike.find(source, simhash=14, shingle="words:1")
        work = tmp_path / "work"
        first = lookalike.find(source, simhash=4, shingle="words:1", work=work)
        assert first.plan.signature == fresh.plan.signature == 15
        again = lookalike.find(source, simhash=14, shingle="words:1", work=work)
        assert again.pairs.equals(fresh.pairs)
