package schema

import (
	"encoding/binary"
	"fmt"
	"math"
)

// INT96 is a point in time as old Parquet files have it (protocol Q1). The nanoseconds may be negative or more than a day.
type INT96 struct {
	Nanos int64 // of the day
	Day   int64 // its Julian number
}

// INT96Size is the number of its bytes.
const INT96Size = 12

const julianEpoch = 2_440_588 // the Julian day of 1970-01-01

// ReadINT96 reads the 12 bytes of one.
func ReadINT96(b []byte) INT96 {
	return INT96{int64(binary.LittleEndian.Uint64(b)), int64(int32(binary.LittleEndian.Uint32(b[8:])))}
}

// Micros is µs since 1970-01-01, towards the past; ok is false where an int64 cannot hold them. The way leads past int64
// nanoseconds, which end in the year 2262.
func (t INT96) Micros() (micros int64, ok bool) {
	base, ok := DayMicros(t.Day - julianEpoch)
	offset := FloorDiv(t.Nanos, 1000)
	micros = base + offset
	overflow := (micros > base) != (offset > 0) && offset != 0
	return micros, ok && !overflow
}

// String names it in messages.
func (t INT96) String() string { return fmt.Sprintf("INT96(%d ns, Julian day %d)", t.Nanos, t.Day) }

const mostDays = math.MaxInt64/MicrosPerDay - 1

// DayMicros is µs since 1970-01-01 of the beginning of a day; ok is false where an int64 cannot hold them.
func DayMicros(days int64) (micros int64, ok bool) {
	return days * MicrosPerDay, days <= mostDays && days >= -mostDays
}
