package storage_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

func TestMeteredCountsRequestsBytesAndErrors(t *testing.T) {
	ctx := t.Context()
	m := storage.NewMetered(newMemory(t, map[string][]byte{"d/a": bytes.Repeat([]byte("x"), 100), "d/b": nil}))
	paths(t, m.List(ctx, "d", ""))
	paths(t, m.List(ctx, "nowhere", ""))
	m.ReadAt(ctx, "d/a", make([]byte, 30), 0)
	m.ReadAt(ctx, "d/a", make([]byte, 30), 90) // 10 bytes and the end
	m.ReadAt(ctx, "gone", make([]byte, 30), 0)
	o, err := storage.OpenObject(ctx, m, "d/a")
	if err != nil {
		t.Fatal(err)
	}
	o.ReadAt(ctx, make([]byte, 5), 0)
	r, err := m.Get(ctx, "d/a")
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(r, make([]byte, 40))
	m.Get(ctx, "gone")
	m.Stat(ctx, "d/a")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	m.Stat(cancelled, "d/a")
	want := storage.Usage{
		List: storage.Count{Requests: 2},
		Read: storage.Count{Requests: 4, Bytes: 45, Errors: 1},
		Get:  storage.Count{Requests: 2, Bytes: 40, Errors: 1},
		Stat: storage.Count{Requests: 2, Errors: 1},
	}
	got := m.Usage()
	if got != want {
		t.Errorf("want %+v\ngot  %+v", want, got)
	}
	if want := (storage.Count{Requests: 10, Bytes: 85, Errors: 3}); got.Total() != want {
		t.Errorf("want %+v in all, got %+v", want, got.Total())
	}
	if got.ByOperation()[storage.OpRead] != want.Read {
		t.Errorf("got %+v by operation", got.ByOperation())
	}
}
