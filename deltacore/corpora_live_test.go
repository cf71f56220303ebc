package deltacore_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// stepAnswer is what comes to a table that is followed, and what is emitted then.
type stepAnswer struct {
	Dir     string   `json:"dir"`
	Remove  []string `json:"remove"`
	Emitted map[string]struct {
		JSONL string `json:"jsonl"`
	} `json:"emitted"`
}

// livePolicies are the kinds of commits whose rows are emitted.
var livePolicies = map[string][]deltalog.CommitKind{
	"append_skip_change_commits": {deltalog.KindAppend},
	"append_ignore_changes":      {deltalog.KindAppend, deltalog.KindRewrite},
}

// follows begins with a snapshot and then reads what each step brings.
func (c corpus) follows(policy string, steps []stepAnswer) func(context.Context) error {
	return func(ctx context.Context) error {
		f := follower{emits: livePolicies[policy]}
		var err error
		if f.dir, err = os.MkdirTemp("", "live"); err != nil {
			return err
		}
		defer os.RemoveAll(f.dir)
		for i, s := range steps {
			got, err := f.step(ctx, filepath.Join(c.folder, s.Dir), s.Remove)
			if err != nil {
				return err
			}
			want, err := readLines(filepath.Join(c.folder, s.Emitted[policy].JSONL))
			if err != nil {
				return err
			}
			if err := compareRows(f.columns, want, got, exactText); err != nil {
				return wrong("step %d: %w", i, err)
			}
		}
		return nil
	}
}

// follower follows a table that lies in a directory.
type follower struct {
	dir     string
	emits   []deltalog.CommitKind
	table   *deltacore.Table // nil: not opened yet
	columns *schema.Struct   // of what was read last
}

func (f *follower) step(ctx context.Context, dir string, remove []string) ([]string, error) {
	for _, path := range remove {
		if err := os.Remove(filepath.Join(f.dir, path)); err != nil {
			return nil, err
		}
	}
	if err := copyOver(dir, f.dir); err != nil {
		return nil, err
	}
	if f.table == nil {
		return f.snapshot(ctx)
	}
	table, err := f.table.Look(ctx)
	if err != nil {
		return nil, err
	}
	f.table = table
	var lines []string
	for c, err := range table.Commits(ctx, table.Version()+1, table.Latest()) {
		if err != nil {
			return nil, err
		}
		rows, err := f.commit(ctx, c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, rows...)
	}
	return lines, nil
}

func (f *follower) snapshot(ctx context.Context) ([]string, error) {
	table, err := deltacore.Open(ctx, f.dir, deltacore.Options{})
	if err != nil {
		return nil, err
	}
	f.table = table
	scan, err := table.Scan(ctx, deltacore.ScanOptions{})
	if err != nil {
		return nil, err
	}
	f.columns = scan.Columns()
	return encodeRows(ctx, scan)
}

func (f *follower) commit(ctx context.Context, c deltalog.Commit) ([]string, error) {
	f.table = f.table.AtCommit(c)
	scan, err := f.table.ScanCommit(ctx, c, deltacore.ScanOptions{})
	if err != nil {
		return nil, err
	}
	f.columns = scan.Columns()
	if !slices.Contains(f.emits, c.Kind) {
		return nil, nil
	}
	return encodeRows(ctx, scan)
}

// copyOver copies a directory over another one.
func copyOver(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o600)
	})
}
