package storage

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
)

// Operation names an operation of a [Store] in metrics and in rules of faults.
type Operation string

// The operations of a [Store], and of an [Opener].
const (
	OpList Operation = "list"
	OpRead Operation = "read" // ReadAt, of the store and of open objects
	OpGet  Operation = "get"
	OpStat Operation = "stat"
	OpOpen Operation = "open"
)

// Count is how often an operation was called, and what came of it.
type Count struct {
	Requests int64
	Bytes    int64 // handed out
	Errors   int64 // failed calls; the end of an object is none
}

// Usage is what a store was asked for until one moment. Opening an object is no request.
type Usage struct {
	List, Read, Get, Stat Count
}

// Total adds up all operations.
func (u Usage) Total() (c Count) {
	for _, o := range []Count{u.List, u.Read, u.Get, u.Stat} {
		c.Requests += o.Requests
		c.Bytes += o.Bytes
		c.Errors += o.Errors
	}
	return c
}

// ByOperation shows the counts under the operations' names.
func (u Usage) ByOperation() map[Operation]Count {
	return map[Operation]Count{OpList: u.List, OpRead: u.Read, OpGet: u.Get, OpStat: u.Stat}
}

// Metered counts the calls of a store and the bytes that it hands out. These are calls of the [Store]: what a store
// makes of one, such as the pages of a listing, it counts itself.
type Metered struct {
	store                 Store
	list, read, get, stat meter
}

// NewMetered returns a store that counts the calls of store.
func NewMetered(store Store) *Metered { return &Metered{store: store} }

// Usage returns the counts until now.
func (m *Metered) Usage() Usage {
	return Usage{List: m.list.count(), Read: m.read.count(), Get: m.get.count(), Stat: m.stat.count()}
}

// meter is a [Count] that grows.
type meter struct{ requests, bytes, errors atomic.Int64 }

func (m *meter) count() Count {
	return Count{Requests: m.requests.Load(), Bytes: m.bytes.Load(), Errors: m.errors.Load()}
}

// add counts a part of a request: bytes that came, and the error that ended it.
func (m *meter) add(bytes int, err error) {
	m.bytes.Add(int64(bytes))
	if err != nil && err != io.EOF { //nolint:errorlint // the bare io.EOF: a wrapped one is no end
		m.errors.Add(1)
	}
}

// List implements [Store].
func (m *Metered) List(ctx context.Context, dir, startAfter string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		m.list.requests.Add(1)
		for e, err := range m.store.List(ctx, dir, startAfter) {
			m.list.add(0, err)
			if !yield(e, err) {
				return
			}
		}
	}
}

// ReadAt implements [Store].
func (m *Metered) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	m.read.requests.Add(1)
	n, err := m.store.ReadAt(ctx, path, buf, off)
	m.read.add(n, err)
	return n, err
}

// Get implements [Store].
func (m *Metered) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	m.get.requests.Add(1)
	r, err := m.store.Get(ctx, path)
	m.get.add(0, err)
	if err != nil {
		return nil, err
	}
	return meteredReader{r, &m.get}, nil
}

// Stat implements [Store].
func (m *Metered) Stat(ctx context.Context, path string) (Entry, error) {
	m.stat.requests.Add(1)
	e, err := m.store.Stat(ctx, path)
	m.stat.add(0, err)
	return e, err
}

// Open implements [Opener].
func (m *Metered) Open(ctx context.Context, path string) (Object, error) {
	o, err := OpenObject(ctx, m.store, path)
	if err != nil {
		return nil, err
	}
	return meteredObject{o, &m.read}, nil
}

type meteredReader struct {
	io.ReadCloser
	meter *meter
}

func (r meteredReader) Read(buf []byte) (int, error) {
	n, err := r.ReadCloser.Read(buf)
	r.meter.add(n, err)
	return n, err
}

type meteredObject struct {
	Object
	meter *meter
}

func (o meteredObject) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	o.meter.requests.Add(1)
	n, err := o.Object.ReadAt(ctx, buf, off)
	o.meter.add(n, err)
	return n, err
}
