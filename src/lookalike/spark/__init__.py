"""The same job on Apache Spark: frames in, frames out, the answer of the local engine.

It needs `pip install 'lookalike[spark]'`, and loads PySpark when it is first used.
"""
