package faulty_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/storagetest"
)

var errInjected = errors.New("injected")

func memory(files map[string][]byte) *storage.Memory {
	m := storage.NewMemory()
	for path, data := range files {
		m.Put(path, data)
	}
	return m
}

// newStore wraps a small table.
func newStore(rules ...faulty.Rule) *faulty.Store {
	return faulty.New(memory(map[string][]byte{
		"_delta_log/0.json": []byte("zero"), "_delta_log/1.json": []byte("one"), "_delta_log/2.json": []byte("two"),
		"x=1/part": []byte("0123456789"),
	}), rules...)
}

func read(s storage.Store, path string) (string, error) {
	buf := make([]byte, 10)
	n, err := s.ReadAt(context.Background(), path, buf, 0)
	return string(buf[:n]), err
}

func get(s storage.Store, path string) (string, error) {
	r, err := s.Get(context.Background(), path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return string(data), err
}

func list(s storage.Store) (paths []string, err error) {
	for e, err := range s.List(context.Background(), "_delta_log", "") {
		if err != nil {
			return paths, err
		}
		paths = append(paths, e.Path[len("_delta_log/"):])
	}
	return paths, nil
}

func TestStoreWithoutRulesConforms(t *testing.T) {
	storagetest.Run(t, func(_ *testing.T, files map[string][]byte) storage.Store { return faulty.New(memory(files)) })
}

func TestRuleChoosesCalls(t *testing.T) {
	fault := faulty.Fault{Err: errInjected}
	tests := map[string]struct {
		rule faulty.Rule
		want []bool // which of these calls fail: read part, get 0, get 1, get 0, stat part, list
	}{
		"every call":            {faulty.Rule{Fault: fault}, []bool{true, true, true, true, true, true}},
		"the third call of all": {faulty.FailCall(3, errInjected), []bool{false, false, true, false, false, false}},
		"an operation":          {faulty.Rule{Op: storage.OpGet, Fault: fault}, []bool{false, true, true, true, false, false}},
		"a whole path":          {faulty.Rule{Path: "x=*/part", Fault: fault}, []bool{true, false, false, false, true, false}},
		"a name":                {faulty.Rule{Path: "*.json", Fault: fault}, []bool{false, true, true, true, false, false}},
		"the second of a name":  {faulty.Rule{Path: "0.*", From: 2, Fault: fault}, []bool{false, false, false, true, false, false}},
		"two from the second":   {faulty.Rule{From: 2, Calls: 2, Fault: fault}, []bool{false, true, true, false, false, false}},
		"a directory":           {faulty.Rule{Op: storage.OpList, Path: "_delta_log", Fault: fault}, []bool{false, false, false, false, false, true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStore(tt.rule)
			var errs []error
			_, err := read(s, "x=1/part")
			errs = append(errs, err)
			for _, path := range []string{"_delta_log/0.json", "_delta_log/1.json", "_delta_log/0.json"} {
				_, err := get(s, path)
				errs = append(errs, err)
			}
			_, err = s.Stat(t.Context(), "x=1/part")
			errs = append(errs, err)
			_, err = list(s)
			errs = append(errs, err)
			for i, err := range errs {
				if errors.Is(err, errInjected) != tt.want[i] || (err != nil) != tt.want[i] {
					t.Errorf("call %d: want a failure %v, got %v", i+1, tt.want[i], err)
				}
			}
			if got := len(s.Calls()); got != len(errs) {
				t.Errorf("want %d calls, got %d", len(errs), got)
			}
		})
	}
}

func TestFirstRuleThatHitsWins(t *testing.T) {
	other := errors.New("other")
	s := newStore(faulty.FailCall(2, errInjected), faulty.FailCall(2, other), faulty.FailCall(3, other))
	for i, want := range []error{nil, errInjected, other, nil} {
		if _, err := read(s, "x=1/part"); !errors.Is(err, want) {
			t.Errorf("call %d: want %v, got %v", i+1, want, err)
		}
	}
}

func TestShortReadsBreakAfterSomeBytes(t *testing.T) {
	tests := map[string]struct {
		fault faulty.Fault
		want  string
		err   error
	}{
		"connection broke":           {faulty.Fault{After: 4}, "0123", faulty.Broken},
		"own error":                  {faulty.Fault{After: 4, Err: errInjected}, "0123", errInjected},
		"looks like the end":         {faulty.Fault{After: 4, Err: io.EOF}, "0123", io.EOF},
		"after more than is read":    {faulty.Fault{After: 40}, "0123456789", nil},
		"after exactly what is read": {faulty.Fault{After: 10}, "0123456789", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStore(faulty.Rule{Op: storage.OpRead, Fault: tt.fault})
			o, err := storage.OpenObject(t.Context(), s, "x=1/part")
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 10)
			n, err := o.ReadAt(t.Context(), buf, 0)
			if string(buf[:n]) != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("object: want %q, %v, got %q, %v", tt.want, tt.err, buf[:n], err)
			}
			if got, err := read(s, "x=1/part"); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("store: want %q, %v, got %q, %v", tt.want, tt.err, got, err)
			}
		})
	}
	if !deltaerr.Retryable(faulty.Broken) {
		t.Error("a broken connection is not transient")
	}
}

func TestStreamBreaksAfterSomeBytes(t *testing.T) {
	for after, want := range map[int64]string{3: "012", 10: "0123456789"} {
		s := newStore(faulty.Rule{Op: storage.OpGet, Fault: faulty.Fault{After: after}})
		if got, err := get(s, "x=1/part"); got != want || !errors.Is(err, faulty.Broken) {
			t.Errorf("after %d: want %q and a break, got %q, %v", after, want, got, err)
		}
	}
}

func TestListingFaults(t *testing.T) {
	reversed := faulty.Fault{Entries: func(e []storage.Entry) []storage.Entry { slices.Reverse(e); return e }}
	tests := map[string]struct {
		fault faulty.Fault
		want  []string
		err   error
	}{
		"stale":            {faulty.Stale(1), []string{"0.json", "1.json"}, nil},
		"stale altogether": {faulty.Stale(9), nil, nil},
		"reversed":         {reversed, []string{"2.json", "1.json", "0.json"}, nil},
		"broken":           {faulty.Fault{After: 2}, []string{"0.json", "1.json"}, faulty.Broken},
		"vanished":         {faulty.Vanished(), nil, fs.ErrNotExist},
	}
	for name, tt := range tests {
		got, err := list(newStore(faulty.Rule{Op: storage.OpList, Fault: tt.fault}))
		if !slices.Equal(tt.want, got) || !errors.Is(err, tt.err) {
			t.Errorf("%s: want %q, %v, got %q, %v", name, tt.want, tt.err, got, err)
		}
	}
}

func TestShuffledListingHoldsAllEntriesInAnOrderOfItsSeed(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		s := newStore(faulty.Rule{Fault: faulty.Shuffled(seed)})
		first, _ := list(s)
		second, _ := list(s)
		if !slices.Equal(first, second) || len(first) != 3 {
			t.Fatalf("seed %d: %q, then %q", seed, first, second)
		}
		orders[first[0]+first[1]] = true
	}
	if len(orders) < 3 {
		t.Fatalf("20 seeds give %d orders", len(orders))
	}
}

func TestVanishedObjectIsNotFoundFromItsNthAccess(t *testing.T) {
	s := newStore(faulty.Rule{Path: "part", From: 2, Fault: faulty.Vanished()})
	if _, err := read(s, "x=1/part"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := read(s, "x=1/part"); !errors.Is(err, fs.ErrNotExist) || deltaerr.KindOf(err) != deltaerr.NotFound {
			t.Fatalf("want not found, got %v", err)
		}
	}
}

func TestChangedObjectShowsOtherBytesEverywhere(t *testing.T) {
	s := newStore(faulty.Rule{Path: "part", From: 2, Fault: faulty.Fault{Content: func(data []byte) []byte {
		return append(bytes.ToUpper(data[:2]), "changed"...)
	}}})
	o, err := storage.OpenObject(t.Context(), s, "x=1/part")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	buf := make([]byte, 4)
	if _, err := o.ReadAt(t.Context(), buf, 1); err != nil || string(buf) != "1cha" {
		t.Errorf("object: got %q, %v", buf, err)
	}
	if got, err := read(s, "x=1/part"); got != "01changed" || err != io.EOF { //nolint:errorlint // the bare io.EOF: a wrapped one is no end
		t.Errorf("read: got %q, %v", got, err)
	}
	if got, err := get(s, "x=1/part"); got != "01changed" || err != nil {
		t.Errorf("get: got %q, %v", got, err)
	}
	if e, err := s.Stat(t.Context(), "x=1/part"); e.Size != 9 || err != nil {
		t.Errorf("stat: got %+v, %v", e, err)
	}
}

func TestDelayLastsNoLongerThanContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(faulty.Rule{Fault: faulty.Fault{Delay: time.Hour}})
		start := time.Now()
		if _, err := s.Stat(t.Context(), "x=1/part"); err != nil || time.Since(start) != time.Hour {
			t.Errorf("want success after an hour, got %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start = time.Now()
		if _, err := s.Stat(ctx, "x=1/part"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("want the deadline after a minute, got %v after %v", err, time.Since(start))
		}
	})
}

func TestSweepFailsEachCallOnce(t *testing.T) {
	run := func(s storage.Store) error {
		paths, err := list(s)
		for _, p := range paths {
			if _, getErr := get(s, "_delta_log/"+p); err == nil {
				err = getErr
			}
		}
		return err
	}
	clean := newStore()
	if err := run(clean); err != nil {
		t.Fatal(err)
	}
	for n := range clean.Calls() {
		if err := run(newStore(faulty.FailCall(n+1, errInjected))); !errors.Is(err, errInjected) {
			t.Errorf("failing call %d: got %v", n+1, err)
		}
	}
}

func TestMalformedPatternPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("want a panic")
		}
	}()
	newStore(faulty.Rule{Path: "["})
}
