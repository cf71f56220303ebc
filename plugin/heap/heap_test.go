package heap

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestHeapIsLimitedUnlessMoreIsAlive(t *testing.T) {
	for alive, want := range map[uint64]int64{0: limit, mostAlive: limit, mostAlive + 1: math.MaxInt64, 1 << 40: math.MaxInt64} {
		if got := limitFor(alive); got != want {
			t.Errorf("%d bytes alive: want the limit %d, got %d", alive, want, got)
		}
	}
}

func TestSmallHeapIsNotCollected(t *testing.T) {
	for alive, want := range map[uint64]int{0: 700, 4 << 20: 700, 16 << 20: 100, 23 << 20: gcPercent, 1 << 40: gcPercent} {
		if got := percentFor(alive); got != want {
			t.Errorf("%d bytes alive: want %d percent, got %d", alive, want, got)
		}
	}
}

func TestBoundsFollowWhatIsAlive(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	bounds{percent: true, limit: true}.set()
	much := make([]byte, mostAlive+1)
	await(t, func() bool { return debug.SetMemoryLimit(-1) == math.MaxInt64 })
	runtime.KeepAlive(much) // and no longer
	await(t, func() bool { return debug.SetMemoryLimit(-1) == limit })
}

// await runs the collector until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for range 200 {
		runtime.GC()
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("want the bounds to follow")
}
