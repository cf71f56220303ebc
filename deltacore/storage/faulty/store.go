// Package faulty answers "what happens when the storage misbehaves here?": a store that wraps another one and lets
// chosen calls go wrong. It is for tests. Without rules it behaves as the store that it wraps.
package faulty

import (
	"bytes"
	"context"
	"io"
	"iter"
	"path"
	"slices"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Store injects faults into the calls of another store. It is safe for concurrent use.
type Store struct {
	inner storage.Store

	mu    sync.Mutex
	rules []rule
	calls []Call
}

// rule counts the calls that its Rule matched.
type rule struct {
	Rule
	matched int
}

// Call is one call of a store: the start of a listing, a ReadAt of the store or of an open object, a Get, Stat or Open.
type Call struct {
	Op   storage.Operation
	Path string // of List: the directory
}

// New wraps inner. Each call suffers the fault of the first rule that hits it. A malformed pattern panics.
func New(inner storage.Store, rules ...Rule) *Store {
	s := &Store{inner: inner}
	for _, r := range rules {
		s.Add(r)
	}
	return s
}

// Add adds a rule, which counts calls from now on.
func (s *Store) Add(r Rule) {
	if _, err := path.Match(r.Path, ""); err != nil {
		panic("faulty: the pattern " + r.Path + " is malformed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, rule{Rule: r})
}

// Calls lists the calls until now in their order.
func (s *Store) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// call counts a call and finds its fault.
func (s *Store) call(op storage.Operation, path string) (f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Call{op, path}
	s.calls = append(s.calls, c)
	found := false
	for i := range s.rules {
		r := &s.rules[i]
		if !r.matches(c) {
			continue
		}
		r.matched++
		if !found && r.hits(r.matched) {
			f, found = r.Fault, true
		}
	}
	return f
}

// List implements [storage.Store].
func (s *Store) List(ctx context.Context, dir, startAfter string) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		f := s.call(storage.OpList, dir)
		if err := f.begin(ctx); err != nil {
			yield(storage.Entry{}, err)
			return
		}
		n := int64(0)
		for e, err := range f.listing(s.inner.List(ctx, dir, startAfter)) {
			if f.After > 0 && n == f.After {
				yield(storage.Entry{}, f.breaks())
				return
			}
			n++
			if !yield(e, err) {
				return
			}
		}
	}
}

// listing is seq, or what the fault makes of all of it.
func (f Fault) listing(seq iter.Seq2[storage.Entry, error]) iter.Seq2[storage.Entry, error] {
	if f.Entries == nil {
		return seq
	}
	return func(yield func(storage.Entry, error) bool) {
		var all []storage.Entry
		for e, err := range seq {
			if err != nil {
				yield(e, err)
				return
			}
			all = append(all, e)
		}
		for _, e := range f.Entries(all) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// ReadAt implements [storage.Store].
func (s *Store) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	read := func(ctx context.Context, buf []byte, off int64) (int, error) {
		return s.inner.ReadAt(ctx, path, buf, off)
	}
	return object{store: s, path: path, read: read}.ReadAt(ctx, buf, off)
}

// Get implements [storage.Store].
func (s *Store) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	f := s.call(storage.OpGet, path)
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	r, err := s.stream(ctx, path, f)
	if err != nil || f.After <= 0 {
		return r, err
	}
	return &breakingReader{r, f.After, f.breaks()}, nil
}

func (s *Store) stream(ctx context.Context, path string, f Fault) (io.ReadCloser, error) {
	if f.Content == nil {
		return s.inner.Get(ctx, path)
	}
	data, err := s.content(ctx, path, f)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Stat implements [storage.Store].
func (s *Store) Stat(ctx context.Context, path string) (storage.Entry, error) {
	f := s.call(storage.OpStat, path)
	if err := f.begin(ctx); err != nil {
		return storage.Entry{}, err
	}
	e, err := s.inner.Stat(ctx, path)
	if err != nil || f.Content == nil {
		return e, err
	}
	data, err := s.content(ctx, path, f)
	e.Size = int64(len(data))
	return e, err
}

// Open implements [storage.Opener].
func (s *Store) Open(ctx context.Context, path string) (storage.Object, error) {
	f := s.call(storage.OpOpen, path)
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	o, err := storage.OpenObject(ctx, s.inner, path)
	if err != nil {
		return nil, err
	}
	return object{o, s, path, o.ReadAt}, nil
}

// content is what the object holds instead of its bytes.
func (s *Store) content(ctx context.Context, path string, f Fault) ([]byte, error) {
	r, err := s.inner.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return f.Content(data), nil
}

// object reads through read, unless a rule says otherwise.
type object struct {
	storage.Object
	store *Store
	path  string
	read  func(ctx context.Context, buf []byte, off int64) (int, error)
}

func (o object) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	f := o.store.call(storage.OpRead, o.path)
	if err := f.begin(ctx); err != nil {
		return 0, err
	}
	if f.Content != nil {
		data, err := o.store.content(ctx, o.path, f)
		if err != nil {
			return 0, err
		}
		return bytes.NewReader(data).ReadAt(buf, off)
	}
	if f.After <= 0 || f.After >= int64(len(buf)) {
		return o.read(ctx, buf, off)
	}
	n, err := o.read(ctx, buf[:f.After], off)
	if err != nil {
		return n, err
	}
	return n, f.breaks()
}

// breakingReader fails after left bytes, even when the object ends there.
type breakingReader struct {
	io.ReadCloser
	left int64
	err  error
}

func (r *breakingReader) Read(buf []byte) (int, error) {
	if r.left == 0 {
		return 0, r.err
	}
	n, err := r.ReadCloser.Read(buf[:min(int64(len(buf)), r.left)])
	r.left -= int64(n)
	return n, err
}
