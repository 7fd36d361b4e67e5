import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.StringJoiner;
import java.util.UUID;

/** The first steps of a user of clickhouse-jdbc, and the calls of desktop tools. Prints one JSON line per step. */
public class JdbcSteps {
  interface Step {
    Object run(Connection connection) throws Exception;
  }

  interface Row<T> {
    T read(ResultSet row) throws SQLException;
  }

  static String url;
  static String password;

  public static void main(String[] args) throws Exception {
    url = "jdbc:clickhouse://" + args[0] + ":" + args[1];
    password = args[2];
    Connection connection = connect();
    run("connect", connection, c -> !c.isClosed());
    run("isValid", connection, c -> c.isValid(10));
    run("select", connection, c -> read(c, "SELECT 20 + 1", row -> row.getInt(1)));
    run("product", connection, c -> c.getMetaData().getDatabaseProductName());
    run("version", connection, c -> c.getMetaData().getDatabaseProductVersion());
    run("create table", connection, JdbcSteps::createTable);
    run("insert", connection, c -> update(c, "INSERT INTO events VALUES (1, 'one', now()), (2, 'two', now())"));
    run("insert a batch", connection, JdbcSteps::insertBatch);
    run("insert asynchronously", connection, JdbcSteps::insertAsynchronously);
    run("select rows", connection, c -> read(c, "SELECT name FROM events WHERE id < 3 ORDER BY id", r -> r.getString(1)));
    run("parameters", connection, JdbcSteps::parameters);
    run("types", connection, JdbcSteps::types);
    run("streaming", connection, JdbcSteps::stream);
    run("large result", connection, JdbcSteps::largeResult);
    run("without compression", connection, JdbcSteps::withoutCompression);
    run("compressed requests", connection, JdbcSteps::compressedRequests);
    run("SET in a session", connection, JdbcSteps::setInSession);
    run("temporary table", connection, JdbcSteps::temporaryTable);
    run("syntax error", connection, c -> readError(() -> read(c, "SELEC 1", row -> row.getString(1))));
    run("unknown table", connection, c -> readError(() -> read(c, "SELECT * FROM missing", row -> row.getString(1))));
    run("wrong password", connection, c -> readError(JdbcSteps::wrongPassword));
    run("cancel", connection, JdbcSteps::cancel);
    run("max_execution_time", connection, JdbcSteps::timeLimit);
    run("setSchema", connection, JdbcSteps::setSchema);
    run("getSchemas", connection, c -> list(c.getMetaData().getSchemas(), row -> row.getString("TABLE_SCHEM")));
    run("getCatalogs", connection, c -> list(c.getMetaData().getCatalogs(), row -> row.getString(1)).size());
    run("getTables", connection, JdbcSteps::getTables);
    run("getColumns", connection, JdbcSteps::getColumns);
    run("getPrimaryKeys", connection, JdbcSteps::getPrimaryKeys);
    run("getTableTypes", connection, c -> list(c.getMetaData().getTableTypes(), row -> row.getString(1)));
    run("getTypeInfo", connection, c -> list(c.getMetaData().getTypeInfo(), row -> row.getString(1)));
    run("getFunctions", connection, JdbcSteps::getFunctions);
    run("getIndexInfo", connection, c -> list(c.getMetaData().getIndexInfo(null, "default", "events", false, true), r -> r.getString(3)));
    run("ResultSetMetaData", connection, JdbcSteps::resultSetMetaData);
    connection.close();
  }

  static void run(String call, Connection connection, Step step) {
    String outcome;
    try {
      outcome = "\"result\":" + toJson(step.run(connection));
    } catch (Throwable error) {
      outcome = "\"error\":" + toJson(error.toString());
    }
    System.out.println("{\"call\":" + toJson(call) + "," + outcome + "}");
  }

  static Connection connect(String... options) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", "default");
    properties.setProperty("password", password);
    for (int i = 0; i < options.length; i += 2) properties.setProperty(options[i], options[i + 1]);
    return DriverManager.getConnection(url, properties);
  }

  static int update(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.executeUpdate(sql);
    }
  }

  static <T> List<T> read(Connection connection, String sql, Row<T> row) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return list(statement.executeQuery(sql), row);
    }
  }

  static <T> List<T> list(ResultSet rows, Row<T> row) throws SQLException {
    List<T> values = new ArrayList<>();
    while (rows.next()) values.add(row.read(rows));
    rows.close();
    return values;
  }

  static Object createTable(Connection connection) throws SQLException {
    update(connection, "CREATE TABLE events (id UInt32, name String, at DateTime) ENGINE = MergeTree ORDER BY id COMMENT 'what happened'");
    return read(connection, "EXISTS TABLE events", row -> row.getInt(1));
  }

  static Object insertBatch(Connection connection) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO events (id, name, at) VALUES (?, ?, ?)")) {
      for (int id = 100; id < 1100; id++) {
        insert.setInt(1, id);
        insert.setString(2, "it's \\ number " + id);
        insert.setTimestamp(3, new Timestamp(1_790_000_000_000L));
        insert.addBatch();
      }
      insert.executeBatch();
    }
    return read(connection, "SELECT count(), max(name) FROM events WHERE id >= 100", row -> row.getInt(1) + " " + row.getString(2));
  }

  static Object insertAsynchronously(Connection ignored) throws SQLException {
    try (Connection connection = connect("clickhouse_setting_async_insert", "1", "clickhouse_setting_wait_for_async_insert", "1")) {
      update(connection, "INSERT INTO events VALUES (3000, 'queued', now())");
      return read(connection, "SELECT name FROM events WHERE id = 3000", row -> row.getString(1));
    }
  }

  static Object parameters(Connection connection) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement("SELECT id FROM events WHERE name = ? AND id = ?")) {
      select.setString(1, "it's \\ number 100");
      select.setLong(2, 100);
      return list(select.executeQuery(), row -> row.getInt(1));
    }
  }

  static Object types(Connection connection) throws SQLException {
    String sql = "SELECT CAST(NULL, 'Nullable(Int64)'), toLowCardinality('low'), ['a', 'b'], map('k', 1), toDecimal64(1.5, 4),"
        + " toUUID('00000000-0000-0000-0000-000000000007'), toDateTime64('2026-11-16 12:00:00.005', 3, 'UTC'), toIPv4('127.0.0.1'), true";
    return read(connection, sql, row -> {
      Object array = row.getArray(3).getArray();
      return row.getObject(1) + " " + row.getString(2) + " " + Arrays.deepToString((Object[]) array) + " " + row.getObject(4) + " " + row.getBigDecimal(5)
          + " " + row.getObject(6) + " " + row.getTimestamp(7).getTime() + " " + row.getBoolean(9);
    });
  }

  static Object stream(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(1000);
      long sum = 0;
      try (ResultSet rows = statement.executeQuery("SELECT number FROM numbers(1000000)")) {
        while (rows.next()) sum += rows.getLong(1);
      }
      return sum;
    }
  }

  static Object largeResult(Connection connection) throws SQLException {
    return read(connection, "SELECT repeat('x', 100) FROM numbers(300000)", row -> row.getString(1).length()).size();
  }

  static Object withoutCompression(Connection ignored) throws SQLException {
    try (Connection connection = connect("compress", "false")) {
      return read(connection, "SELECT sum(number) FROM numbers(1000)", row -> row.getLong(1));
    }
  }

  static Object compressedRequests(Connection ignored) throws SQLException {
    try (Connection connection = connect("decompress", "true")) {
      update(connection, "INSERT INTO events VALUES (4000, '" + "x".repeat(10_000) + "', now())");
      return read(connection, "SELECT length(name) FROM events WHERE id = 4000", row -> row.getInt(1));
    }
  }

  static Object setInSession(Connection ignored) throws SQLException {
    try (Connection connection = connect("clickhouse_setting_session_id", UUID.randomUUID().toString())) {
      update(connection, "SET max_threads = 3");
      return read(connection, "SELECT getSetting('max_threads')", row -> row.getInt(1));
    }
  }

  static Object temporaryTable(Connection ignored) throws SQLException {
    try (Connection connection = connect("clickhouse_setting_session_id", UUID.randomUUID().toString())) {
      update(connection, "CREATE TEMPORARY TABLE temporary (id UInt32)");
      update(connection, "INSERT INTO temporary VALUES (1), (2)");
      return read(connection, "SELECT sum(id) FROM temporary", row -> row.getInt(1));
    }
  }

  interface Failing {
    Object run() throws SQLException;
  }

  static Object readError(Failing work) {
    try {
      work.run();
    } catch (SQLException error) {
      return error.getErrorCode() + " " + error.getMessage();
    }
    throw new AssertionError("there was no error");
  }

  static Object wrongPassword() throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", "default");
    properties.setProperty("password", "no");
    try (Connection connection = DriverManager.getConnection(url, properties)) {
      return read(connection, "SELECT 1", row -> row.getInt(1));
    }
  }

  static final String COUNT = "SELECT count() FROM system.processes WHERE query LIKE '%to be canceled%' AND query_id != queryID()";

  /** Another thread cancels a statement that would run for minutes. */
  static Object cancel(Connection connection) throws Exception {
    try (Connection other = connect(); Statement statement = connection.createStatement()) {
      Thread thread = new Thread(() -> {
        try {
          statement.executeQuery("SELECT 'to be canceled', sum(sipHash64(number)) FROM numbers(1000000000000)");
        } catch (SQLException canceled) {
          // Expected.
        }
      });
      thread.start();
      untilCount(other, 1);
      statement.cancel();
      untilCount(other, 0);
      thread.join(60_000);
      return !thread.isAlive();
    }
  }

  static void untilCount(Connection connection, int wanted) throws Exception {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (read(connection, COUNT, row -> row.getInt(1)).get(0) != wanted) {
      if (System.nanoTime() > deadline) throw new AssertionError("the number of running queries does not become " + wanted);
      Thread.sleep(50);
    }
  }

  static Object timeLimit(Connection ignored) throws SQLException {
    try (Connection connection = connect("clickhouse_setting_max_execution_time", "1")) {
      return readError(() -> read(connection, "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)", row -> row.getLong(1)));
    }
  }

  static Object setSchema(Connection ignored) throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE DATABASE other");
      connection.setSchema("other");
      return connection.getSchema() + " " + read(connection, "SELECT currentDatabase()", row -> row.getString(1));
    }
  }

  static Object getTables(Connection connection) throws SQLException {
    DatabaseMetaData data = connection.getMetaData();
    return list(data.getTables(null, "default", "ev%", new String[] {"TABLE"}), row -> row.getString("TABLE_NAME") + " " + row.getString("REMARKS"));
  }

  static Object getColumns(Connection connection) throws SQLException {
    return list(connection.getMetaData().getColumns(null, "default", "events", "%"), row -> row.getString("COLUMN_NAME") + " " + row.getString("TYPE_NAME"));
  }

  static Object getPrimaryKeys(Connection connection) throws SQLException {
    return list(connection.getMetaData().getPrimaryKeys(null, "default", "events"), row -> row.getString("COLUMN_NAME"));
  }

  static Object getFunctions(Connection connection) throws SQLException {
    return list(connection.getMetaData().getFunctions(null, null, "toString"), row -> row.getString("FUNCTION_NAME"));
  }

  static Object resultSetMetaData(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("SELECT * FROM events LIMIT 0")) {
      ResultSetMetaData data = rows.getMetaData();
      List<String> columns = new ArrayList<>();
      for (int i = 1; i <= data.getColumnCount(); i++) columns.add(data.getColumnName(i) + " " + data.getColumnTypeName(i));
      return columns;
    }
  }

  static String toJson(Object value) {
    if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
    if (value instanceof List) {
      StringJoiner items = new StringJoiner(",", "[", "]");
      for (Object item : (List<?>) value) items.add(toJson(item));
      return items.toString();
    }
    StringBuilder text = new StringBuilder("\"");
    for (char character : String.valueOf(value).toCharArray()) {
      if (character == '"' || character == '\\') text.append('\\').append(character);
      else if (character < ' ') text.append(String.format("\\u%04x", (int) character));
      else text.append(character);
    }
    return text.append('"').toString();
  }
}
