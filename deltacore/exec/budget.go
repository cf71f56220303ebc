package exec

import (
	"slices"
	"sync"
)

// minCharge is what a result counts at least: its place in a queue. It bounds results of no size too.
const minCharge = 64

// Budget is a ceiling of bytes shared by any number of runs. Whoever fits is served first, not who came first: nobody
// starves, since the head of every run passes without the budget.
type Budget struct {
	limit int64

	mu      sync.Mutex
	inUse   int64
	waiting []*claim
}

// claim is a wish for bytes; granted is closed when it is fulfilled.
type claim struct {
	size    int64
	granted chan struct{}
}

// NewBudget returns a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Limit returns the ceiling in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// InUse returns the bytes held now.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inUse
}

// Hold charges bytes that are held already, until they are given to Return. It does not wait, even where it goes over the
// ceiling: then the others do, but for the heads.
func (b *Budget) Hold(size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inUse += size
}

// Return gives back what Hold has charged.
func (b *Budget) Return(size int64) { b.release(size) }

// take claims size bytes: nil when they are granted at once, else a claim to wait for or to withdraw.
func (b *Budget) take(size int64) *claim {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fits(size) {
		b.inUse += size
		return nil
	}
	c := &claim{size: size, granted: make(chan struct{})}
	b.waiting = append(b.waiting, c)
	return c
}

// release returns bytes and grants the claims that fit now.
func (b *Budget) release(size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inUse -= size
	b.waiting = slices.DeleteFunc(b.waiting, func(c *claim) bool {
		if !b.fits(c.size) {
			return false
		}
		b.inUse += c.size
		close(c.granted)
		return true
	})
}

// withdraw gives up a claim, and its bytes if they were granted meanwhile.
func (b *Budget) withdraw(c *claim) {
	if !b.forget(c) {
		b.release(c.size)
	}
}

// forget removes a claim that is still waiting; false: it was granted.
func (b *Budget) forget(c *claim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, c)
	if i < 0 {
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	return true
}

func (b *Budget) fits(size int64) bool { return size <= b.limit-b.inUse }
