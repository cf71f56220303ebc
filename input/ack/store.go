package ack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// Cache is where records are kept. The caller may use what Get returns, and keeps what it gives to Set.
type Cache interface {
	// Get returns the value of a key, or an error that is ErrAbsent when there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Set replaces the value of a key. A Set that fails or is cut short may leave anything under that key, and nothing else
	// changed.
	Set(ctx context.Context, key string, value []byte) error
}

// ErrAbsent says that a cache has nothing under a key.
var ErrAbsent = errors.New("nothing is stored under the key")

// Store keeps the position of one input under two keys of a cache, KEY_a and KEY_b, which are written in turn. Caches may
// leave a torn value behind when a write is cut short (the file cache writes in place); the other key then still has the
// record before it. A Store is safe for concurrent use; two of them on one key are not.
type Store struct {
	cache   Cache
	keys    [2]string
	warn    func(string)
	reading string

	mu       sync.Mutex
	loaded   bool
	sequence int64 // the highest that was seen or written
	next     int   // index of the key to write: never that of the newest good record
	alone    bool  // a good record would be the only one: it is written to both keys
}

// NewStore returns the store of a key. warn is told of a damaged record that is passed over; nil: nobody.
func NewStore(cache Cache, key string, warn func(string)) *Store {
	if warn == nil {
		warn = func(string) {}
	}
	return &Store{cache: cache, keys: [2]string{key + "_a", key + "_b"}, warn: warn}
}

// Reads sets what the records say that is read, up to 1 KiB. It comes before everything else.
func (s *Store) Reads(what string) { s.reading = what }

// Load returns the newest record; false when nothing was stored yet. One damaged record is passed over. A position is there
// but cannot be used: that is a deltaerr Unresumable, after which Save begins anew. A cache that does not answer is a
// Transient error.
func (s *Store) Load(ctx context.Context) (Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var slots [2]slot
	for i, key := range s.keys {
		var err error
		if slots[i], err = s.read(ctx, key); err != nil {
			return Record{}, false, err
		}
	}
	newest := choose(slots)
	s.loaded, s.next, s.alone = true, 0, true
	s.sequence = max(s.sequence, slots[0].record.Sequence, slots[1].record.Sequence)
	if newest < 0 {
		return Record{}, false, s.nothingUsable(slots)
	}
	s.next = 1 - newest
	if err := slots[newest].err; err != nil {
		return Record{}, false, deltaerr.Annotate(err, s.phase("reading", s.keys[newest]), hintAnew)
	}
	s.alone = false
	s.passedOver(s.next, slots[s.next])
	return slots[newest].record, true, nil
}

var hintAnew = deltaerr.Hint("store one by hand with delta position set, or begin anew with on_unresumable_position: reset")

// slot is what was found under one of the keys.
type slot struct {
	record Record // its sequence is 0 unless it is whole
	err    error  // ErrAbsent, damaged or unresumable
}

// damaged says that there is something that cannot be used.
func (s slot) damaged() bool { return s.err != nil && !errors.Is(s.err, ErrAbsent) }

// read returns an error only when the cache has no answer.
func (s *Store) read(ctx context.Context, key string) (slot, error) {
	text, err := s.cache.Get(ctx, key)
	switch {
	case errors.Is(err, ErrAbsent):
		return slot{err: ErrAbsent}, nil
	case err != nil:
		return slot{}, deltaerr.New(deltaerr.Transient, "the cache gives no answer", s.phase("reading", key), deltaerr.Cause(err))
	}
	record, err := DecodeRecord(text)
	return slot{record: record, err: err}, nil
}

// choose returns the index of the whole record that was written last; -1: there is none. Equal sequences come from two
// writers: the lower position loses no row.
func choose(slots [2]slot) int {
	a, b := slots[0].record, slots[1].record
	switch {
	case a.Sequence == 0 && b.Sequence == 0:
		return -1
	case a.Sequence > b.Sequence, a.Sequence == b.Sequence && a.Position.Compare(b.Position) <= 0:
		return 0
	default:
		return 1
	}
}

// nothingUsable judges two keys without a whole record. One damaged record alone is the very first write, cut short: it is
// written to both keys before any row is handed out.
func (s *Store) nothingUsable(slots [2]slot) error {
	if slots[0].damaged() && slots[1].damaged() {
		return deltaerr.New(deltaerr.Unresumable, "both stored records are torn or were changed",
			s.phase("reading", s.keys[0]+" and "+s.keys[1]), hintAnew)
	}
	s.passedOver(0, slots[0])
	s.passedOver(1, slots[1])
	return nil
}

// passedOver warns of what is damaged.
func (s *Store) passedOver(i int, found slot) {
	if !found.damaged() {
		return
	}
	s.warn(fmt.Sprintf("The stored position %s is passed over: %v", s.keys[i], found.err))
}

func (s *Store) phase(doing, key string) deltaerr.Attr {
	return deltaerr.Phase("%s the stored position %s", doing, key)
}

// Save stores a position behind everything stored before. After an error it is not known whether the position was stored;
// what was stored before it is still there. Load comes first.
func (s *Store) Save(ctx context.Context, p feed.Position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		return deltaerr.New(deltaerr.Internal, "nothing was loaded before", s.phase("writing", s.keys[0]))
	}
	if err := s.write(ctx, p); err != nil || !s.alone {
		return err
	}
	err := s.write(ctx, p)
	s.alone = err != nil
	return err
}

// write writes the next record to the next key. A failed write is repeated under the same key, since the other one has the
// only record that is known to be whole.
func (s *Store) write(ctx context.Context, p feed.Position) error {
	s.sequence++
	text, err := Record{Sequence: s.sequence, Position: p, Reading: s.reading}.Encode()
	if err != nil {
		return err
	}
	key := s.keys[s.next]
	if err := s.cache.Set(ctx, key, text); err != nil {
		refused := deltaerr.New(deltaerr.Transient, "the cache did not take it", s.phase("writing", key), deltaerr.Cause(err))
		return deltaerr.Annotate(refused, hintsFor(err)...)
	}
	s.next = 1 - s.next
	return nil
}

// hintsFor says what may help where a cache does not take a value.
func hintsFor(err error) []deltaerr.Attr {
	if errors.Is(err, fs.ErrNotExist) {
		return []deltaerr.Attr{deltaerr.Hint("the directory of a file cache must exist: make it, and this is tried again")}
	}
	return nil
}
