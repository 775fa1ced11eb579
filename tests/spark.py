"""A local Spark server for tests, with a classic and a Connect session to it."""

import os
import shutil
import socket
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

REQUIRED = bool(os.environ.get("CI") or os.environ.get("GDPPCA_REQUIRE_SPARK"))
_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # quick to start
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.log.level": "OFF",  # workers are killed on purpose
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def require_spark() -> None:
    """Skip where Spark cannot start, unless that is forbidden."""
    pytest.importorskip("pyspark")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        assert not REQUIRED, "Java is required here and not installed: make java"
        pytest.skip("Java is not installed: make java")


class Server:
    """Two cores of this machine, and four attempts at each task, as on a cluster."""

    def __init__(self):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable  # else workers take the first on the path
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        self.port = _free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="gdppca-spark-"))  # shuffled rows, artifacts
        own = {"spark.connect.grpc.binding.port": self.port, "spark.local.dir": self.folder}
        builder = SparkSession.builder.master("local[2,4]").appName("gdppca")
        for name, value in (_SETTINGS | own).items():
            builder = builder.config(name, str(value))
        self.classic = builder.getOrCreate()
        self.connect = remote(self.port)

    def stop(self):
        self.connect.stop()
        self.classic.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def remote(port):
    """A Connect session to a server of this machine."""
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()


def table(session, frame, lengths):
    """A Spark table of a pandas frame, cut into partitions of these lengths."""
    frame = frame.assign(
        spark_part=np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        spark_row=np.arange(len(frame)),
    )
    unsigned = [name for name in frame if frame[name].dtype.kind == "u"]
    signed = frame.astype(dict.fromkeys(unsigned, np.int64))  # Spark has no others
    whole = session.createDataFrame(pa.Table.from_pandas(signed, preserve_index=False))
    parts = whole.repartitionById(len(lengths), "spark_part").sortWithinPartitions("spark_row")
    return parts.drop("spark_part", "spark_row")


def named(X):
    """A pandas frame with columns x0, x1, ..."""
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
