// The first steps of a user of clickhouse-go over the native protocol. Prints one JSON line per step.
//
// Arguments: host, port, password of the user `default`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func open(password string, compression clickhouse.CompressionMethod) (driver.Conn, error) {
	return clickhouse.Open(&clickhouse.Options{
		Addr:        []string{fmt.Sprintf("%s:%s", os.Args[1], os.Args[2])},
		Auth:        clickhouse.Auth{Username: "default", Password: password},
		Compression: &clickhouse.Compression{Method: compression},
		DialTimeout: 60 * time.Second,
		ReadTimeout: 60 * time.Second,
	})
}

func step(call string, run func() (any, error)) {
	result, err := run()
	line := map[string]any{"call": call}
	if err != nil {
		line["error"] = err.Error()
	} else {
		line["result"] = result
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func main() {
	ctx := context.Background()
	conn, err := open(os.Args[3], clickhouse.CompressionLZ4)
	if err != nil {
		panic(err)
	}
	step("version", func() (any, error) {
		var version string
		err := conn.QueryRow(ctx, "SELECT version()").Scan(&version)
		return version, err
	})
	step("ping", func() (any, error) { return true, conn.Ping(ctx) })
	step("create", func() (any, error) {
		return true, conn.Exec(ctx, "CREATE TABLE go_rows (id UInt32, name LowCardinality(String), tags Array(String)) ENGINE = MergeTree ORDER BY id")
	})
	step("batch", func() (any, error) {
		batch, err := conn.PrepareBatch(ctx, "INSERT INTO go_rows")
		if err != nil {
			return nil, err
		}
		for id := range 100000 {
			if err := batch.Append(uint32(id), fmt.Sprintf("name %d", id%10), []string{"a", "b"}); err != nil {
				return nil, err
			}
		}
		return true, batch.Send()
	})
	step("count", func() (any, error) {
		var count, sum uint64
		err := conn.QueryRow(ctx, "SELECT count(), sum(id) FROM go_rows WHERE name = ?", "name 3").Scan(&count, &sum)
		return []uint64{count, sum}, err
	})
	step("stream", func() (any, error) {
		plain, err := open(os.Args[3], clickhouse.CompressionNone)
		if err != nil {
			return nil, err
		}
		defer plain.Close()
		rows, err := plain.Query(ctx, "SELECT number, repeat('x', 20) FROM numbers(1000000)")
		if err != nil {
			return nil, err
		}
		count := 0
		for rows.Next() {
			count++
		}
		return count, rows.Err()
	})
	step("error", func() (any, error) {
		var exception *clickhouse.Exception
		if err := conn.Exec(ctx, "SELECT nothing"); !errors.As(err, &exception) {
			return nil, err
		}
		return exception.Code, nil
	})
	step("wrongPassword", func() (any, error) {
		wrong, err := open("wrong", clickhouse.CompressionLZ4)
		if err != nil {
			return nil, err
		}
		var exception *clickhouse.Exception
		if err := wrong.Ping(ctx); !errors.As(err, &exception) {
			return nil, err
		}
		return exception.Code, nil
	})
	step("cancel", func() (any, error) {
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err := conn.Exec(limited, "SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 100000000")
		return err != nil, nil
	})
	step("after", func() (any, error) {
		var user string
		err := conn.QueryRow(ctx, "SELECT currentUser()").Scan(&user)
		return user, err
	})
}
