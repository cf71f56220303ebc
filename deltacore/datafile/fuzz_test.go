package datafile_test

import (
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// fuzzed are files with what conversions look at byte by byte, and how they are read.
func fuzzed() []reading {
	nested := nestedColumns()
	base, version := int64(5), int64(1)
	tracked := trackedReading(file(deltatest.Columns("_id-1 long", "_version-1 long", "a long"),
		`{"a": 1, "_id-1": 7}`, `{"a": 2}`, `{"a": 3, "_version-1": 2}`))
	tracked.baseRowID, tracked.commitVersion = &base, &version
	tracked.tracking = &datafile.RowTracking{IDColumn: "_id-1", VersionColumn: "_version-1"}
	return []reading{
		{content: oldFile(writtenBy("2.4.5")), columns: oldColumns},
		{content: mappedFile(nested, nestedRow, `{}`, nestedRow), columns: nested, mapping: schema.MapByID},
		{content: mappedFile(nested, nestedRow, `{}`, nestedRow), columns: nested, mapping: schema.MapByName},
		{
			content: file(deltatest.Columns("x decimal(30,2)", "y integer", "z float"), `{"x": "1.25", "y": 7, "z": 0.5}`, `{}`, `{"x": "-1"}`),
			columns: deltatest.Columns("x decimal(38,6)", "y decimal(20,4)", "z double"),
		},
		tracked,
	}
}

// FuzzFile changes bytes of a file and gives it any vector: there are rows, or an error that is not this module's own fault.
func FuzzFile(f *testing.F) {
	files := fuzzed()
	for i, r := range files {
		for at := 4; at < len(r.content)-100; at += len(r.content) / 6 {
			d := deltatest.InlineVector(deltatest.Bitmap{Native: i%2 == 0}, 1)
			f.Add(uint8(i), uint16(at), r.content[at:at+20], d.PathOrInlineDv, d.SizeInBytes, int64(1))
		}
	}
	f.Add(uint8(0), uint16(0), []byte{}, "", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, which uint8, at uint16, put []byte, vector string, size, cardinality int64) {
		r := files[int(which)%len(files)]
		r.content = append([]byte{}, r.content...)
		copy(r.content[int(at)%len(r.content):], put)
		if vector != "" {
			r.vector = &action.DeletionVector{StorageType: "i", PathOrInlineDv: vector, SizeInBytes: size, Cardinality: cardinality}
		}
		for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
			if err != nil {
				if deltaerr.KindOf(err) == deltaerr.Internal {
					t.Fatal(err)
				}
				return
			}
			if batch.Index != nil {
				r.checkNumbers(t, batch, 0)
			}
			batch.Record.Release()
		}
	})
}
