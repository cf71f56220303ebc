package deltalog

import (
	"context"
	"iter"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Snapshot is one version of a table. It is immutable and safe for concurrent use.
type Snapshot struct {
	Log      Log
	Segment  Segment
	Version  int64
	Protocol action.Protocol
	Metadata action.Metadata
	// Timestamp is when the version was committed: what the commit says where in-commit timestamps are enabled (T3), else
	// when its log file was written (T2), as it stands: [Log.VersionAsOf] and [Log.History] also make such times ascend.
	// See [Snapshot.CheckTimestamp].
	Timestamp time.Time

	base *baseCell         // what Segment.Checkpoint holds
	kept map[string][]byte // bytes of log files that were read, by name

	incomplete bool   // Segment holds no more than the version's commit
	hash       string // of the version's commit as it was read; "": it was not

	wrongTime error // why Timestamp is not the one that the table promises
}

// ActiveFile is an add that is live in the version, with its place. PartitionValues may be shared with other files: do
// not change them.
type ActiveFile struct {
	Add        action.Add
	Location   storage.Location
	Statistics *Statistics // only for a [Selection], while it decides; nil elsewhere
}

// Load reads protocol and metadata of a segment (R1). It does not judge them: see action.CheckReadable, Snapshot.Schema.
//
// It opens the segment's checkpoint. One that cannot be opened is passed over for an older base when the log allows it
// (L10): the snapshot's segment is then another one than s. Commits are read newest first and no further than needed;
// those read are kept, up to 8 MiB, so that Adds does not fetch them again. Many commits are spared by the .crc file of the
// version (K2) and by compactions, which are read to their end here and passed over when anything about them is odd.
func (l Log) Load(ctx context.Context, s Segment) (*Snapshot, error) {
	snapshot, err := l.load(ctx, s)
	if err != nil {
		return nil, l.annotate(err, deltaerr.Version(s.Version))
	}
	return snapshot, nil
}

func (l Log) load(ctx context.Context, s Segment) (*Snapshot, error) {
	s, b, err := l.openBase(ctx, s)
	if err != nil {
		return nil, err
	}
	return l.loadOver(ctx, s, b)
}

// loadOver loads a segment whose checkpoint was opened.
func (l Log) loadOver(ctx context.Context, s Segment, b *base) (snapshot *Snapshot, err error) {
	h := newHead()
	if b != nil {
		h.note(s.Checkpoint.Version, b.protocol, b.metadata)
	}
	if s, err = l.readTail(ctx, s, h); err != nil {
		return nil, err
	}
	if snapshot, err = l.snapshotOf(ctx, s, h); err != nil {
		return nil, err
	}
	snapshot.base = &baseCell{opened: b}
	return snapshot, nil
}

// snapshotOf is the version of a segment of which h says what is known about the table.
func (l Log) snapshotOf(ctx context.Context, s Segment, h *head) (*Snapshot, error) {
	if h.protocol == nil {
		return nil, s.missingAction("protocol")
	}
	if h.metadata == nil {
		return nil, s.missingAction("metadata")
	}
	snapshot := &Snapshot{
		Log: l, Segment: s, Version: s.Version, Protocol: *h.protocol, Metadata: *h.metadata, base: &baseCell{}, kept: h.kept,
		hash: h.hashOf(s.Commit),
	}
	var err error
	snapshot.Timestamp, err = l.timeOf(ctx, s, h)
	if deltaerr.KindOf(err) == deltaerr.Corrupt { // not in the way of what is asked first: can the table be read at all?
		snapshot.Timestamp, snapshot.wrongTime, err = s.Modified, err, nil
	}
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

// CheckTimestamp says why the time of the version is not known although the table promises that its commits carry it: then
// Timestamp is that of the log file (T3, RV3).
func (s *Snapshot) CheckTimestamp() error { return s.annotate(s.wrongTime) }

// Schema parses the schema of the version (S6).
func (s *Snapshot) Schema() (*schema.Struct, error) {
	parsed, err := schema.Parse(s.Metadata.SchemaString)
	return parsed, s.annotate(err)
}

// Adds streams the active files, newest commits first, in no promised order (R1–R4). What is kept in memory grows with
// the commits after the checkpoint, not with the table. An error ends the sequence.
func (s *Snapshot) Adds(ctx context.Context) iter.Seq2[ActiveFile, error] {
	return s.adds(ctx, reading{})
}

// AddsWithoutStats is Adds with empty statistics, which are most of a checkpoint: they are not even read from it (C7).
func (s *Snapshot) AddsWithoutStats(ctx context.Context) iter.Seq2[ActiveFile, error] {
	return s.adds(ctx, reading{omitStats: true})
}

func (s *Snapshot) adds(ctx context.Context, what reading) iter.Seq2[ActiveFile, error] {
	return func(yield func(ActiveFile, error) bool) {
		r := replay{snapshot: s, reading: what, stats: newStatistics(what.statistics), seen: newFileSet()}
		if err := r.run(ctx, func(f ActiveFile) bool { return yield(f, nil) }); err != nil {
			yield(ActiveFile{}, s.annotate(err))
		}
	}
}

func (s *Snapshot) annotate(err error) error {
	return s.Log.annotate(err, deltaerr.Version(s.Version))
}
