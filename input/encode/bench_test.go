package encode

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// eventsSchema is ten columns of usual types.
var eventsSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "id", Type: schema.Long, Nullable: true},
	{Name: "ts", Type: schema.Timestamp, Nullable: true},
	{Name: "date", Type: schema.Date, Nullable: true},
	{Name: "user", Type: schema.String, Nullable: true},
	{Name: "country", Type: schema.String, Nullable: true},
	{Name: "money", Type: schema.Double, Nullable: true},
	{Name: "score", Type: schema.Double, Nullable: true},
	{Name: "price", Type: schema.Decimal{Precision: 18, Scale: 4}, Nullable: true},
	{Name: "qty", Type: schema.Integer, Nullable: true},
	{Name: "active", Type: schema.Boolean, Nullable: true},
}}

func eventsBatch(t testing.TB, n int) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]record, n)
	for i := range rows {
		micros := int64(1_735_689_600_000_000) + int64(i)*1_036_800 + r.Int64N(1_036_800)
		rows[i] = record{
			int64(i), micros, micros / 86_400_000_000, fmt.Sprintf("%012x", r.Uint64()>>16), fmt.Sprintf("country-%d", r.IntN(200)),
			math.Round(r.Float64()*1e7) / 100, r.Float64(), big.NewInt(r.Int64N(11_000_000_000) - 1_000_000_000),
			r.Int64N(1000), r.IntN(2) == 0,
		}
		if r.IntN(20) == 0 {
			rows[i][5] = nil
		}
		if r.IntN(10) == 0 {
			rows[i][6] = nil
		}
	}
	return buildBatch(t, memory.NewGoAllocator(), eventsSchema, rows)
}

var nestedSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "id", Type: schema.Long, Nullable: true},
	{Name: "place", Type: &schema.Struct{Fields: []schema.Field{
		{Name: "city", Type: schema.String, Nullable: true}, {Name: "lat", Type: schema.Double, Nullable: true},
	}}, Nullable: true},
	{Name: "items", Type: &schema.Array{Element: &schema.Struct{Fields: []schema.Field{
		{Name: "sku", Type: schema.String, Nullable: true}, {Name: "n", Type: schema.Integer, Nullable: true},
	}}, ContainsNull: true}, Nullable: true},
	{Name: "tags", Type: &schema.Map{Key: schema.String, Value: schema.String, ValueContainsNull: true}, Nullable: true},
}}

func nestedBatch(t testing.TB, n int) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(3, 4))
	rows := make([]record, n)
	for i := range rows {
		items := make([]any, r.IntN(4))
		for k := range items {
			items[k] = record{fmt.Sprintf("sku-%d", r.IntN(10_000)), r.Int64N(9)}
		}
		tags := []pair{{"channel", "web"}, {"Sprache", "niederländisch"}}
		rows[i] = record{int64(i), record{"Zürich", r.Float64() * 90}, items, tags[:r.IntN(3)]}
	}
	return buildBatch(t, memory.NewGoAllocator(), nestedSchema, rows)
}

// BenchmarkJSON reports how many times faster a batch is encoded than by array.RecordToJSON, measured in turns.
func BenchmarkJSON(b *testing.B) {
	for _, c := range []struct {
		name   string
		schema *schema.Struct
		batch  arrow.RecordBatch
	}{
		{"events", eventsSchema, eventsBatch(b, 8192)},
		{"nested", nestedSchema, nestedBatch(b, 8192)},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkRatio(b, c.schema, c.batch) })
		c.batch.Release()
	}
}

func benchmarkRatio(b *testing.B, s *schema.Struct, batch arrow.RecordBatch) {
	const turns = 4 // ours is faster: as many batches of it as make the two of like weight to the collector
	e := mustEncoder(b, s, valuesOption{})
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		for range turns {
			if _, err := e.JSON(batch, Part{}); err != nil {
				b.Fatal(err)
			}
		}
		ours += time.Since(start)
		start = time.Now()
		if err := array.RecordToJSON(batch, io.Discard); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(start)
	}
	allocs := testing.AllocsPerRun(5, func() { _, _ = e.JSON(batch, Part{}) })
	rows := float64(batch.NumRows())
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N)/turns/rows, "ns/row")
	b.ReportMetric(allocs/rows, "allocs/row")
	b.ReportMetric(turns*theirs.Seconds()/ours.Seconds(), "×RecordToJSON")
}

func BenchmarkStructured(b *testing.B) {
	batch := eventsBatch(b, 8192)
	defer batch.Release()
	e := mustEncoder(b, eventsSchema, valuesOption{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Structured(batch, Part{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.NumRows()), "ns/row")
}
