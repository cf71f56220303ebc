package parquetio

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
)

// packed is a run of numbers that grow by step, in parts without bits.
func packed(block, minis, total uint64, first, step int64) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, block), minis), total)
	out = binary.AppendVarint(out, first)
	for n := int64(total) - 1; n > 0; n -= int64(block) {
		out = append(binary.AppendVarint(out, step), make([]byte, minis)...)
	}
	return out
}

func TestWhatADeltaPageTakesIsKnownBeforeItIsDecoded(t *testing.T) {
	const lengths, both = 4, 8 // bytes a value
	good := packed(128, 4, 300, 0, 1)
	tests := map[string]struct {
		page     []byte
		encoding parquet.Encoding
		count    int
		want     int64
		text     string
	}{
		"numbers":            {good, parquet.Encodings.DeltaBinaryPacked, 300, 32 * 16, ""},
		"lengths":            {good, parquet.Encodings.DeltaLengthByteArray, 300, 300*lengths + 32*16, ""},
		"prefixes":           {append(good, packed(128, 4, 300, 7, 0)...), parquet.Encodings.DeltaByteArray, 300, 299*150 + 300*7 + 300*both, ""},
		"no values":          {nil, parquet.Encodings.DeltaByteArray, 0, 0, ""},
		"too few":            {good, parquet.Encodings.DeltaBinaryPacked, 301, 0, "it says that there are 300 values, its levels 301"},
		"too many":           {good, parquet.Encodings.DeltaBinaryPacked, 299, 0, "it says that there are 300 values, its levels 299"},
		"large parts":        {packed(1<<31, 1, 300, 0, 1), parquet.Encodings.DeltaBinaryPacked, 300, 0, "it packs 2147483648 values in 1 parts"},
		"no parts":           {packed(128, 0, 1, 0, 1), parquet.Encodings.DeltaBinaryPacked, 1, 0, "in 0 parts"},
		"a negative length":  {packed(128, 4, 300, 5, -1), parquet.Encodings.DeltaByteArray, 300, 0, "a length is -1"},
		"cut":                {good[:6], parquet.Encodings.DeltaByteArray, 300, 0, "it ends in the middle"},
		"nothing":            {nil, parquet.Encodings.DeltaBinaryPacked, 1, 0, "it ends in the middle"},
		"without its second": {good, parquet.Encodings.DeltaByteArray, 300, 0, "it ends in the middle"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := deltaSize(test.page, test.encoding, test.count)
			if got != test.want || (err == nil) != (test.text == "") || err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("want %d, %q, got %d, %v", test.want, test.text, got, err)
			}
		})
	}
}
