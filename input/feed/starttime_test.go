package feed

import (
	"slices"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// writtenAt gives the commits of versions other times.
func (g *grower) writtenAt(times map[int64]time.Time) {
	for version, at := range times {
		path := deltatest.CommitPath(version)
		g.store.PutAt(path, g.Files()[path], at)
	}
}

// TestTimeDoesNotCountOnceACommitWasAccepted: a later one whose file is older is one of those behind it.
func TestTimeDoesNotCountOnceACommitWasAccepted(t *testing.T) {
	g := newGrower()
	begin := g.CommitTime(3)
	s := follow(t, g, Config{Follow: Follow{StartTimestamp: &begin}})
	want(t, []string{"planned 0 files of tail 1", "caught up with 0 of 0"}, s.upToNow())
	times := map[int64]time.Time{1: begin.Add(time.Second)}
	g.append(1)
	g.writtenAt(times)
	want(t, []string{"insert 3-3 of tail 1", "version done of tail 1", "caught up with 1 of 1"}, s.refreshed())
	g.append(1) // whose own time is before begin
	g.writtenAt(times)
	want(t, []string{"insert 4-4 of tail 2", "version done of tail 2", "caught up with 2 of 2"}, s.refreshed())
}

// TestTimesThatAreComparedAscend as those of history and time travel do (T2, T6), whether the commit is there at the start or comes
// later, with a restart anywhere.
func TestTimesThatAreComparedAscend(t *testing.T) {
	for there := range 4 { // versions after the first
		g := newGrower()
		begin := g.CommitTime(10).Add(2 * time.Millisecond)
		times := map[int64]time.Time{1: g.CommitTime(10), 2: g.CommitTime(2), 3: g.CommitTime(2)} // 2 counts 1 ms later than 1, and 3 than 2
		grow := func() {
			g.append(1)
			for v := range times {
				if v <= g.Version() {
					g.writtenAt(map[int64]time.Time{v: times[v]})
				}
			}
		}
		for range there {
			grow()
		}
		c := Config{Follow: Follow{StartTimestamp: &begin}}
		s := follow(t, g, c)
		var got []int64
		for {
			ids, p, end := s.one()
			if got = append(got, ids...); p != nil && (c.Resume == nil || *p != *c.Resume) {
				c.Resume = p
				s = follow(t, g, c)
				check(t, s.Refresh(t.Context()))
			}
			if end && g.Version() == 3 {
				break
			}
			if end {
				grow()
				check(t, s.Refresh(t.Context()))
			}
		}
		if !slices.Equal(got, []int64{5}) {
			t.Errorf("with %d commits at the start: want the row of version 3, got %v", there, got)
		}
	}
}

// TestStartThatWasFoundStaysFound over a restart, although files' times do not ascend.
func TestStartThatWasFoundStaysFound(t *testing.T) {
	g := newGrower()
	g.append(1)
	g.append(1)
	g.writtenAt(map[int64]time.Time{1: g.CommitTime(10)}) // 2 counts 1 ms later
	begin := g.CommitTime(10).Add(time.Millisecond)
	c := Config{Follow: Follow{StartTimestamp: &begin, UntilCaughtUp: true}}
	e, err := follow(t, g, c).Next(t.Context())
	check(t, err)
	stored := e.(Planned).Position
	c.Resume = &stored
	for range 2 {
		want(t, []string{"planned 0 files of tail 2", "insert 4-4 of tail 2", "version done of tail 2", "caught up with 2 of 2"}, follow(t, g, c).upToNow())
		c.Resume.Version = 1 // a start that was found before is not gone behind
		c.Resume.Commit = ""
	}
	c.Resume.Version = 2
	early := g.CommitTime(0)
	c.Follow.StartTimestamp = &early
	want(t, []string{"planned 0 files of tail 2", "insert 4-4 of tail 2", "version done of tail 2", "caught up with 2 of 2"}, follow(t, g, c).upToNow())
}

// TestStartThatTheLogNoLongerHoldsIsToldAfterARestart: what was cleaned may have been made after it.
func TestStartThatTheLogNoLongerHoldsIsToldAfterARestart(t *testing.T) {
	g := newGrower()
	for g.Version() < 4 {
		g.append(1)
	}
	g.Checkpoint()
	g.append(1)
	for v := range int64(4) {
		g.store.Delete(deltatest.CommitPath(v))
	}
	begin, stored := g.CommitTime(2), beginningOf(g, 2)
	got := follow(t, g, Config{Resume: &stored, Follow: Follow{StartTimestamp: &begin}}).upToNow()
	want(t, []string{"planned 0 files of tail 2"}, got[:1])
	wantText(t, got[len(got)-1], "the commits of the versions 2 to 3 are no longer in the log")
}
