package datafile

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// bindTimestamp accepts all forms of a point in time, with or without the UTC flag, for both types: writers did not
// always set it. What is finer than a microsecond is floored (protocol Q2).
func bindTimestamp(f parquetio.Field, w wantedField) (converter, bool) {
	micros, ok := toMicros(f, w.out)
	return micros.then(w.from.calendar.microsOf(f, w.Type)), ok
}

func toMicros(f parquetio.Field, out arrow.DataType) (converter, bool) {
	switch t := f.Type.(type) {
	case *arrow.Int64Type:
		return retype(out), f.Logical == "" // an INT64 without annotation holds microseconds
	case *arrow.FixedSizeBinaryType:
		return int96ToMicros(out), f.Physical == "INT96"
	case *arrow.TimestampType:
		switch t.Unit {
		case arrow.Millisecond:
			return each(out, millisToMicros), true
		case arrow.Microsecond:
			return retype(out), true
		case arrow.Nanosecond:
			return each(out, func(v int64) (int64, bool) { return schema.FloorDiv(v, 1000), true }), true
		}
	}
	return nil, false
}

func millisToMicros(v int64) (int64, bool) {
	return v * 1000, v <= math.MaxInt64/1000 && v >= math.MinInt64/1000
}

func datesToMicros(out arrow.DataType) converter {
	return each(out, func(days int32) (int64, bool) { return schema.DayMicros(int64(days)) })
}

func int96ToMicros(out arrow.DataType) converter {
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		buf, micros := newValues[int64](mem, d.Len())
		defer buf.Release()
		if d.Len() > 0 {
			if err := fillMicros(micros, d, out); err != nil {
				return nil, err
			}
		}
		return fixedData(out, d, buf), nil
	}
}

func fillMicros(micros []int64, d arrow.ArrayData, out arrow.DataType) error {
	in, valid := d.Buffers()[1].Bytes(), arrowdata.Valid(d)
	for i := range micros {
		at := schema.ReadINT96(in[schema.INT96Size*i:])
		var ok bool
		if micros[i], ok = at.Micros(); !ok && valid(i) {
			return doesNotFit(at.String(), out)
		}
	}
	return nil
}
