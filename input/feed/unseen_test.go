package feed

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func wantText(t *testing.T, got, text string) {
	t.Helper()
	if !strings.Contains(got, text) {
		t.Errorf("want %q in %q", text, got)
	}
}

// blank makes the commit of a version one without a byte, as it is for a moment on some file systems while it is written.
func (g *grower) blank(version int64) {
	g.store.PutAt(deltatest.CommitPath(version), nil, g.CommitTime(version))
}

// TestCommitWithoutAByteIsWaitedFor for a while: then it has its bytes, or never will.
func TestCommitWithoutAByteIsWaitedFor(t *testing.T) {
	version := func(v int64) *int64 { return &v }
	for name, tt := range map[string]struct {
		follow Follow
		before bool // the commit is there without a byte when the source is opened
		first  []string
	}{
		"beside a source":   {Follow{}, false, []string{"planned 1 files of snapshot 0", "read 0-2 of snapshot 0", "version done of snapshot 0", "caught up with 0 of 0"}},
		"before it":         {Follow{}, true, []string{"planned 1 files of snapshot 0", "read 0-2 of snapshot 0", "version done of snapshot 0", "caught up with 0 of 0"}},
		"without snapshot":  {Follow{SkipSnapshot: true}, true, []string{"planned 0 files of tail 0", "caught up with 0 of 0"}},
		"where it is begun": {Follow{StartVersion: version(1)}, true, []string{"planned 0 files of tail 1", "caught up with 0 of 0"}},
	} {
		for _, filled := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, filled: %v", name, filled), func(t *testing.T) {
				g := newGrower()
				if tt.before {
					g.append(1)
					g.blank(1)
				}
				s := follow(t, g, Config{Follow: tt.follow})
				want(t, tt.first, s.upToNow())
				if !tt.before {
					g.append(1)
					g.blank(1)
					check(t, s.Refresh(t.Context()))
					if l := s.Source.(Behind).Lag(); l.Versions() != 0 || !l.Oldest.IsZero() {
						t.Errorf("want nothing to be left, got %+v", l)
					}
				}
				row := []string{"insert 3-3 of tail 1"}
				if filled {
					g.publish()
				} else {
					row = nil
				}
				if !filled {
					check(t, s.Refresh(t.Context()))
					if l := s.Source.(Behind).Lag(); l.Latest != 0 {
						t.Errorf("want it waited for, got %+v", l)
					}
					SettleAtOnce(s.Source)
				}
				want(t, append(row, "version done of tail 1", "caught up with 1 of 1"), s.refreshed())
			})
		}
	}
}

// TestCommitWithoutAByteIsOneWhenAnotherIsBehindIt covers L9.
func TestCommitWithoutAByteIsOneWhenAnotherIsBehindIt(t *testing.T) {
	g := newGrower()
	g.append(1)
	g.append(1)
	g.blank(1)
	start := int64(1)
	s := follow(t, g, Config{Follow: Follow{StartVersion: &start, UntilCaughtUp: true}})
	want(t, []string{"planned 0 files of tail 1", "version done of tail 1", "insert 4-4 of tail 2", "version done of tail 2", "caught up with 2 of 2"}, s.upToNow())
}

// TestBoundedRunEndsBeforeACommitWithoutAByte: the next one has it.
func TestBoundedRunEndsBeforeACommitWithoutAByte(t *testing.T) {
	g := newGrower()
	g.append(1)
	g.blank(1)
	s := follow(t, g, Config{Follow: Follow{UntilCaughtUp: true}})
	got := s.upToNow()
	want(t, []string{"caught up with 0 of 0", "EOF"}, []string{got[len(got)-1], s.upToNow()[0]})
}

// TestCommitThatIsSeenLaterThanTheOneBehindItIsWaitedFor, and nothing is lost.
func TestCommitThatIsSeenLaterThanTheOneBehindItIsWaitedFor(t *testing.T) {
	for _, mode := range []Mode{Append, Reload} {
		g := newGrower()
		s := follow(t, g, Config{Follow: Follow{Mode: mode}})
		s.upToNow()
		g.append(1)
		g.append(1)
		g.store.Delete(deltatest.CommitPath(1))
		check(t, s.Refresh(t.Context()))
		_, err := s.Next(t.Context())
		var lost *deltalog.LostCommits
		if !deltaerr.Retryable(err) || errors.As(err, &lost) {
			t.Fatalf("%s: want an error that may pass, got %v", mode, err)
		}
		g.publish()
		got := s.upToNow()
		want(t, []string{"caught up with 2 of 2"}, got[len(got)-1:])
		if all := strings.Join(got, "\n"); mode == Append && !strings.Contains(all, "insert 3-3 of tail 1\n") {
			t.Errorf("want the row of version 1, got %s", all)
		}
	}
}

// TestTableThatIsGoneForAWhileIsNotSkipped: neither its files nor its log are seen, whatever becomes of files that are missing.
func TestTableThatIsGoneForAWhileIsNotSkipped(t *testing.T) {
	for _, policy := range []Policy{Fail, Skip} {
		for _, mode := range []Mode{"", Append, Reload} {
			g := newGrower()
			for range 3 {
				g.append(1)
			}
			s := follow(t, g, Config{
				OnMissingFile: policy, Follow: Follow{Mode: mode},
				Scan: deltacore.ScanOptions{TargetPartitions: 1},
			})
			e, err := s.Next(t.Context())
			check(t, err)
			retell(e)
			for path := range g.Files() {
				g.store.Delete(path)
			}
			var failed error
			var got []string
			for failed == nil {
				e, err := s.Next(t.Context())
				if failed = err; err == nil {
					got = append(got, retell(e))
				}
			}
			if !deltaerr.Retryable(failed) || !strings.Contains(failed.Error(), "nor its log can be seen") {
				t.Fatalf("%s, %s: want an error that may pass, got %v after %q", policy, mode, failed, got)
			}
			g.publish()
			got = append(got, s.upToNow()...)
			if all := strings.Join(got, "\n"); strings.Contains(all, "skipped") || strings.Count(all, "read ") != 4 {
				t.Errorf("%s, %s: want every row, got\n%s", policy, mode, all)
			}
		}
	}
}
