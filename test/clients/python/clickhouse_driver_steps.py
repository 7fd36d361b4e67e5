"""The first steps of a user of clickhouse-driver. Prints one JSON line per step.

Arguments: host, port, password of the user `default`.
"""

import datetime
import json
import sys

from clickhouse_driver import Client, connect as connect_dbapi
from clickhouse_driver.errors import Error

HOST, PORT, PASSWORD = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ROWS = [(number, f"name {number}") for number in range(1000)]
STEPS = []


def connect(**options):
    arguments = {"host": HOST, "port": PORT, "password": PASSWORD, "connect_timeout": 60, **options}
    return Client(**arguments)


def step(function):
    STEPS.append(function)
    return function


def read_code(work):
    try:
        work()
    except Error as error:
        return error.code
    raise AssertionError("there was no error")


CLIENT = connect()


@step
def connects():
    return CLIENT.execute("SELECT 20 + 1")


@step
def current_user():
    return CLIENT.execute("SELECT currentUser()")


@step
def inserts():
    CLIENT.execute("CREATE TABLE driver_rows (id UInt32, name String) ENGINE = MergeTree ORDER BY id")
    inserted = CLIENT.execute("INSERT INTO driver_rows VALUES", ROWS)
    return [inserted, *CLIENT.execute("SELECT count(), sum(id), argMax(name, id) FROM driver_rows")[0]]


@step
def inserts_compressed():
    with connect(compression="lz4") as compressed:
        compressed.execute("INSERT INTO driver_rows VALUES", ROWS)
        return compressed.execute("SELECT count(), any(length(name) > 0) FROM driver_rows")


@step
def types():
    row = CLIENT.execute(
        "SELECT toNullable(NULL), ['a', 'b'], map('k', 1), toDateTime('2026-11-16 12:00:00'), toDecimal32(1.5, 4)"
    )[0]
    assert isinstance(row[3], datetime.datetime)
    return [str(value) for value in row]


@step
def streams():
    return sum(number for (number,) in CLIENT.execute_iter("SELECT number FROM numbers(1000000)"))


@step
def parameters():
    return CLIENT.execute("SELECT %(text)s, %(number)s", {"text": "it's", "number": 13})


@step
def external_tables():
    tables = [{"name": "cities", "structure": [("name", "String")], "data": [{"name": "Oslo"}, {"name": "Lima"}]}]
    return CLIENT.execute("SELECT name FROM cities", external_tables=tables)


@step
def dbapi():
    with connect_dbapi(host=HOST, port=PORT, user="default", password=PASSWORD) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 AS one")
            return [cursor.fetchall(), cursor.description[0][0]]


@step
def another_database():
    CLIENT.execute("CREATE DATABASE driver_database")
    with connect(database="driver_database") as other:
        return other.execute("SELECT currentDatabase()")


@step
def unknown_table():
    return read_code(lambda: CLIENT.execute("SELECT * FROM missing"))


@step
def wrong_password():
    return read_code(lambda: connect(password="wrong").execute("SELECT 1"))


@step
def unknown_database():
    return read_code(lambda: connect(database="missing").execute("SELECT 1"))


@step
def cancel():
    with connect() as canceled:
        progress = canceled.execute_with_progress("SELECT count() FROM numbers(1000000000000)")
        next(iter(progress))
        canceled.cancel()
    return CLIENT.execute("SELECT 1")


for function in STEPS:
    try:
        print(json.dumps({"call": function.__name__, "result": function()}, default=str), flush=True)
    except Exception as error:  # noqa: BLE001
        print(json.dumps({"call": function.__name__, "error": f"{type(error).__name__}: {error}"}), flush=True)
