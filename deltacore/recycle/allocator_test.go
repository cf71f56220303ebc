package recycle

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"
)

func TestClassesHoldWhatTheyAreFor(t *testing.T) {
	previous, size := -1, 0
	for n := least + 1; n <= most; n += 61 {
		index, capacity := class(n)
		switch {
		case capacity < n || capacity > n+n/4+1:
			t.Fatalf("want room for %d bytes and at most a quarter more, got %d", n, capacity)
		case index == previous && capacity != size, index < previous, index > previous+1:
			t.Fatalf("%d bytes: class %d of %d bytes comes after class %d of %d", n, index, capacity, previous, size)
		}
		previous, size = index, capacity
		if again, same := class(capacity); again != index || same != capacity {
			t.Fatalf("want class %d for its own size, got %d", index, again)
		}
	}
	if want := len(new(Allocator).free) - 1; previous != want {
		t.Errorf("want the last class to be %d, got %d", want, previous)
	}
}

func TestBuffersAreAlignedAndClear(t *testing.T) {
	a := new(Allocator)
	for _, size := range []int{0, 1, 100, least, least + 1, 65536, 65600, most, most + 1} {
		for range 3 { // the later ones may have been used before
			b := a.Allocate(size)
			if len(b) != size || bytes.Trim(b, "\x00") != nil && len(bytes.Trim(b, "\x00")) > 0 {
				t.Fatalf("want %d clear bytes, got %d", size, len(b))
			}
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); size > 0 && at%64 != 0 {
				t.Errorf("%d bytes: want them aligned to 64, got %d", size, at%64)
			}
			for i := range b {
				b[i] = 0xff
			}
			a.Free(b)
		}
	}
}

func TestReallocateKeepsWhatWasThere(t *testing.T) {
	a := new(Allocator)
	b := a.Allocate(5000)
	copy(b, "kept")
	b = a.Reallocate(100_000, b)
	b = a.Reallocate(4, b)
	if string(b) != "kept" {
		t.Errorf("want kept, got %q", b)
	}
	a.Free(b[:cap(b)])
}

// TestNoBufferIsHandedOutTwice writes to buffers while others do.
func TestNoBufferIsHandedOutTwice(t *testing.T) {
	a := new(Allocator)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 500 {
				b := a.Allocate(5000 + i%3*10_000)
				for k := range b {
					b[k] = byte(worker)
				}
				if bytes.Count(b, []byte{byte(worker)}) != len(b) {
					t.Error("want a buffer of its own, another has written to it")
				}
				a.Free(b)
			}
		})
	}
	group.Wait()
}

func TestForeignBuffersAreNotTaken(t *testing.T) {
	a := new(Allocator)
	foreign := make([]byte, 70_001)
	a.Free(foreign)
	if b := a.Allocate(len(foreign)); unsafe.SliceData(b) == unsafe.SliceData(foreign) {
		t.Error("want another buffer")
	}
}
