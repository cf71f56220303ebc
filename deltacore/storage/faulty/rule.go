package faulty

import (
	"cmp"
	"context"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Rule says which calls go wrong and how. Its zero value matches every call and does no harm.
type Rule struct {
	Op    storage.Operation // "": every operation
	Path  string            // pattern of path.Match for the path, or for its last element when it has no '/'; "": every path
	From  int               // the matching call that goes wrong first, counted from 1; 0: the first
	Calls int               // how many matching calls go wrong from there; 0: all
	Fault Fault
}

// Fault is what goes wrong with a call. What does not fit the operation is ignored.
type Fault struct {
	Delay time.Duration // wait first, as long as the context lasts
	Err   error         // fail with it,
	After int64         // after so many bytes (read, get) or entries (list). Without Err it fails with Broken

	Entries func([]storage.Entry) []storage.Entry // list: show these entries instead
	Content func([]byte) []byte                   // read, get, stat: the object holds these bytes instead
}

// Broken is the transient error of a connection that broke.
var Broken = deltaerr.New(deltaerr.Transient, "the connection broke (injected)")

// Vanished is the fault of an object that is no longer there.
func Vanished() Fault {
	return Fault{Err: deltaerr.New(deltaerr.NotFound, "vanished (injected)", deltaerr.Cause(fs.ErrNotExist))}
}

// Stale is the fault of a listing that does not show the last n names yet.
func Stale(n int) Fault {
	return Fault{Entries: func(entries []storage.Entry) []storage.Entry {
		slices.SortFunc(entries, func(a, b storage.Entry) int { return cmp.Compare(a.Path, b.Path) })
		return entries[:max(len(entries)-n, 0)]
	}}
}

// Shuffled is the fault of a listing in an order of its own. Equal seeds give equal orders of equal listings.
func Shuffled(seed uint64) Fault {
	return Fault{Entries: func(entries []storage.Entry) []storage.Entry {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		return entries
	}}
}

// FailCall fails the nth call of all, counted from 1, once: for sweeps over every call of a run.
func FailCall(n int, err error) Rule { return Rule{From: n, Calls: 1, Fault: Fault{Err: err}} }

func (r Rule) matches(c Call) bool {
	if r.Op != "" && r.Op != c.Op {
		return false
	}
	name := c.Path
	if !strings.Contains(r.Path, "/") {
		name = path.Base(name)
	}
	matched, _ := path.Match(r.Path, name)
	return matched || r.Path == ""
}

// hits says whether the nth matching call goes wrong.
func (r Rule) hits(n int) bool {
	from := max(r.From, 1)
	return n >= from && (r.Calls == 0 || n < from+r.Calls)
}

// begin waits and returns the error that a call fails with before it has handed out anything.
func (f Fault) begin(ctx context.Context) error {
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.After > 0 {
		return nil
	}
	return f.Err
}

// breaks returns the error after After bytes or entries.
func (f Fault) breaks() error {
	if f.Err == nil {
		return Broken
	}
	return f.Err
}
