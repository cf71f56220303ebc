package ack

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// shelf is a cache in memory. set and get come before its own work, where they are there.
type shelf struct {
	values map[string][]byte
	get    func(ctx context.Context, key string) error
	set    func(ctx context.Context, key string, value []byte) error
}

func newShelf() *shelf { return &shelf{values: map[string][]byte{}} }

func (s *shelf) Get(ctx context.Context, key string) ([]byte, error) {
	if s.get != nil {
		if err := s.get(ctx, key); err != nil {
			return nil, err
		}
	}
	value, ok := s.values[key]
	if !ok {
		return nil, ErrAbsent
	}
	return slices.Clone(value), nil
}

func (s *shelf) Set(ctx context.Context, key string, value []byte) error {
	if s.set != nil {
		if err := s.set(ctx, key, value); err != nil {
			return err
		}
	}
	s.values[key] = slices.Clone(value)
	return nil
}

// loaded is a store on a shelf, with what it warned of.
func loaded(t *testing.T, s *shelf) (*Store, Record, bool) {
	t.Helper()
	store := NewStore(s, "k", nil)
	r, found, err := store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return store, r, found
}

func save(t *testing.T, s *Store, versions ...int64) {
	t.Helper()
	for _, v := range versions {
		if err := s.Save(t.Context(), at(v)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreIsEmptyAtFirstAndKeepsTheLastPosition(t *testing.T) {
	s := newShelf()
	store, _, found := loaded(t, s)
	if found {
		t.Fatal("want nothing in an empty cache")
	}
	save(t, store, 1)
	if got := slices.Sorted(maps.Keys(s.values)); !slices.Equal(got, []string{"k_a", "k_b"}) {
		t.Errorf("want the first position under both keys, got %v", got)
	}
	for v := range int64(5) {
		save(t, store, v+2)
		if _, r, found := loaded(t, s); !found || r.Position != at(v+2) {
			t.Errorf("want version %d, got %v, %v", v+2, r, found)
		}
	}
}

func TestRestartedStoreGoesOnUnderTheOtherKey(t *testing.T) {
	s := newShelf()
	for v := range int64(6) {
		before := maps.Clone(s.values)
		store, r, found := loaded(t, s)
		if found != (v > 0) || found && r.Position != at(v-1) {
			t.Fatalf("want version %d, got %v", v-1, r)
		}
		save(t, store, v)
		same := 0
		for key, value := range before {
			if bytes.Equal(value, s.values[key]) {
				same++
			}
		}
		if v > 0 && same != 1 {
			t.Fatalf("version %d: want one of two keys to be written, got %d to be the same", v, same)
		}
	}
}

// tear leaves what a write that was cut short leaves: its beginning, alone or over the value before it.
func tear(before, value []byte, n int, inPlace bool) []byte {
	torn := slices.Clone(value[:n])
	if inPlace && len(before) > n {
		torn = append(torn, before[n:]...)
	}
	return torn
}

func TestWriteTornAtAnyByteLosesNothingBeforeIt(t *testing.T) {
	for saves := range 5 {
		for _, inPlace := range []bool{false, true} {
			s := newShelf()
			store, _, _ := loaded(t, s)
			for v := range saves {
				save(t, store, int64(v))
			}
			before := maps.Clone(s.values)
			var key string
			var value []byte
			s.set = func(_ context.Context, k string, v []byte) error {
				key, value = k, slices.Clone(v)
				return errors.New("killed")
			}
			if err := store.Save(t.Context(), at(int64(saves))); deltaerr.KindOf(err) != deltaerr.Transient {
				t.Fatalf("want a transient error, got %v", err)
			}
			for n := range len(value) + 1 {
				s := &shelf{values: maps.Clone(before)}
				s.values[key] = tear(before[key], value, n, inPlace)
				checkTorn(t, s, int64(saves), n)
			}
		}
	}
}

// checkTorn expects the position of the write that was torn at a byte, or the one before it, and that saving goes on.
func checkTorn(t *testing.T, s *shelf, version int64, n int) {
	t.Helper()
	store, r, found := loaded(t, s)
	if found != (version > 0 || r.Sequence > 0) || found && r.Position != at(version) && r.Position != at(version-1) {
		t.Fatalf("version %d torn at byte %d: got %v, %v", version, n, r, found)
	}
	save(t, store, version+1)
	if _, r, _ := loaded(t, s); r.Position != at(version+1) {
		t.Fatalf("version %d torn at byte %d: want what was saved after it, got %v", version, n, r)
	}
}

// A failed write may be torn, so the other key must stay as it is until one has succeeded.
func TestFailedWriteIsRepeatedUnderTheSameKey(t *testing.T) {
	s := newShelf()
	store, _, _ := loaded(t, s)
	save(t, store, 1, 2)
	var keys []string
	s.set = func(_ context.Context, key string, _ []byte) error {
		keys = append(keys, key)
		s.values[key] = nil
		if len(keys) < 3 {
			return errors.New("busy")
		}
		return nil
	}
	for range 2 {
		if store.Save(t.Context(), at(3)) == nil {
			t.Fatal("want an error")
		}
		if _, r, _ := loaded(t, &shelf{values: s.values}); r.Position != at(2) {
			t.Fatalf("want the version before, got %v", r)
		}
	}
	save(t, store, 3)
	if len(keys) != 3 || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("want one key, got %v", keys)
	}
}

func TestLoadJudgesWhatItFinds(t *testing.T) {
	good := func(sequence, version int64) []byte { return encoded(t, sequence, version) }
	later := func(sequence string) []byte { return sealed(`{"format":2,"sequence":` + sequence) }
	foreign := func(sequence, version int64) []byte {
		p := at(version)
		p.TableID = "u"
		text, _ := Record{Sequence: sequence, Position: p}.Encode()
		return text
	}
	torn := []byte(`{"format":1,"seq`)
	for name, c := range map[string]struct {
		a, b  []byte
		want  int64 // version; -1: none, -2: unresumable
		warns int
	}{
		"nothing":                        {nil, nil, -1, 0},
		"one record":                     {good(1, 3), nil, 3, 0},
		"the other record":               {nil, good(1, 3), 3, 0},
		"the later one":                  {good(7, 3), good(8, 2), 2, 0}, // a run that began anew
		"the later one first":            {good(8, 2), good(7, 3), 2, 0},
		"two writers":                    {good(7, 3), good(7, 2), 2, 0},
		"a torn one":                     {torn, good(7, 3), 3, 1},
		"a torn one behind":              {good(7, 3), torn, 3, 1},
		"an empty one":                   {good(7, 3), []byte{}, 3, 1},
		"a torn first write":             {torn, nil, -1, 1},
		"two torn ones":                  {torn, []byte{}, -2, 0},
		"a later format":                 {later("8"), good(7, 3), -2, 0},
		"a later format, written before": {later("6"), good(7, 3), 3, 1},
		"a later format alone":           {nil, later("6"), -2, 0},
		"another table":                  {foreign(7, 3), nil, 3, 0}, // for its user to find
	} {
		s := newShelf()
		for key, value := range map[string][]byte{"k_a": c.a, "k_b": c.b} {
			if value != nil {
				s.values[key] = value
			}
		}
		var warnings []string
		store := NewStore(s, "k", func(msg string) { warnings = append(warnings, msg) })
		r, found, err := store.Load(t.Context())
		switch {
		case len(warnings) != c.warns:
			t.Errorf("%s: want %d warnings, got %q", name, c.warns, warnings)
		case c.want == -2 && (deltaerr.KindOf(err) != deltaerr.Unresumable || !strings.Contains(err.Error(), "k_")):
			t.Errorf("%s: want an unresumable position, got %v, %v", name, r, err)
		case c.want > -2 && (err != nil || found != (c.want >= 0) || found && r.Position.Version != c.want):
			t.Errorf("%s: want version %d, got %v, %v, %v", name, c.want, r, found, err)
		}
		save(t, store, 9) // whatever was there, what is stored now is found
		if _, r, _ := loaded(t, s); r.Position != at(9) {
			t.Errorf("%s: want version 9 after it was saved, got %v", name, r)
		}
	}
}

// A new beginning that is cut short behind its first write stays a new beginning.
func TestFirstWriteOfANewBeginningCounts(t *testing.T) {
	s := newShelf()
	s.values["k_a"] = sealed(`{"format":2,"sequence":8`)
	store := NewStore(s, "k", nil)
	if _, _, err := store.Load(t.Context()); deltaerr.KindOf(err) != deltaerr.Unresumable {
		t.Fatalf("want an unresumable position, got %v", err)
	}
	writes := 0
	s.set = func(context.Context, string, []byte) error {
		writes++
		if writes > 1 {
			return errors.New("killed")
		}
		return nil
	}
	if store.Save(t.Context(), at(1)) == nil {
		t.Fatal("want an error")
	}
	if _, r, _ := loaded(t, &shelf{values: s.values}); r.Position != at(1) {
		t.Errorf("want the new beginning, got %v", r)
	}
}

func TestCacheThatGivesNoAnswerIsNoEmptyCache(t *testing.T) {
	s := newShelf()
	s.values["k_a"] = encoded(t, 1, 1)
	s.get = func(_ context.Context, key string) error {
		if key == "k_b" {
			return errors.New("refused")
		}
		return nil
	}
	store := NewStore(s, "k", nil)
	_, found, err := store.Load(t.Context())
	if found || deltaerr.KindOf(err) != deltaerr.Transient || !strings.Contains(err.Error(), "k_b: the cache gives no answer: refused") {
		t.Errorf("want a transient error, got %v, %v", found, err)
	}
	if err := store.Save(t.Context(), at(1)); deltaerr.KindOf(err) != deltaerr.Internal {
		t.Errorf("want no save without a load, got %v", err)
	}
}

func TestLastSequenceOfAllIsNotPassedSilently(t *testing.T) {
	s := newShelf()
	s.values["k_a"] = encoded(t, maxSequence, 3)
	store, _, _ := loaded(t, s)
	if err := store.Save(t.Context(), at(4)); deltaerr.KindOf(err) != deltaerr.Unresumable {
		t.Errorf("want an error, got %v", err)
	}
}
