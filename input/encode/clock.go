package encode

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/jsonform"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// dates is a column of days since 1970-01-01.
type dates struct {
	values []arrow.Date32
	last   dayText
}

func (d *dates) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Date32)
	if ok {
		d.values = a.Date32Values()
	}
	return ok, nil
}

func (d *dates) unbind() { d.values = nil }

func (d *dates) append(dst []byte, i int) ([]byte, error) {
	dst = d.last.append(append(dst, '"'), int64(d.values[i]))
	return append(dst, '"'), nil
}

func (d *dates) value(i int) (any, error) {
	return string(d.last.append(nil, int64(d.values[i]))), nil
}

// timestamps is a column of microseconds since 1970-01-01T00:00:00, in UTC or without zone.
type timestamps struct {
	values []arrow.Timestamp
	micros bool   // write the number
	zone   string // of the Arrow type
	suffix string
	last   dayText
}

func newTimestamps(option, zone string) *timestamps {
	t := &timestamps{micros: option == "unix_micros", zone: zone}
	if zone != "" {
		t.suffix = "Z"
	}
	return t
}

func (t *timestamps) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Timestamp)
	if !ok {
		return false, nil
	}
	typ := a.DataType().(*arrow.TimestampType)
	if typ.Unit != arrow.Microsecond || typ.TimeZone != t.zone {
		return false, nil
	}
	t.values = a.TimestampValues()
	return true, nil
}

func (t *timestamps) unbind() { t.values = nil }

func (t *timestamps) append(dst []byte, i int) ([]byte, error) {
	if t.micros {
		return strconv.AppendInt(dst, int64(t.values[i]), 10), nil
	}
	return append(t.appendText(append(dst, '"'), int64(t.values[i])), '"'), nil
}

func (t *timestamps) value(i int) (any, error) {
	if t.micros {
		return int64(t.values[i]), nil
	}
	return string(t.appendText(nil, int64(t.values[i]))), nil
}

func (t *timestamps) appendText(dst []byte, micros int64) []byte {
	day := schema.FloorDiv(micros, schema.MicrosPerDay)
	dst = append(t.last.append(dst, day), 'T')
	return append(jsonform.AppendClock(dst, micros-day*schema.MicrosPerDay), t.suffix...)
}

// dayText is the text of the last day that was written: neighbouring rows mostly share it. The zero value is empty.
type dayText struct {
	day  int64
	text []byte
}

func (d *dayText) append(dst []byte, day int64) []byte {
	if day != d.day || len(d.text) == 0 {
		d.day, d.text = day, jsonform.AppendDay(d.text[:0], day)
	}
	return append(dst, d.text...)
}
