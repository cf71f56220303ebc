//go:build unix

package datafile_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

var events = deltatest.Columns("id long", "ts timestamp", "date date", "user string", "country string", "money double",
	"score double", "price decimal(18,4)", "qty integer", "active boolean")

// BenchmarkEvents reads the files of the benchmark table in the directory DELTA_BENCH_EVENTS in turns with arrow-go's own
// reader and with this package. speed is the median of the ratios of the processor times: above 1 this package is faster.
func BenchmarkEvents(b *testing.B) {
	dir := os.Getenv("DELTA_BENCH_EVENTS")
	files, _ := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if dir == "" || len(files) == 0 {
		b.Skip("DELTA_BENCH_EVENTS names no directory with Parquet files")
	}
	raw := func(name string) {
		if _, err := deltatest.ReadRaw(name, parquetio.DefaultBatchRows); err != nil {
			b.Fatal(err)
		}
	}
	var ratios []float64
	var ours time.Duration
	var rows int64
	for range b.N {
		for _, name := range files {
			theirs := processorTime(func() { raw(name) })
			mine := processorTime(func() { rows += readFile(b, name) })
			ratios, ours = append(ratios, float64(theirs)/float64(mine)), ours+mine
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "speed")
	b.ReportMetric(float64(rows)/1e6/ours.Seconds(), "Mrow/cpu-s")
}

// processorTime is the time that the process spends in f: other processes do not count.
func processorTime(f func()) time.Duration {
	runtime.GC() // what was there before is not f's
	before := usage()
	f()
	return usage() - before
}

func usage() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func readFile(b *testing.B, name string) (rows int64) {
	root, err := storage.ParseURI(filepath.Dir(name))
	if err != nil {
		b.Fatal(err)
	}
	store, err := storage.NewLocal(root)
	if err != nil {
		b.Fatal(err)
	}
	reader, err := datafile.NewReader(store, datafile.Layout{Columns: events}, parquetio.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for batch, err := range reader.Read(context.Background(), scanplan.FileTask{File: filepath.Base(name)}) {
		if err != nil {
			b.Fatal(err)
		}
		rows += batch.Record.NumRows()
		batch.Record.Release()
	}
	return rows
}
