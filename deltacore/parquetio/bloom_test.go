package parquetio

import (
	"context"
	"fmt"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// zeros is an object of zeros that counts its reads.
type zeros struct {
	storage.Object
	reads, bytes int
}

func (z *zeros) ReadAt(_ context.Context, buf []byte, _ int64) (int, error) {
	z.reads++
	z.bytes += len(buf)
	clear(buf)
	return len(buf), nil
}

// TestLongListsMakeFewRequestsOfABloomFilter: one of a size is read whole, of a larger one the first answers are asked for.
func TestLongListsMakeFewRequestsOfABloomFilter(t *testing.T) {
	for _, c := range []struct {
		size         int64
		reads, bytes int
		may          bool // of the last value
	}{
		{maxBloom, bloomRequests + 1, maxBloom + bloomRequests*bloomBlock, false},
		{maxBloom + bloomBlock, mostRequests, mostRequests * bloomBlock, true},
		{mostBloom, mostRequests, mostRequests * bloomBlock, true},
	} {
		object := &zeros{}
		b := &Bloom{file: &File{object: object, size: 2 * mostBloom}, off: 4, size: c.size}
		for i := range 10_000 {
			may, err := b.MayHold(t.Context(), fmt.Appendf(nil, "value %d", i))
			if err != nil || i < mostRequests && may || i == 9_999 && may != c.may {
				t.Fatalf("%d bytes: value %d may be there: %t, %v", c.size, i, may, err)
			}
		}
		if object.reads != c.reads || object.bytes != c.bytes {
			t.Errorf("%d bytes: want %d reads of %d bytes, got %d of %d", c.size, c.reads, c.bytes, object.reads, object.bytes)
		}
	}
}
