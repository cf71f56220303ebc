package schema_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// TestInstantsOfINT96 covers Q1 and C5: the form of timestamps that Spark's files and checkpoints have.
func TestInstantsOfINT96(t *testing.T) {
	const day = schema.MicrosPerDay
	for _, c := range []struct {
		day   uint32
		nanos int64
		want  int64
		ok    bool
	}{
		{2_440_588, 0, 0, true},
		{2_440_587, 86_399_999_999_999, -1, true},
		{2_460_432, 43_200_123_456_789, 1714564800123456, true},
		{2_440_588, -1, -1, true},
		{2_440_588, 86_400_000_000_000, day, true},
		{math.MaxUint32, 0, -2_440_589 * day, true},
		{2_440_588 + 106_751_990, 0, 106_751_990 * day, true},
		{2_440_588 + 106_751_991, 14_454_775_807_000, 0, false},
		{math.MaxInt32, 0, 0, false},
		{1 << 31, math.MinInt64, 0, false},
	} {
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(c.nanos)), c.day)
		at := schema.ReadINT96(b)
		if got, ok := at.Micros(); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: want %d, %t, got %d, %t", at, c.want, c.ok, got, ok)
		}
	}
}
