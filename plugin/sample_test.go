package plugin_test

import (
	"bytes"
	"context"
	"testing"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest/orders"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/testdata/tables"
)

func TestEveryVersionOfTheSampleTableHasTheRowsOfItsGenerator(t *testing.T) {
	store := storage.NewMemory()
	if err := store.CopyFS("", tables.Orders()); err != nil {
		t.Fatal(err)
	}
	for version, rows := range orders.Sample().Versions {
		var want []byte
		for _, o := range rows {
			want = append(o.AppendJSON(want), '\n')
		}
		if got := jsonRows(t, store, int64(version)); !bytes.Equal(want, got) {
			t.Errorf("version %d: want %d rows\n%.300s\ngot\n%.300s", version, len(rows), want, got)
		}
	}
}

func TestSampleTableIsWhatItsPackageStates(t *testing.T) {
	if tables.OrdersRows != orders.SampleRows || tables.OrdersVersion != orders.SampleVersion {
		t.Errorf("package tables states version %d with %d rows, the generator makes version %d with %d rows",
			tables.OrdersVersion, tables.OrdersRows, orders.SampleVersion, orders.SampleRows)
	}
}

// jsonRows reads a version the way the input does, without an engine.
func jsonRows(t *testing.T, store storage.Store, version int64) []byte {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	table, err := deltacore.Open(ctx, "file:///orders", deltacore.Options{Store: store, Version: &version})
	if err != nil {
		t.Fatal(err)
	}
	scan, err := table.Scan(ctx, deltacore.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := configspec.Decode(map[string]any{"uri": "."}) // for its defaults
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := encode.New(scan.Columns(), config.Values)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		rows, err := encoder.JSON(batch.Record, encode.Part{})
		batch.Record.Release()
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows.Len() {
			text = append(append(text, rows.Row(i)...), '\n')
		}
	}
	return text
}
