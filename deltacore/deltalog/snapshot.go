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
	// Timestamp is the commit's time: of the log file's modification until in-commit timestamps are read.
	Timestamp time.Time

	base *base             // what Segment.Checkpoint holds; nil without one
	kept map[string][]byte // bytes of commits that Load has read, by name
}

// ActiveFile is an add that is live in the version, with its place. PartitionValues may be shared with other files: do
// not change them.
type ActiveFile struct {
	Add      action.Add
	Location storage.Location
}

// Load reads protocol and metadata of a segment (R1). It does not judge them: see action.CheckReadable, Snapshot.Schema.
//
// It opens the segment's checkpoint. One that cannot be opened is passed over for an older base when the log allows it
// (L10): the snapshot's segment is then another one than s. Commits are read newest first and no further than needed;
// those read are kept, up to 8 MiB, so that Adds does not fetch them again.
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
	h, err := l.readHeads(ctx, s.Commits)
	if err != nil {
		return nil, err
	}
	if b != nil {
		h.fill(b.protocol, b.metadata)
	}
	if h.protocol == nil {
		return nil, s.missingAction("protocol")
	}
	if h.metadata == nil {
		return nil, s.missingAction("metadata")
	}
	return &Snapshot{
		Log: l, Segment: s, Version: s.Version, Protocol: *h.protocol, Metadata: *h.metadata, Timestamp: s.Modified,
		base: b, kept: h.kept,
	}, nil
}

// Schema parses the schema of the version (S6).
func (s *Snapshot) Schema() (*schema.Struct, error) {
	parsed, err := schema.Parse(s.Metadata.SchemaString)
	return parsed, s.annotate(err)
}

// Adds streams the active files, newest commits first, in no promised order (R1–R4). What is kept in memory grows with
// the commits after the checkpoint, not with the table. An error ends the sequence.
func (s *Snapshot) Adds(ctx context.Context) iter.Seq2[ActiveFile, error] {
	return func(yield func(ActiveFile, error) bool) {
		r := replay{snapshot: s, seen: keySet{}}
		if err := r.run(ctx, func(f ActiveFile) bool { return yield(f, nil) }); err != nil {
			yield(ActiveFile{}, s.annotate(err))
		}
	}
}

func (s *Snapshot) annotate(err error) error {
	return s.Log.annotate(err, deltaerr.Version(s.Version))
}
