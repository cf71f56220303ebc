package input

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
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
		return len(lines) == 1 && strings.HasSuffix(lines[0], "version 0, done")
	})
}

// TestLagCountsWhatIsNotHandedOut although it has been read.
func TestLagCountsWhatIsNotHandedOut(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"append", "reload"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			const commits = 6
			g, block := newGrowing(t), make(chan struct{})
			out := &sink{write: func(context.Context, service.MessageBatch) error { <-block; return nil }}
			log, mux, stop := observed(t, g.following("mode: "+mode+"\ntrigger: { interval: 20ms }\ncheckpoint_limit: 8"), out)
			until(t, "the first version handed out", func() bool { return scraped(t, mux)["delta_lake_rows_total"] > 0 })
			for n := range commits {
				g.append(6)
				until(t, "the commit seen", func() bool { return scraped(t, mux)["delta_lake_latest_version"] == float64(n+1) })
			}
			time.Sleep(50 * time.Millisecond) // for the source to read ahead
			m := scraped(t, mux)
			version := m["delta_lake_version"]
			if version > 1 || m["delta_lake_version_lag"] != commits-version || m["delta_lake_lag_seconds"] <= 0 {
				t.Errorf("want no version but the first ones handed out, got version %g, a lag of %g and of %g s", version,
					m["delta_lake_version_lag"], m["delta_lake_lag_seconds"])
			}
			if lines := log.with("Caught up with version 2"); len(lines) > 0 {
				t.Errorf("want nothing said of what is not handed out, got %q", lines)
			}
			close(block)
			until(t, "to be caught up", func() bool { return len(log.with("Caught up with version 6")) > 0 })
			wantMetrics(t, mux, map[string]float64{"version": commits, "version_lag": 0, "lag_seconds": 0, "lag_files": 0})
			stop()
		})
	}
}

// TestLagOfWhatWaitsToBeHandedOut is that of the oldest group that waits, and of the source behind it.
func TestLagOfWhatWaitsToBeHandedOut(t *testing.T) {
	at := func(version int64, done bool) feed.Position {
		return feed.Position{TableID: "t", Version: version, Phase: feed.PhaseTail, Part: feed.PartAdd, Done: done}
	}
	withRows := func(version int64) group {
		return group{position: at(version, false), rows: []feed.Rows{{CommitTimestamp: time.Unix(version, 0)}}}
	}
	h := newHandover(feed.Lag{Version: 3, Latest: 9})
	for version := int64(4); version <= 6; version++ {
		h.read(withRows(version), feed.Lag{Files: version, Bytes: 10 * version})
		h.read(group{position: at(version, true)}, feed.Lag{})
	}
	source := feed.Lag{Version: 6, Latest: 9, Oldest: time.Unix(7, 0), Files: 1, Bytes: 1}
	want := func(version, oldest, files int64) {
		t.Helper()
		got := h.lag(source)
		if got.Version != version || got.Latest != 9 || !got.Oldest.Equal(time.Unix(oldest, 0)) || got.Files != files {
			t.Errorf("want version %d handed out, the oldest of %d and %d files, got %+v", version, oldest, files, got)
		}
	}
	want(3, 4, 4)
	h.handed(at(4, false))
	want(3, 5, 4)
	h.handed(at(4, true))
	want(4, 5, 5)
	if e := h.reached(feed.CaughtUp{Version: 6, Latest: 9}); e != nil {
		t.Errorf("want it told when it is handed out, got %+v", e)
	}
	h.handed(at(5, true))
	want(5, 6, 6)
	if e := h.handed(at(6, true)); e == nil || e.Version != 6 {
		t.Errorf("want it told now, got %+v", e)
	}
	want(6, 7, 1)
	h.reached(feed.CaughtUp{Version: 7})
	h.read(withRows(8), feed.Lag{})
	if e := h.handed(at(7, true)); e != nil {
		t.Errorf("want nothing told when there is more, got %+v", e)
	}
}

// TestVersionDoesNotGoBackWhenOldRowsAreSentAgain in the metrics.
func TestVersionDoesNotGoBackWhenOldRowsAreSentAgain(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	refused := false
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		if !refused {
			refused = true
			return errors.New("later")
		}
		return nil
	}}
	_, mux, stop := observed(t, g.following("mode: append\ntrigger: { interval: 10ms }"), out)
	until(t, "a refusal", func() bool { return scraped(t, mux)["delta_lake_nacked_total"] > 0 })
	g.append(1)
	out.count(t, 4)
	wantMetrics(t, mux, map[string]float64{"version": 1})
	stop()
}

func TestPositionInWords(t *testing.T) {
	file := scanplan.Key{Path: "a.parquet"}
	for want, p := range map[string]feed.Position{
		"version 8, done":                          {Version: 8, Done: true, File: file},
		"version 8, its beginning":                 {Version: 8, Row: -1},
		"version 8, file a.parquet, done":          {Version: 8, File: file, FileDone: true, Row: 4},
		"version 8, file a.parquet, row 4":         {Version: 8, File: file, Row: 4},
		"version 8, file a.parquet, its beginning": {Version: 8, File: file, Row: -1},
	} {
		if got := inWords(p); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
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
		told        [2]int // lines about what is lost, with a stop and with a reset
		again       int    // rows that come after a reset, or with the file skipped
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
		}, deltaerr.Unresumable, 1, 3, [2]int{1, 1}, 8},
		"a file is vacuumed": {func(r *remembered) *remembered {
			r.append(1)
			r.append(1)
			file := r.Active()[1]
			r.Delete(file)
			r.Drop(file.Path)
			return r.copied()
		}, deltaerr.Unresumable, 1, 1, [2]int{0, 1}, 4},
		"the table was restored": {func(*remembered) *remembered {
			other := newRemembered(2)
			other.append(3)
			return other
		}, deltaerr.Unresumable, 0, 0, [2]int{1, 1}, 5},
		"the table is out of sight": {func(*remembered) *remembered {
			return &remembered{Table: deltatest.New(idColumn, deltatest.Options{}), memory: storage.NewMemory()}
		}, deltaerr.NotFound, 0, 0, [2]int{0, 0}, -1},
		"the table is replaced": {func(*remembered) *remembered {
			other := &remembered{Table: deltatest.New(idColumn, deltatest.Options{ID: "another"}), memory: storage.NewMemory()}
			other.append(2)
			return other
		}, deltaerr.Replaced, 0, 0, [2]int{0, 0}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, k := newRemembered(3), newKept()
			o := k.options("mode: append\non_delete: skip\nuntil: caught_up")
			o.open = r.open
			finished(t, o)
			*r = *tt.happens(r)
			for i, config := range []string{"", "\non_unresumable_position: reset"} {
				run := o
				run.config += config
				run.log, run.metrics = &logged{}, http.NewServeMux()
				out := &sink{}
				p := buildPipeline(t, nil, out, run)
				p.run()
				if tt.told[i] > 0 {
					wantMetrics(t, run.metrics, map[string]float64{"lost_first_version": tt.first, "lost_last_version": tt.last})
				}
				if lines := run.log.with("Lost are rows of version"); len(lines) != tt.told[i] {
					t.Errorf("want %d lines about what is lost, got %q", tt.told[i], lines)
				}
				switch {
				case config != "" && tt.again >= 0:
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
	fresh := &remembered{Table: r.Table, memory: storage.NewMemory(), n: r.n}
	r.CopyTo(fresh.memory.PutAt)
	return fresh
}

// TestVersionsThatAreLost are those that the error is known to be about.
func TestVersionsThatAreLost(t *testing.T) {
	gone := &deltalog.LostCommits{First: 3, Last: 4}
	for name, tt := range map[string]struct {
		err  error
		want versions
		lost bool
	}{
		"the log is cleaned":        {deltaerr.New(deltaerr.Unresumable, "", deltaerr.Cause(gone)), versions{3, 4}, true},
		"before the beginning":      {deltaerr.New(deltaerr.NotFound, "", deltaerr.Cause(gone)), versions{}, false},
		"a position of another use": {deltaerr.New(deltaerr.Unresumable, "", deltaerr.Version(9)), versions{}, false},
		"another table":             {deltaerr.New(deltaerr.Replaced, "", deltaerr.Version(9)), versions{}, false},
		"nothing is said":           {errors.New("x"), versions{}, false},
	} {
		if got, lost := lostVersions(tt.err); got != tt.want || lost != tt.lost {
			t.Errorf("%s: want %s (%v), got %s (%v)", name, tt.want, tt.lost, got, lost)
		}
	}
	if text := (versions{3, 4}).String() + " " + (versions{3, 3}).String(); text != "versions 3 to 4 version 3" {
		t.Errorf("want the range in words, got %q", text)
	}
}
