package deltacore_test

import (
	"context"
	"errors"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
)

// commitAnswer is what one commit of a history did.
type commitAnswer struct {
	Version   int64  `json:"version"`
	Operation any    `json:"operation"` // one that is no text counts as none (A4)
	Kind      string `json:"kind"`
	Adds      int64  `json:"adds"`
	Removes   int64  `json:"removes"`
	CDC       int64  `json:"cdc"`
	Rows      *int64 `json:"rows_added_by_dataChange_adds"`
	Metadata  bool   `json:"metaData"`
	Protocol  bool   `json:"protocol"`
}

// commits reads the commits of a history, each run without a gap in one go, and then the rows of each. Where files were
// damaged or removed, an error is an answer too.
func (c corpus) commits(x expectation) func(context.Context) error {
	return func(ctx context.Context) error {
		excused := func(err error) bool {
			return (x.Kind == "broken" || x.Kind == "vacuum") && !errors.Is(err, errWrongAnswer)
		}
		table, err := deltacore.Open(ctx, c.table, c.options(deltacore.Options{}))
		if excused(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for rest := x.Commits; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].Version == rest[n-1].Version+1 {
				n++
			}
			if err := compareCommits(ctx, table, rest[:n], excused); err != nil && !excused(err) {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}
}

func compareCommits(ctx context.Context, table *deltacore.Table, want []commitAnswer, excused func(error) bool) error {
	i := 0
	for commit, err := range table.Commits(ctx, want[0].Version, want[len(want)-1].Version) {
		if err != nil {
			return err
		}
		if err := want[i].compare(ctx, table, commit); err != nil && !excused(err) {
			return err
		}
		i++
	}
	if i != len(want) {
		return wrong("want %d commits, got %d", len(want), i)
	}
	return nil
}

func (want commitAnswer) compare(ctx context.Context, table *deltacore.Table, c deltalog.Commit) error {
	if _, isText := want.Operation.(string); !isText {
		want.Operation = ""
	}
	got := commitAnswer{
		Version: c.Version, Operation: c.Operation, Kind: string(c.Kind), Adds: c.Adds, Removes: c.Removes, CDC: c.Changes,
		Metadata: c.MetadataChanged, Protocol: c.ProtocolChanged, Rows: want.Rows,
	}
	if got != want {
		return wrong("want %+v, got %+v", want, got)
	}
	if want.Rows == nil {
		return nil
	}
	rows, err := rowsOfCommit(ctx, table, c)
	if err == nil && rows != *want.Rows {
		err = wrong("version %d: want %d rows, got %d", c.Version, *want.Rows, rows)
	}
	return err
}

func rowsOfCommit(ctx context.Context, table *deltacore.Table, c deltalog.Commit) (rows int64, err error) {
	scan, err := table.ScanCommit(ctx, c, deltacore.ScanOptions{})
	if err != nil {
		return 0, err
	}
	for b, err := range scan.Batches(ctx) {
		if err != nil {
			return 0, err
		}
		if b.Task.Version != c.Version {
			return 0, wrong("a task of version %d for the commit of version %d", b.Task.Version, c.Version)
		}
		rows += b.Record.NumRows()
		b.Record.Release()
	}
	return rows, nil
}
