package deltalog

import (
	"cmp"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// Exclusion says which of the files that commits added cannot hold a row for which a predicate is true, by their statistics.
type Exclusion struct {
	Where *pruning.Predicate

	// In is what decides that in versions with a protocol and metadata; the zero Selection excludes nothing. It is asked again
	// when one of them changes.
	In func(*action.Protocol, *action.Metadata) Selection
}

// Excludes says whether the statistics of the i-th of Files told that none of its rows fulfils a predicate. They did not where
// [Snapshot.CommitsExcluding] was not asked for this very predicate.
func (c Commit) Excludes(i int, where *pruning.Predicate) bool {
	return where != nil && c.where == where && c.excluded.has(c.Files.order[i])
}

// chooser decides about files as commits are read: their statistics are gone when they were looked at.
type chooser struct {
	by *Exclusion // nil: nothing is excluded

	protocol  *action.Protocol // of selection
	metadata  *action.Metadata
	selection Selection
	stats     *Statistics
}

// in sets the version that the next files are of. Where it is not known what it says, nothing is excluded.
func (c *chooser) in(p *action.Protocol, m *action.Metadata) {
	if c.by == nil || p == c.protocol && m == c.metadata {
		return
	}
	c.protocol, c.metadata, c.selection = p, m, Selection{}
	if p != nil && m != nil {
		c.selection = c.by.In(p, m)
	}
	c.stats = newStatistics(newStatsForm(c.selection.Leaves))
}

// excludes lends the file's statistics to the selection.
func (c *chooser) excludes(f ActiveFile) (bool, error) {
	if c.stats == nil || f.Add.Stats == "" {
		return false, nil
	}
	f.Statistics = c.stats.of(f.Add.Stats, f.Add.DeletionVector != nil)
	keep, err := c.selection.Keep(f)
	return !keep, err
}

// exclude notes what the statistics of the next file say. What a version says of its columns counts for all its files, so
// where that comes behind some of them, what was noted of those means nothing.
func (t *commitTally) exclude(f ActiveFile) error {
	excluded, err := t.chooser.excludes(f)
	if excluded {
		t.commit.excluded.add(uint32(t.files.n))
	}
	return err
}

// enter tells the chooser what the commit says of its version up to a part of it.
func (t *commitTally) enter(p walkPart) {
	c := &t.commit
	if p.protocol != nil || p.metadata != nil {
		c.excluded = nil
	}
	t.chooser.in(cmp.Or(c.Protocol, t.before.protocol), cmp.Or(c.Metadata, t.before.metadata))
}

// numbers is a set of small numbers.
type numbers []uint64

func (s *numbers) add(n uint32) {
	for int(n/64) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s numbers) has(n uint32) bool { return int(n/64) < len(s) && s[n/64]&(1<<(n%64)) != 0 }
