package feed

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// TestResumeIsUnchangedWhenOtherColumnsAreRead goes on behind every position of a run, in the snapshot and in the tail, with
// other columns, another size of batches and another number of partitions: exactly the other rows come.
func TestResumeIsUnchangedWhenOtherColumnsAreRead(t *testing.T) {
	columns := deltatest.Columns("id long", "name string", "n long")
	g := &grower{Table: deltatest.New(columns, deltatest.Options{}), store: storage.NewMemory()}
	for range 5 {
		var rows []string
		for range 5 {
			rows = append(rows, fmt.Sprintf(`{"id": %d, "name": "x", "n": 1}`, g.next))
			g.next++
		}
		g.Append(deltatest.Rows(columns, rows...))
	}
	g.publish()
	c := Config{Scan: deltacore.ScanOptions{Columns: []string{"id", "name"}, BatchRows: 2}}
	c.Follow.EndVersion = new(int64(1))
	positions, before := follow(t, g, c).toTheEnd(nil)
	c.Resume, c.Follow = &positions[len(positions)-1], Follow{UntilCaughtUp: true}
	more, beforeMore := follow(t, g, c).toTheEnd(before[len(before)-1])
	positions, before = append(positions, more...), append(before, beforeMore...)
	if len(positions) < 20 {
		t.Fatalf("want positions inside files and between them, got %d", len(positions))
	}
	c.Scan = deltacore.ScanOptions{Columns: []string{"n", "id"}, BatchRows: 3, TargetPartitions: 3}
	for i, p := range positions {
		c.Resume = &p
		_, got := follow(t, g, c).toTheEnd(before[i])
		all := got[len(got)-1]
		if len(all) != g.next || !slices.IsSorted(all) {
			t.Fatalf("behind %v: want the rows after %v, got %v", p, before[i], all[len(before[i]):])
		}
	}
}

// toTheEnd reads a bounded run and returns each position with the ids that were read up to it, behind those before.
func (f *followed) toTheEnd(ids []int64) (positions []Position, before [][]int64) {
	f.t.Helper()
	for {
		e, err := f.Next(f.t.Context())
		if errors.Is(err, io.EOF) {
			return positions, before
		}
		check(f.t, err)
		p, moved := positionOf(e)
		switch e := e.(type) {
		case Planned:
			p, moved = e.Position, true
		case Rows:
			column := slices.IndexFunc(e.Record.Schema().Fields(), func(a arrow.Field) bool { return a.Name == "id" })
			ids = append(slices.Clone(ids), e.Record.Column(column).(*array.Int64).Int64Values()...)
			e.Record.Release()
		case SchemaChanged:
			f.t.Errorf("want no other columns, got %s", e.Changes)
		}
		if moved {
			positions, before = append(positions, p), append(before, ids)
		}
	}
}

// TestOtherColumnsAreReadBehindAVersionThatIsGone: the hash of those before says nothing of them. Without that they are refused.
func TestOtherColumnsAreReadBehindAVersionThatIsGone(t *testing.T) {
	g := newGrower()
	for g.Version() < 4 {
		g.append(1)
	}
	g.Checkpoint()
	g.publish()
	for v := range int64(3) {
		g.store.Delete(deltatest.CommitPath(v))
	}
	behind := behindVersion(g, 2)
	behind.SchemaHash = "of other columns"
	for _, others := range []bool{true, false} {
		got := follow(t, g, Config{Resume: &behind, OtherColumns: others}).upToNow()
		if others {
			want(t, []string{"planned 0 files of tail 2", "insert 5-5 of tail 3"}, got[:2])
			continue
		}
		wantText(t, got[1], "the columns are not those that were read before")
	}
}
