package input

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// scraped is what the metrics of a run say now.
func scraped(t *testing.T, mux *http.ServeMux) map[string]float64 {
	t.Helper()
	response := httptest.NewRecorder()
	mux.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return values(t, response.Body.String())
}

// observed runs a stream whose log and metrics are looked at.
func observed(t *testing.T, o pipelineOptions, out *sink) (log *logged, mux *http.ServeMux, stop func()) {
	t.Helper()
	log, mux = &logged{}, http.NewServeMux()
	o.log, o.metrics = log, mux
	return log, mux, buildPipeline(t, nil, out, o).started()
}

func wantMetrics(t *testing.T, mux *http.ServeMux, want map[string]float64) {
	t.Helper()
	got := scraped(t, mux)
	for name, value := range want {
		if v, there := got["delta_lake_"+name]; !there || v != value {
			t.Errorf("want %s %g, got %g (%v)", name, value, v, there)
		}
	}
}

// TestLagIsToldRightAfterARestartAndWhenIdle in metrics and in the log.
func TestLagIsToldRightAfterARestartAndWhenIdle(t *testing.T) {
	t.Parallel()
	r, k := newRemembered(3), newKept()
	o := k.options("mode: append\ntrigger: { interval: 30ms }")
	o.open = r.open
	out := &sink{}
	log, mux, stop := observed(t, o, out)
	caughtUp := map[string]float64{"version": 0, "latest_version": 0, "version_lag": 0, "lag_seconds": 0, "lag_files": 0, "lag_bytes": 0}
	until(t, "to be caught up", func() bool { return len(log.with("Caught up with version 0")) > 0 })
	wantMetrics(t, mux, caughtUp)
	stop()

	log, mux, stop = observed(t, o, out) // nothing has happened meanwhile
	until(t, "the lag in the log", func() bool { return len(log.with("behind version 0: nothing is left up to version 0")) > 0 })
	wantMetrics(t, mux, caughtUp)
	stop()

	for range 3 {
		r.append(1)
	}
	log, mux, stop = observed(t, o, out)
	until(t, "the lag in the log", func() bool {
		return len(log.with("behind version 0: 3 versions are left up to 3, the latest; the oldest is of ")) > 0
	})
	until(t, "to be caught up", func() bool { return len(log.with("Caught up with version 3")) > 0 })
	wantMetrics(t, mux, map[string]float64{"version": 3, "latest_version": 3, "version_lag": 0, "lag_seconds": 0})
	stop()
}

func TestLagInWords(t *testing.T) {
	now := time.Unix(1000, 0)
	for want, lag := range map[string]feed.Lag{
		"nothing is left up to version 7, the latest":                                                                     {Version: 7, Latest: 7},
		"2 versions are left up to 9, the latest; the oldest is of 1m30s ago":                                             {Version: 7, Latest: 9, Oldest: time.Unix(910, 0)},
		"1 versions are left up to 9, the latest; the oldest is of 2s ago; of the one that is read, 3 files with 2.0 KiB": {Version: 8, Latest: 9, Oldest: time.Unix(998, 0), Files: 3, Bytes: 2048},
	} {
		if got := describeLag(lag, now); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// TestIdleInputTellsHowFarItHasCome in the log, with its position.
func TestIdleInputTellsHowFarItHasCome(t *testing.T) {
	t.Parallel()
	r, k := newRemembered(3), newKept()
	o := k.options("mode: append\ntrigger: { interval: 300ms }") // it is idle at the first look
	o.open = r.open
	finished(t, pipelineOptions{config: o.config + "\nuntil: caught_up", caches: o.caches, env: o.env, open: r.open})
	log, _, stop := observed(t, o, &sink{})
	defer stop()
	until(t, "a report", func() bool {
		lines := log.with("nothing is left up to version 0, the latest; delivered up to ")
		return len(lines) == 1 && strings.Contains(lines[0], `"version":0`)
	})
}

func TestReportsAreRareWhereNothingHappens(t *testing.T) {
	var r reports
	var told []time.Duration
	for at := time.Duration(0); at < 30*time.Minute; at += 10 * time.Second {
		if r.due(at < 3*time.Minute, time.Unix(0, 0).Add(at)) {
			told = append(told, at)
		}
	}
	want := []time.Duration{0, time.Minute, 2 * time.Minute, 12 * time.Minute, 22 * time.Minute}
	if !slices.Equal(want, told) {
		t.Errorf("want %v, got %v", want, told)
	}
}

// TestLostVersionsAreInLogAndMetrics whatever has become of the table while the input was down, and the default stops.
func TestLostVersionsAreInLogAndMetrics(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		happens     func(r *remembered) *remembered
		kind        deltaerr.Kind
		first, last float64
		again       int // rows that come after a reset, or with the file skipped
	}{
		"the log is cleaned": {func(r *remembered) *remembered {
			for range 5 {
				r.append(1)
			}
			r.Checkpoint()
			for v := range int64(4) {
				r.Drop(deltatest.CommitPath(v))
			}
			return r.copied()
		}, deltaerr.Unresumable, 1, 3, 8},
		"a file is vacuumed": {func(r *remembered) *remembered {
			r.append(1)
			r.append(1)
			file := r.Active()[1]
			r.Delete(file)
			r.Drop(file.Path)
			return r.copied()
		}, deltaerr.Unresumable, 1, 1, 4},
		"the table is replaced": {func(*remembered) *remembered {
			other := &remembered{Table: deltatest.New(idColumn, deltatest.Options{ID: "another"}), memory: storage.NewMemory()}
			other.append(2)
			return other
		}, deltaerr.Replaced, 1, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, k := newRemembered(3), newKept()
			o := k.options("mode: append\non_delete: skip\nuntil: caught_up")
			o.open = r.open
			finished(t, o)
			*r = *tt.happens(r)
			for _, config := range []string{"", "\non_unresumable_position: reset"} {
				run := o
				run.config += config
				run.log, run.metrics = &logged{}, http.NewServeMux()
				out := &sink{}
				p := buildPipeline(t, nil, out, run)
				p.run()
				wantMetrics(t, run.metrics, map[string]float64{"lost_first_version": tt.first, "lost_last_version": tt.last})
				if lines := run.log.with("Lost are rows of version"); len(lines) != 1 {
					t.Errorf("want one line about what is lost, got %q", lines)
				}
				switch {
				case config != "":
					if len(p.failed) > 0 || len(out.accepted) != tt.again {
						t.Errorf("want %d rows of a new beginning, got %v and %q", tt.again, p.failed, out.accepted)
					}
				case len(p.failed) != 1 || deltaerr.KindOf(p.failed[0]) != tt.kind:
					t.Errorf("want a stop with %s, got %v", tt.kind, p.failed)
				}
			}
		})
	}
}

// copied is the table as it is now, in a store of its own.
func (r *remembered) copied() *remembered {
	fresh := newRemembered(0)
	fresh.Table, fresh.n = r.Table, r.n
	r.CopyTo(fresh.memory.PutAt)
	return fresh
}

// TestVersionsThatAreLost are read from the error, as far as it says them.
func TestVersionsThatAreLost(t *testing.T) {
	done := feed.Position{Version: 4, Done: true}
	for name, tt := range map[string]struct {
		err    error
		behind feed.Position
		want   versions
	}{
		"the table went back":  {deltaerr.New(deltaerr.Unresumable, "", deltaerr.Version(2)), done, versions{3, 4}},
		"a part of a snapshot": {deltaerr.New(deltaerr.Unresumable, "", deltaerr.Version(9)), feed.Position{Version: 4}, versions{4, 9}},
		"another table":        {deltaerr.New(deltaerr.Replaced, "", deltaerr.Version(9)), done, versions{5, 5}},
		"nothing is said":      {errors.New("x"), done, versions{5, 5}},
	} {
		if got := lostVersions(tt.err, tt.behind); got != tt.want {
			t.Errorf("%s: want %s, got %s", name, tt.want, got)
		}
	}
	if text := (versions{3, 4}).String() + " " + (versions{3, 3}).String(); text != "versions 3 to 4 version 3" {
		t.Errorf("want the range in words, got %q", text)
	}
}
