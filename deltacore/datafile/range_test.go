package datafile_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// rangedReading is of a file of 20 row groups, one of them without a live row.
func rangedReading() reading {
	columns := deltatest.Columns("id long")
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
	}
	deleted := []int64{3, 14, 199}
	for row := int64(50); row < 60; row++ {
		deleted = append(deleted, row)
	}
	vector := deltatest.InlineVector(deltatest.Bitmap{}, deleted...)
	return reading{
		content: deltatest.Parquet{RowGroupRows: 10, NoDictionary: true}.File(deltatest.Rows(columns, rows...)),
		columns: columns, vector: &vector, from: 7, batchRows: 4,
	}
}

func TestRangesOfAFileHaveItsRowsBetweenThem(t *testing.T) {
	r := rangedReading()
	want, err := r.rows(t)
	if err != nil || len(want) != 193-12 {
		t.Fatalf("want %d rows, got %d, %v", 193-12, len(want), err)
	}
	reader, task := r.reader(t), r.task()
	for _, target := range []int{1, 2, 3, 7, 64, 300} {
		partitions, err := scanplan.Divide([]int64{task.Size}, scanplan.Options{Target: target, Policy: scanplan.Always})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range partitions {
			for _, part := range p.Parts {
				task.Range = part.Range
				for batch, err := range reader.Read(t.Context(), task) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, jsonRows(batch.Record)...)
					batch.Record.Release()
				}
			}
		}
		if !slices.Equal(want, got) {
			t.Errorf("%d ranges: want %d rows, got %d", len(partitions), len(want), len(got))
		}
	}
}

func TestUnitsOfAFileAreReadAtTheSameTime(t *testing.T) {
	r := rangedReading()
	want, err := r.rows(t)
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.reader(t).Open(t.Context(), r.task())
	if err != nil {
		t.Fatal(err)
	}
	units := f.Units()
	if len(units) != 19 || units[0] != (datafile.Unit{RowGroup: 0, Rows: 10, Bytes: units[0].Bytes, Offset: 4}) || units[5].FirstRow != 60 || units[0].Bytes <= 0 {
		t.Errorf("want the 19 row groups that have a live row, got %+v", units)
	}
	rows := make([][]string, len(units))
	var group sync.WaitGroup
	for i, u := range units {
		group.Go(func() {
			for batch, err := range f.Read(t.Context(), u) {
				if err != nil {
					t.Error(err)
					return
				}
				rows[i] = append(rows[i], jsonRows(batch.Record)...)
				batch.Record.Release()
			}
		})
	}
	group.Wait()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if got := slices.Concat(rows...); !slices.Equal(want, got) {
		t.Errorf("want %d rows, got %d", len(want), len(got))
	}
}
