package parquetio_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// damaged are files whose bytes the sweeps damage: pages of both versions, with and without dictionaries and compression.
func damaged() map[string][]byte {
	record := ordersRecord(0, 150)
	return map[string][]byte{
		"v1":    deltatest.Parquet{RowGroupRows: 60, PageBytes: 200, BatchRows: 20}.File(record),
		"v2":    deltatest.Parquet{RowGroupRows: 60, PageBytes: 200, BatchRows: 20, PageVersion: 2, Codec: "ZSTD"}.File(record),
		"plain": deltatest.Parquet{Codec: "UNCOMPRESSED", NoDictionary: true, PageVersion: 2}.File(record),
		"delta": deltatest.Parquet{Encodings: map[string]string{"id": "DELTA_BINARY_PACKED", "name": "DELTA_BYTE_ARRAY"}}.File(record),
	}
}

// readDamaged opens and reads content and checks what must hold whatever the bytes are: an error, or all rows of the
// footer; nothing allocated that is not released; an end.
func readDamaged(t *testing.T, store storage.Store, size int64) error {
	t.Helper()
	start := time.Now()
	mem := checkedNow()
	f, err := parquetio.Open(context.Background(), store, path, size, parquetio.Options{Allocator: mem, FooterReadSize: 8})
	if err == nil {
		var rows int64
		if rows, err = countRows(f); err == nil && rows != f.NumRows() {
			t.Errorf("a clean end after %d of %d rows", rows, f.NumRows())
		}
	}
	if err != nil && deltaerr.KindOf(err) == deltaerr.Internal && !errors.Is(err, errStore) {
		t.Errorf("an internal error: %v", err)
	}
	if err != nil && (strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "makeslice")) {
		t.Errorf("the message is the decoder's: %v", err)
	}
	if n := mem.CurrentAlloc(); n != 0 {
		t.Errorf("%d bytes are left after %v", n, err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
	return err
}

func countRows(f *parquetio.File) (rows int64, err error) {
	for g := range f.RowGroups() {
		for batch, err := range f.ReadRowGroup(context.Background(), g, allLeaves(f)) {
			if err != nil {
				return rows, err
			}
			rows += batch.NumRows()
			for _, c := range batch.Columns() {
				checkData(c.Data())
			}
			batch.Release()
		}
	}
	return rows, nil
}

func TestACutFileIsNeverACleanEnd(t *testing.T) {
	for name, content := range damaged() {
		t.Run(name, func(t *testing.T) {
			for n := 0; n < len(content); n += 131 {
				if err := readDamaged(t, storeWith(content[:n]), int64(n)); err == nil {
					t.Fatalf("cut at byte %d: want an error", n)
				}
			}
		})
	}
}

// TestLostPagesAreNeverACleanEnd keeps the footer: the file is cut while it is read, or bytes in the middle are missing.
func TestLostPagesAreNeverACleanEnd(t *testing.T) {
	for name, content := range damaged() {
		t.Run(name, func(t *testing.T) {
			size := int64(len(content))
			footer := size - 8 - int64(binary.LittleEndian.Uint32(content[size-8:]))
			for n := int64(4); n < footer; n += 131 {
				store := &cutStore{Store: storeWith(content), from: n, to: footer}
				if err := readDamaged(t, store, size); err == nil {
					t.Errorf("cut at byte %d: want an error", n)
				}
				hole := append(append([]byte{}, content[:n]...), content[min(size, n+61):]...)
				_ = readDamaged(t, storeWith(hole), int64(len(hole)))
			}
		})
	}
}

// cutStore has no bytes from one offset to another.
type cutStore struct {
	storage.Store
	from, to int64
}

func (s *cutStore) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	if off+int64(len(buf)) <= s.from || off >= s.to {
		return s.Store.ReadAt(ctx, path, buf, off)
	}
	n := max(0, s.from-off)
	_, err := s.Store.ReadAt(ctx, path, buf[:n], off)
	return int(n), errors.Join(err, io.EOF)
}

func TestFlippedBitsNeverPanicOrLoseRows(t *testing.T) {
	flips := 150
	if testing.Short() {
		flips = 30
	}
	for name, content := range damaged() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(len(content))))
			failed := 0
			for range flips {
				broken := append([]byte{}, content...)
				for range 1 + random.IntN(3) {
					broken[random.IntN(len(broken))] ^= 1 << random.IntN(8)
				}
				if readDamaged(t, storeWith(broken), int64(len(broken))) != nil {
					failed++
				}
			}
			t.Logf("%d of %d were noticed", failed, flips)
		})
	}
}

var errStore = errors.New("the store is gone")

func TestAFailingStoreIsReportedAsWhatItIs(t *testing.T) {
	content := damaged()["v1"]
	transient := deltaerr.New(deltaerr.Transient, "busy", deltaerr.Cause(errStore))
	for n := 1; ; n++ {
		store := &countingStore{Store: storeWith(content), failAt: n, failWith: transient}
		err := readDamaged(t, store, int64(len(content)))
		if store.reads < n {
			if err != nil {
				t.Errorf("no read failed, but got %v", err)
			}
			return
		}
		if !errors.Is(err, errStore) || !deltaerr.Retryable(err) {
			t.Fatalf("read %d failed: want the store's transient error, got %v", n, err)
		}
	}
}

func TestACancelledReadEndsWithTheContextsError(t *testing.T) {
	f := open(t, damaged()["v1"], parquetio.Options{Allocator: checked(t), BatchRows: 10})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for batch, err := range f.ReadRowGroup(ctx, 0, allLeaves(f)) {
		if last = err; err == nil {
			batch.Release()
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("want canceled, got %v", last)
	}
}
