package datafile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// BenchmarkDeletedRows reads a file under vectors of scattered rows. What a vector costs is the difference to none.
func BenchmarkDeletedRows(b *testing.B) {
	const rows = 65536
	tables := map[string]*schema.Struct{
		"flat":   events,
		"nested": deltatest.Columns("id long", "s struct<a:string,b:integer>", "l array<long>", "m map<string,string>"),
	}
	for _, name := range []string{"flat", "nested"} {
		content := deltatest.Parquet{}.File(deltatest.Rows(tables[name], benchRows(name, rows)...))
		for _, percent := range []int{0, 2, 50, 98} {
			b.Run(fmt.Sprintf("%s/%d%%", name, percent), func(b *testing.B) {
				store := storage.NewMemory()
				store.Put(path, content)
				reader, err := datafile.NewReader(store, datafile.Layout{Columns: tables[name]}, parquetio.Options{})
				if err != nil {
					b.Fatal(err)
				}
				task := scanplan.FileTask{File: path, Size: int64(len(content)), DeletionVector: scattered(rows, percent)}
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					for batch, err := range reader.Read(context.Background(), task) {
						if err != nil {
							b.Fatal(err)
						}
						batch.Record.Release()
					}
				}
				b.ReportMetric(float64(rows)*float64(b.N)/1e6/b.Elapsed().Seconds(), "Mrow/s")
			})
		}
	}
}

func scattered(rows, percent int) *action.DeletionVector {
	if percent == 0 {
		return nil
	}
	random := rand.New(rand.NewPCG(1, 2))
	var deleted []int64
	for row := range int64(rows) {
		if random.IntN(100) < percent {
			deleted = append(deleted, row)
		}
	}
	v := deltatest.InlineVector(deltatest.Bitmap{}, deleted...)
	return &v
}

func benchRows(table string, n int) []string {
	rows := make([]string, n)
	for i := range rows {
		if table == "flat" {
			rows[i] = fmt.Sprintf(`{"id": %d, "ts": "2025-01-01T00:00:%02dZ", "date": "2025-01-%02d", "user": "user-%d", "country": "c%d", `+
				`"money": %d.5, "score": null, "price": "%d.25", "qty": %d, "active": %t}`,
				i, i%60, i%28+1, i*7919%100000, i%200, i, i, i%9, i%2 == 0)
			continue
		}
		rows[i] = fmt.Sprintf(`{"id": %d, "s": {"a": "text %d", "b": %d}, "l": [%d, null, 3], "m": {"k": "v%d"}}`, i, i, i%7, i, i)
	}
	return rows
}
