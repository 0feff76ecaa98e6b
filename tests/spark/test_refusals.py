"""What is not done on Spark, and frames that hold no documents, are refused in a line."""

import pytest

import lookalike
import lookalike.spark
from lookalike.base.errors import QuadraticError, SettingsError, SourceError
from lookalike.spark.buckets import refuse_if_quadratic
from lookalike.spark.frames import PARTITION_BYTES, partitions_for


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recall": 1}, "recall=1 is not for Spark, as a distributed exact join fails"),
        ({"rule": "contained"}, "rule='contained' is not for Spark, as a distributed exact join"),
        ({"max_df": 0.1}, "max_df= is not for Spark, as it counts every shingle of the corpus"),
        ({"metric": "cosine", "weights": "tf-idf"}, "weights='tf-idf' is not for Spark"),
        ({"groups": "author"}, "groups= is not for Spark"),
        ({"max_rounds": -1}, "max_rounds is -1: use a whole number from 0"),
        ({"threshold": 2}, "threshold=2: use a number from 0 to 1"),
    ],
)
def test_what_is_not_done_on_spark_is_refused_before_a_frame_is_read(options, message):
    with pytest.raises(SettingsError, match=message) as raised:
        lookalike.spark.dedup(None, **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        ("id bigint, words string", {}, "no column is named text, content, body"),
        ("id bigint, text string", {"text": "words"}, "no column 'words' for the text"),
        ("id bigint, text string", {"id": "url"}, "no column 'url' for the id"),
        ("name string, text string", {}, "have no places to take for ids"),
        ("id bigint, text string", {"id": "none"}, "have no places to take for ids"),
        ("id array<int>, text string", {}, "ids are numbers or strings, and column 'id' is of"),
        ("id bigint, text bigint", {}, "column 'text' is of type bigint, not text"),
        ("id bigint, v string", {"vector": "v"}, "a vector is an array of numbers"),
        ("id bigint, text string", {"keep": "max:stars"}, "no column 'stars' for keep="),
        ("id bigint, text string", {"order": "day"}, "no column 'day' for order="),
        ("id bigint, text string, m map<int,int>", {"keep": "min:m"}, "which has no order"),
    ],
)
def test_a_frame_without_documents_or_ids_is_refused(spark, schema, options, message):
    with pytest.raises(SourceError, match=message):
        lookalike.spark.dedup(spark.createDataFrame([], schema), **options)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2, 2, 3], "id 2 appears in more than one row of column 'id'"),
        ([1, None, 2, 3], "1 rows have no id in column 'id'"),
    ],
)
def test_ids_that_repeat_or_are_missing_are_refused(spark, ids, message):
    frame = spark.createDataFrame([(one, "a text") for one in ids], "id bigint, text string")
    with pytest.raises(SourceError, match=message):
        lookalike.spark.find(frame)


def test_a_vector_without_a_direction_is_named(spark):
    rows = [("a", [1.0, 2.0]), ("b", [0.0, 0.0]), ("c", [3.0, 1.0])]
    frame = spark.createDataFrame(rows, "id string, v array<double>")
    with pytest.raises(SourceError, match="document 'b' is zero and has no direction"):
        lookalike.spark.find(frame, vector="v", metric="cosine")


def test_large_buckets_that_hold_too_many_pairs_are_refused():
    sizes = [{"pairs": 2e9, "largest": 60_000, "hot_rows": 60_000}]
    with pytest.raises(QuadraticError, match="2,000,000,000 pairs of 70,000 documents"):
        refuse_if_quadratic(sizes, "and:1 or:3", 70_000)
    refuse_if_quadratic(sizes, "and:1 or:3", 3_000_000)
    refuse_if_quadratic([], "and:1 or:3", 0)


def test_partitions_follow_the_rows():
    assert partitions_for(0, 100, 200) == 1
    assert partitions_for(100, 100, 200) == 1
    assert partitions_for(1_000_000, 100, 8) == 8
    many = partitions_for(10**11, 100, 200)
    assert 10**13 / many <= PARTITION_BYTES
