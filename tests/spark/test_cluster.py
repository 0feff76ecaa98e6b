"""The cluster that the tests run on."""


def test_two_workers_share_a_job(spark, spark_cluster) -> None:
    assert spark.range(0, 1000, 1, 4).count() == 1000
    assert len(spark_cluster.executors()) == 2
