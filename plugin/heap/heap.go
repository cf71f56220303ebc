// Package heap decides how much garbage a process that reads tables may have before it is collected. It is for mains: a
// library has no business with it.
package heap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// gcPercent keeps the resident size of a scan lower than the default of 100 does, for little CPU: nearly all that is alive
	// is column buffers, which hold no pointers to follow.
	gcPercent = 40
	// small is the heap below which collecting is not worth its while: a look at a table, or a read of a few pages, is over
	// before. Go's own floor is 4 MiB times gcPercent/100, which a read of 10 ms passes several times.
	small = 32 << 20
	// limit is what the heap of an ordinary scan stays within: the default of scan.memory_limit, the pages that are decoded
	// and the program's own.
	limit = 96 << 20
	// mostAlive leaves room to allocate under limit. Where more is alive (hundreds of columns, a higher scan.memory_limit)
	// the collector would run all the time to keep the limit, so that there is none.
	mostAlive = limit / 4 * 3
)

// Bound sets how much garbage there may be. GOGC and GOMEMLIMIT in the environment win.
func Bound() {
	b := bounds{percent: os.Getenv("GOGC") == "", limit: os.Getenv("GOMEMLIMIT") == ""}
	if b.percent || b.limit {
		b.set()
	}
}

// bounds says which of the two are ours to set.
type bounds struct{ percent, limit bool }

// set sets the bounds that fit what is alive, now and after each run of the collector.
func (b bounds) set() {
	alive := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(alive)
	if n := alive[0].Value.Uint64(); b.percent {
		debug.SetGCPercent(percentFor(n))
	}
	if n := alive[0].Value.Uint64(); b.limit {
		debug.SetMemoryLimit(limitFor(n))
	}
	runtime.AddCleanup(new([64]byte), bounds.set, b) // nobody has it: the next run frees it
}

// percentFor lets the heap grow to small, or by gcPercent.
func percentFor(alive uint64) int {
	const base = 4 << 20 // below it Go counts with as much
	return max(gcPercent, 100*small/int(min(max(alive, base), small))-100)
}

func limitFor(alive uint64) int64 {
	if alive > mostAlive {
		return math.MaxInt64
	}
	return limit
}
