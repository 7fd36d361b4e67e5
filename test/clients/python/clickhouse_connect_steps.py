"""The first steps of a user of clickhouse-connect. Prints one JSON line per step.

Arguments: host, port, password of the user `default`.
"""

import datetime
import decimal
import json
import struct
import sys
import time
import uuid

import clickhouse_connect
from clickhouse_connect import dbapi
from clickhouse_connect.driver.exceptions import ClickHouseError
from clickhouse_connect.driver.external import ExternalData

HOST, PORT, PASSWORD = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ROWS = [(number, f"name {number}") for number in range(1000)]
STEPS = []


def connect(**options):
    return clickhouse_connect.get_client(host=HOST, port=PORT, username="default", password=PASSWORD, **options)


def step(function):
    STEPS.append(function)
    return function


def read_error(work):
    try:
        work()
    except ClickHouseError as error:
        return {"message": str(error), "code": getattr(error, "code", None)}
    raise AssertionError("there was no error")


def insert(table, client, **options):
    client.command(f"CREATE OR REPLACE TABLE {table} (id UInt32, name String) ENGINE = MergeTree ORDER BY id")
    client.insert(table, ROWS, column_names=["id", "name"], **options)
    return client.query(f"SELECT count(), sum(id), max(name) FROM {table}").result_rows[0]


@step
def connects(_):
    return connect().query("SELECT 20 + 1").result_rows


@step
def ping(client):
    return client.ping()


@step
def server_version(client):
    return client.server_version


@step
def command(client):
    return client.command("SELECT toUInt32(42)")


@step
def create_table(client):
    client.command("CREATE TABLE commented (id UInt32, name String) ENGINE = MergeTree ORDER BY id COMMENT 'a table'")
    return client.command("EXISTS TABLE commented")


@step
def insert_native(client):
    return insert("first", client)


@step
def insert_lz4(_):
    return insert("lz4", connect(compress="lz4"))


@step
def insert_zstd(_):
    return insert("zstd", connect(compress="zstd"))


@step
def insert_gzip(_):
    return insert("gzip", connect(compress="gzip"))


@step
def insert_asynchronously(client):
    return insert("queued", client, settings={"async_insert": 1, "wait_for_async_insert": 1})


@step
def insert_row_binary(client):
    client.command("CREATE TABLE binary (id UInt32, value Float64) ENGINE = MergeTree ORDER BY id")
    rows = b"".join(struct.pack("<Id", number, number / 2) for number in range(100))
    client.raw_insert("binary", ["id", "value"], rows, fmt="RowBinary")
    return client.query("SELECT count(), sum(value) FROM binary").result_rows[0]


@step
def insert_context(client):
    context = client.create_insert_context("first", ["id", "name"], data=[[5000, "from a context"]])
    client.insert(context=context)
    return client.command("SELECT name FROM first WHERE id = 5000")


@step
def select_columns(client):
    return client.query("SELECT id, name FROM first WHERE id < 3 ORDER BY id").result_columns


@step
def select_types(client):
    client.command(
        "CREATE TABLE types (a Nullable(Int64), b LowCardinality(String), c Array(String), d Map(String, UInt8),"
        " e DateTime64(3, 'UTC'), f Decimal(18, 4), g UUID, h IPv4, i Enum8('x' = 1)) ENGINE = Memory"
    )
    row = [None, "low", ["a", "b"], {"k": 1}, datetime.datetime(2026, 11, 16, 12, 0, 0, 5000), decimal.Decimal("1.5")]
    row += [uuid.UUID(int=7), "127.0.0.1", "x"]
    client.insert("types", [row])
    return [str(value) for value in client.query("SELECT * FROM types").first_row]


@step
def stream_rows(client):
    with client.query_row_block_stream("SELECT number FROM numbers(1000000)") as stream:
        return sum(row[0] for block in stream for row in block)


@step
def stream_bytes(client):
    with client.raw_stream("SELECT number FROM numbers(5)", fmt="CSV") as stream:
        return stream.read().decode()


@step
def server_parameters(client):
    statement = "SELECT {text:String}, {list:Array(UInt8)}"
    return client.query(statement, parameters={"text": "it's a \t tab", "list": [1, 2]}).result_rows[0]


@step
def client_parameters(client):
    return client.query("SELECT %(text)s, %(number)s", parameters={"text": "it's", "number": 13}).result_rows[0]


@step
def session_temporary_table(_):
    client = connect(session_id=str(uuid.uuid4()))
    client.command("CREATE TEMPORARY TABLE temporary (id UInt32)")
    client.insert("temporary", [[1], [2]], column_names=["id"])
    return client.command("SELECT sum(id) FROM temporary")


@step
def session_set(_):
    client = connect(session_id=str(uuid.uuid4()))
    client.command("SET max_threads = 3")
    return client.command("SELECT getSetting('max_threads')")


@step
def settings_of_a_query(client):
    return client.query("SELECT getSetting('max_block_size')", settings={"max_block_size": 123}).first_row[0]


@step
def external_data(client):
    data = ExternalData(file_name="cities.csv", data=b"1,Oslo\n2,Lima\n", fmt="CSV", structure=["id UInt32", "city String"])
    return client.query("SELECT city FROM cities ORDER BY id", external_data=data).result_columns


@step
def syntax_error(client):
    return read_error(lambda: client.command("SELEC 1"))


@step
def unknown_table(client):
    return read_error(lambda: client.query("SELECT * FROM missing"))


@step
def error_during_the_result(client):
    statement = "SELECT throwIf(number = 3000000) FROM numbers(4000000)"
    return read_error(lambda: client.query(statement).result_rows)


@step
def wrong_password(_):
    return read_error(lambda: clickhouse_connect.get_client(host=HOST, port=PORT, username="default", password="no"))


@step
def large_result(client):
    result = client.query("SELECT number, repeat('x', 100) FROM numbers(300000)", query_formats={"String": "bytes"})
    return [len(result.result_set), len(result.first_row[1])]


@step
def cancel(client):
    """Leaves a stream that would never end. The query ends too."""
    other = connect()
    query = "SELECT count() FROM system.processes WHERE query LIKE '%left by its client%' AND query_id != queryID()"
    stream = client.raw_stream("SELECT number, 'left by its client' FROM system.numbers", fmt="CSV")
    stream.read(100_000)
    running = other.command(query)
    stream.close()
    deadline = time.monotonic() + 60
    while other.command(query) > 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    return [running, other.command(query)]


@step
def query_summary(client):
    result = client.query("SELECT number FROM numbers(10)", settings={"wait_end_of_query": 1})
    return [result.summary["read_rows"], bool(result.query_id)]


@step
def list_tables_and_columns(client):
    tables = client.command("SHOW TABLES LIKE 'comm%'")
    columns = client.query("DESCRIBE TABLE commented").result_rows
    comment = client.command("SELECT comment FROM system.tables WHERE name = 'commented'")
    return [tables, [column[:2] for column in columns], comment]


@step
def another_database(client):
    client.command("CREATE DATABASE other")
    other = connect(database="other")
    other.command("CREATE TABLE t (x UInt8) ENGINE = Memory")
    return [other.command("SELECT currentDatabase()"), client.command("EXISTS TABLE other.t")]


@step
def database_api(_):
    connection = dbapi.connect(host=HOST, port=PORT, username="default", password=PASSWORD)
    cursor = connection.cursor()
    cursor.execute("SELECT number, toString(number) FROM numbers(3)")
    return [cursor.fetchall(), [column[0] for column in cursor.description]]


def main():
    client = None
    for run in STEPS:
        outcome = {"call": run.__name__}
        try:
            client = client or connect()
            outcome["result"] = run(client)
        except Exception as error:  # The test shows what failed.
            outcome["error"] = f"{type(error).__name__}: {error}"[:500]
        print(json.dumps(outcome, default=str), flush=True)


main()
