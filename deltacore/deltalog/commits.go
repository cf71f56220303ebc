package deltalog

import (
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// CommitKind says what a commit means to who follows a table. Only actions with dataChange count.
type CommitKind string

// The kinds of commits.
const (
	KindAppend   CommitKind = "append"   // files were added, none removed
	KindDelete   CommitKind = "delete"   // files were removed, none added
	KindRewrite  CommitKind = "rewrite"  // both: an update, an overwrite, a delete by deletion vectors
	KindOptimize CommitKind = "optimize" // files were added or removed, but the rows are the same
	KindMetadata CommitKind = "metadata" // no file was added or removed
)

// Commit is one commit as data. Apart from its files it is small.
type Commit struct {
	Version   int64
	Timestamp time.Time // as [Snapshot.Timestamp]
	Operation string    // as the writer calls it; "" when it does not say
	Kind      CommitKind
	Info      *action.CommitInfo // nil when there is none
	// Hash tells the commit from another one of the same version: the first 16 hex digits of the SHA-256 of its bytes.
	Hash string

	Adds, Removes, Changes int64 // files added, removed, and files of recorded changes, whatever their dataChange

	// Files are those that were added with dataChange, in canonical order: what [ActiveFiles] says it costs is all that a
	// commit of any size keeps in memory. Rows is the number of their live rows as their statistics say, nil when one of
	// them has none; Bytes is their size.
	Files *ActiveFiles
	Rows  *int64
	Bytes int64

	// Protocol and Metadata are those of the version (T8). They are shared: do not change them.
	Protocol                         *action.Protocol
	Metadata                         *action.Metadata
	ProtocolChanged, MetadataChanged bool // the commit brought them

	file     File
	timed    bool               // Timestamp is its own, not its file's
	where    *pruning.Predicate // of excluded
	excluded numbers            // of Files, in the order in which they were added
}

// At is the version of the commit. It costs nothing; when its files are asked for, they are looked for as [Log.Open]
// does. The commit must be one of the snapshot's log.
func (s *Snapshot) At(c Commit) *Snapshot {
	return &Snapshot{
		Log: s.Log, Version: c.Version, Protocol: *c.Protocol, Metadata: *c.Metadata, Timestamp: c.Timestamp,
		Segment: Segment{
			Version: c.Version, Commits: []File{c.file}, Commit: &c.file, Modified: c.file.ModTime, later: s.Segment.later.from(c.Version),
		},
		base: &baseCell{}, incomplete: true, hash: c.Hash,
	}
}

// commitTally adds up the parts of one commit.
type commitTally struct {
	commit                  Commit
	first                   *action.CommitInfo // when it is the first action (T3)
	dataAdds, dataRemoves   bool
	rows                    int64
	rowsUnknown             bool
	addedPaths, removedPath keySet
	files                   *collector
	chooser                 *chooser
	before                  state // of the table
}

func (w *walk) newTally(f File) *commitTally {
	t := &commitTally{
		commit: Commit{Version: f.Version, file: f}, addedPaths: keySet{}, removedPath: keySet{}, files: newCollector(),
		chooser: &w.chooser, before: w.state,
	}
	if w.chooser.by != nil {
		t.commit.where = w.chooser.by.Where
	}
	return t
}

// take adds a part. A path is added at most once in a commit and removed at most once (A5).
func (t *commitTally) take(p walkPart) error {
	t.takeHead(p)
	t.enter(p)
	for _, a := range p.actions {
		if err := t.takeFile(a); err != nil {
			return err
		}
	}
	t.rows += p.rows
	t.rowsUnknown = t.rowsUnknown || p.rowsUnknown
	return nil
}

// takeHead takes what a part says of the commit and its version.
func (t *commitTally) takeHead(p walkPart) {
	c := &t.commit
	c.Changes += p.changes
	if p.protocol != nil {
		c.Protocol, c.ProtocolChanged = p.protocol, true
	}
	if p.metadata != nil {
		c.Metadata, c.MetadataChanged = p.metadata, true
	}
	if p.info != nil {
		c.Info, c.Operation = p.info, p.info.Operation
	}
	if p.first != nil {
		t.first = p.first
	}
	if p.last {
		c.Hash = p.hash
	}
}

func (t *commitTally) takeFile(a fileAction) error {
	set, done := t.removedPath, "removed"
	if a.add != nil {
		set, done = t.addedPaths, "added"
	}
	if !set.insert(a.pathKey) {
		return deltaerr.New(deltaerr.Corrupt, "the commit says twice that "+a.path+" is "+done,
			deltaerr.File(t.commit.file.path()), deltaerr.Version(t.commit.Version))
	}
	if a.add == nil {
		t.commit.Removes++
		t.dataRemoves = t.dataRemoves || a.dataChange
		return nil
	}
	t.commit.Adds++
	if !a.dataChange {
		return nil
	}
	t.dataAdds = true
	t.commit.Bytes += a.add.Size
	f := ActiveFile{Add: *a.add, Location: a.location}
	if err := t.exclude(f); err != nil {
		return err
	}
	return t.files.add(f)
}

// finish is the commit when all its parts were taken; what the version says of it is left to the caller.
func (t *commitTally) finish() (Commit, error) {
	c := t.commit
	c.Kind = t.kind()
	if !t.rowsUnknown {
		rows := t.rows
		c.Rows = &rows
	}
	var err error
	c.Files, err = t.files.finish()
	return c, deltaerr.Annotate(err, deltaerr.Version(c.Version))
}

func (t *commitTally) kind() CommitKind {
	switch {
	case t.dataAdds && t.dataRemoves:
		return KindRewrite
	case t.dataAdds:
		return KindAppend
	case t.dataRemoves:
		return KindDelete
	case t.commit.Adds+t.commit.Removes > 0:
		return KindOptimize
	}
	return KindMetadata
}
