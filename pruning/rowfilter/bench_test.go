package rowfilter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/pruning"
	"github.com/benthos-delta/benthos-delta/pruning/rowfilter"
)

const benchRows = 8192

// The figure that counts is Mvalues/s: of one column, on one core.
func BenchmarkMatch(b *testing.B) {
	batch := benchBatch(b)
	for _, c := range benchCases() {
		b.Run(c.name, func(b *testing.B) {
			filter, err := rowfilter.New(&pruning.Bound{Root: c.root, Columns: benchColumns}, batch.Schema())
			if err != nil {
				b.Fatal(err)
			}
			filter.Match(batch)
			b.ReportAllocs()
			for b.Loop() {
				filter.Match(batch)
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds()/1e6, "Mvalues/s")
		})
	}
}

var benchColumns = []pruning.Column{
	{Path: []string{"id"}, Type: pruning.Type{Kind: pruning.Integer, Bits: 64}},
	{Path: []string{"nullable"}, Type: pruning.Type{Kind: pruning.Integer, Bits: 64}},
	{Path: []string{"day"}, Type: pruning.Type{Kind: pruning.Date}},
	{Path: []string{"ratio"}, Type: pruning.Type{Kind: pruning.Double}},
	{Path: []string{"amount"}, Type: pruning.Type{Kind: pruning.Decimal, Precision: 18, Scale: 4}},
	{Path: []string{"user"}, Type: pruning.Type{Kind: pruning.String}},
}

type benchCase struct {
	name string
	root pruning.Node
}

func benchCases() []benchCase {
	many := func(n int, value func(int) pruning.Value) []pruning.Value {
		values := make([]pruning.Value, n)
		for i := range values {
			values[i] = value(i)
		}
		return values
	}
	greater := pruning.Compare{Column: 0, Op: pruning.Greater, Value: integer(500_000)}
	equalText := pruning.Compare{Column: 5, Op: pruning.Equal, Value: text("user-00000123")}
	return []benchCase{
		{"int64 >", greater},
		{"int64 > nulls", pruning.Compare{Column: 1, Op: pruning.Greater, Value: integer(500_000)}},
		{"int64 IN 3", pruning.In{Column: 0, Values: []pruning.Value{integer(3), integer(99), integer(1234)}}},
		{"int64 IN 1000 near", pruning.In{Column: 0, Values: many(1000, func(i int) pruning.Value { return integer(int64(2 * i)) })}},
		{"int64 IN 10000 far", pruning.In{Column: 0, Values: many(10_000, func(i int) pruning.Value { return integer(int64(97 * i)) })}},
		{"date <=", pruning.Compare{Column: 2, Op: pruning.LessEqual, Value: pruning.Value{Kind: pruning.Date, Int: 500_000}}},
		{"double <", pruning.Compare{Column: 3, Op: pruning.Less, Value: pruning.Value{Kind: pruning.Double, Float: 0.5}}},
		{"decimal >=", pruning.Compare{Column: 4, Op: pruning.GreaterEqual, Value: pruning.Value{Kind: pruning.Decimal, Decimal: pruning.Int128{Low: 500_000}}}},
		{"string =", equalText},
		{"string <", pruning.Compare{Column: 5, Op: pruning.Less, Value: text("user-00500000")}},
		{"string IN 3", pruning.In{Column: 5, Values: many(3, func(i int) pruning.Value { return text(fmt.Sprintf("user-%08d", i)) })}},
		{"string IN 10000", pruning.In{Column: 5, Values: many(10_000, func(i int) pruning.Value { return text(fmt.Sprintf("user-%08d", i)) })}},
		{"string LIKE prefix", pruning.Like{Column: 5, Pattern: pattern("user-005%")}},
		{"string LIKE infix", pruning.Like{Column: 5, Pattern: pattern("%005%")}},
		{"IS NULL", pruning.IsNull{Column: 1}},
		{"AND selective", pruning.And{Parts: []pruning.Node{equalText, pruning.Compare{Column: 0, Op: pruning.Less, Value: integer(1000)}}}},
		{"OR", pruning.Or{Parts: []pruning.Node{greater, equalText}}},
	}
}

// benchBatch has random values below 1,000,000, a tenth of them null in one column.
func benchBatch(b *testing.B) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "nullable", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "ratio", Type: arrow.PrimitiveTypes.Float64},
		{Name: "amount", Type: &arrow.Decimal128Type{Precision: 18, Scale: 4}},
		{Name: "user", Type: arrow.BinaryTypes.String},
	}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	random := rand.New(rand.NewPCG(1, 2))
	for range benchRows {
		v := random.Int64N(1_000_000)
		builder.Field(0).(*array.Int64Builder).Append(v)
		if random.IntN(10) == 0 {
			builder.Field(1).AppendNull()
		} else {
			builder.Field(1).(*array.Int64Builder).Append(v)
		}
		builder.Field(2).(*array.Date32Builder).Append(arrow.Date32(v))
		builder.Field(3).(*array.Float64Builder).Append(float64(v) / 1_000_000)
		builder.Field(4).(*array.Decimal128Builder).Append(decimal128.FromI64(v))
		builder.Field(5).(*array.StringBuilder).Append(fmt.Sprintf("user-%08d", v))
	}
	batch := builder.NewRecordBatch()
	b.Cleanup(batch.Release)
	return batch
}
