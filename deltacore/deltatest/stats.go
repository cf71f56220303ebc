package deltatest

import (
	"cmp"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Stats returns the statistics of a data file as an add's stats text: row count, and for each column, inside structs
// too, null count, least and greatest value as far as its type has them (protocol ST1, ST3, ST4, ST8).
func Stats(record arrow.RecordBatch) string {
	least, greatest, nulls := map[string]any{}, map[string]any{}, map[string]any{}
	for i, f := range record.Schema().Fields() {
		addStats(f.Name, record.Column(i), least, greatest, nulls)
	}
	text, err := json.Marshal(struct {
		NumRecords int64          `json:"numRecords"`
		MinValues  map[string]any `json:"minValues"`
		MaxValues  map[string]any `json:"maxValues"`
		NullCount  map[string]any `json:"nullCount"`
	}{record.NumRows(), least, greatest, nulls}, json.Deterministic(true))
	must(err)
	return string(text)
}

func addStats(name string, column arrow.Array, least, greatest, nulls map[string]any) {
	if s, ok := column.(*array.Struct); ok {
		lo, hi, n := map[string]any{}, map[string]any{}, map[string]any{}
		for i := range s.NumField() {
			addStats(s.DataType().(*arrow.StructType).Field(i).Name, s.Field(i), lo, hi, n)
		}
		nulls[name] = n
		if len(lo) > 0 {
			least[name], greatest[name] = lo, hi
		}
		return
	}
	nulls[name] = column.NullN()
	order := orderOf(column)
	if order == nil || column.NullN() == column.Len() {
		return
	}
	lo, hi := extremes(column, order)
	if v, ok := lowerBound(column, lo); ok {
		least[name] = v
	}
	if v, ok := upperBound(column, hi); ok {
		greatest[name] = v
	}
}

// extremes returns the rows with the least and the greatest value; at least one is not null.
func extremes(column arrow.Array, order func(i, j int) int) (lo, hi int) {
	lo, hi = -1, -1
	for i := range column.Len() {
		if column.IsNull(i) {
			continue
		}
		if lo < 0 || order(i, lo) < 0 {
			lo = i
		}
		if hi < 0 || order(i, hi) > 0 {
			hi = i
		}
	}
	return lo, hi
}

// orderOf compares two rows of a column; nil for types without least and greatest values. NaN is above everything (ST5).
func orderOf(column arrow.Array) func(i, j int) int {
	switch c := column.(type) {
	case *array.Int8:
		return by(c.Value)
	case *array.Int16:
		return by(c.Value)
	case *array.Int32:
		return by(c.Value)
	case *array.Int64:
		return by(c.Value)
	case *array.Float32:
		return byFloat(func(i int) float64 { return float64(c.Value(i)) })
	case *array.Float64:
		return byFloat(c.Value)
	case *array.String:
		return by(c.Value)
	case *array.Date32:
		return by(c.Value)
	case *array.Timestamp:
		return by(c.Value)
	case *array.Decimal128:
		return func(i, j int) int { return c.Value(i).Cmp(c.Value(j)) }
	}
	return nil
}

func by[T cmp.Ordered](value func(int) T) func(i, j int) int {
	return func(i, j int) int { return cmp.Compare(value(i), value(j)) }
}

func byFloat(value func(int) float64) func(i, j int) int {
	return func(i, j int) int {
		a, b := value(i), value(j)
		if math.IsNaN(a) || math.IsNaN(b) {
			return cmp.Compare(isNaN(a), isNaN(b))
		}
		return cmp.Compare(a, b)
	}
}

func isNaN(x float64) int {
	if math.IsNaN(x) {
		return 1
	}
	return 0
}

// stringStatsLength is the number of characters of a string that statistics keep (ST3).
const stringStatsLength = 32

func lowerBound(column arrow.Array, row int) (any, bool) {
	if c, ok := column.(*array.String); ok {
		return prefix(c.Value(row)), true
	}
	return statsValue(column, row)
}

// upperBound appends the highest character to a string that was cut, so that it stays a bound.
func upperBound(column arrow.Array, row int) (any, bool) {
	c, ok := column.(*array.String)
	if !ok {
		return statsValue(column, row)
	}
	text := c.Value(row)
	if cut := prefix(text); cut != text {
		return cut + string(utf8.MaxRune), true
	}
	return text, true
}

func prefix(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), stringStatsLength)])
}

// statsValue is a value in the JSON form of statistics; ok is false where it has none (NaN, infinities).
func statsValue(column arrow.Array, row int) (v any, ok bool) {
	switch c := column.(type) {
	case *array.Decimal128:
		return jsontext.Value(decimalText(c, row)), true
	case *array.Timestamp:
		return timestampStats(c, row), true
	case *array.Date32:
		return c.Value(row).FormattedString(), true
	case *array.Float32:
		return c.Value(row), !math.IsNaN(float64(c.Value(row))) && !math.IsInf(float64(c.Value(row)), 0)
	case *array.Float64:
		return c.Value(row), !math.IsNaN(c.Value(row)) && !math.IsInf(c.Value(row), 0)
	}
	return jsontext.Value(column.ValueStr(row)), true
}

// timestampStats cuts to milliseconds (ST4).
func timestampStats(c *array.Timestamp, row int) string {
	unit := c.DataType().(*arrow.TimestampType)
	at := c.Value(row).ToTime(unit.Unit)
	if unit.TimeZone == "" {
		return at.Format("2006-01-02T15:04:05.000")
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// partitionText is a value as partitionValues spell it (protocol section 12); nil for null, and for an empty string,
// which Delta cannot tell from it.
func partitionText(column arrow.Array, row int) *string {
	if column.IsNull(row) {
		return nil
	}
	text := column.ValueStr(row)
	switch c := column.(type) {
	case *array.Timestamp:
		unit := c.DataType().(*arrow.TimestampType).Unit
		text = strings.TrimSuffix(c.Value(row).ToTime(unit).Format(time.DateTime+".000000"), ".000000")
	case *array.Decimal128:
		text = decimalText(c, row)
	case *array.Binary:
		text = string(c.Value(row))
	}
	if text == "" {
		return nil
	}
	return &text
}

func decimalText(c *array.Decimal128, row int) string {
	return c.Value(row).ToString(c.DataType().(*arrow.Decimal128Type).Scale)
}
