package deltacore

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// DefaultMemoryLimit is the byte budget of a table that was opened without one.
const DefaultMemoryLimit = 64 << 20

// Options of opening a table. The zero value opens the latest version.
type Options struct {
	Version   *int64           // nil: the latest, or the one of Timestamp
	Timestamp *time.Time       // the latest version committed at or before it (protocol T5)
	Store     storage.Store    // nil: the one that the URI names
	Allocator memory.Allocator // nil: memory.DefaultAllocator
	Budget    *exec.Budget     // bytes decoded but not yet handed out; nil: one of DefaultMemoryLimit for this table
	// AllowedExternalPaths are the prefixes, URIs or local paths, below which files outside the table root may be read (H2).
	AllowedExternalPaths []string
	FooterReadSize       int64            // bytes read from the end of a data file first, for its footer; 0: 64 KiB
	Warn                 func(msg string) // told what was passed over (a broken hint, an unusable checkpoint); nil: nobody
}

// Table is one version of a table. It is immutable and safe for concurrent use.
type Table struct {
	uri      storage.URI
	store    *storage.Metered
	external *storage.External
	parquet  parquetio.Options
	budget   *exec.Budget
	snapshot *deltalog.Snapshot
}

// Open finds a version of the table at uri. It costs the log's hint, a listing, and the log files that hold protocol and
// metadata; no data file is touched. A version by its time costs what [deltalog.Log.VersionAsOf] says instead of the hint.
// Tables that a scan would refuse can be opened, so that they can be inspected.
func Open(ctx context.Context, uri string, o Options) (*Table, error) {
	return open(uri, o, func(log deltalog.Log) (*deltalog.Snapshot, error) {
		if o.Version != nil && o.Timestamp != nil {
			return nil, deltaerr.New(deltaerr.Config, "both a version and a timestamp are given", deltaerr.Hint("give one of them"))
		}
		return log.Open(ctx, deltalog.Which{Version: o.Version, Timestamp: o.Timestamp})
	})
}

// open makes a table of the version that find finds.
func open(uri string, o Options, find func(deltalog.Log) (*deltalog.Snapshot, error)) (*Table, error) {
	location, err := storage.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	t, err := o.unopened(location)
	if err == nil {
		t.snapshot, err = find(deltalog.Log{Store: t.store, Root: location, Parquet: t.parquet, Budget: t.budget, Warn: o.Warn})
	}
	if deltaerr.KindOf(err) == deltaerr.NotFound && o.Store == nil && location.Scheme == storage.SchemeFile {
		err = cmp.Or(misplaced(uri, location), err)
	}
	if err != nil {
		return nil, deltaerr.Annotate(err, deltaerr.Table(location.String()))
	}
	return t, nil
}

// unopened is a table without a version.
func (o Options) unopened(uri storage.URI) (*Table, error) {
	given, err := storeFor(uri, o.Store)
	if err != nil {
		return nil, err
	}
	external, err := storage.NewExternal(given, o.AllowedExternalPaths, openStore)
	if err != nil {
		return nil, err
	}
	t := &Table{uri: uri, store: storage.NewMetered(external), external: external, budget: o.Budget}
	t.parquet = parquetio.Options{Allocator: o.Allocator, FooterReadSize: o.FooterReadSize}
	if t.budget == nil {
		t.budget = exec.NewBudget(DefaultMemoryLimit)
	}
	return t, nil
}

func storeFor(uri storage.URI, given storage.Store) (storage.Store, error) {
	if given != nil {
		return given, nil
	}
	return openStore(uri)
}

func openStore(uri storage.URI) (storage.Store, error) {
	if uri.Scheme != "file" {
		return nil, deltaerr.New(deltaerr.Unsupported, "S3 is not supported yet",
			deltaerr.Hint("copy the table to a local directory"))
	}
	return storage.NewLocal(uri)
}

// URI is the table's location, without credentials: fit for messages and metadata.
func (t *Table) URI() string { return t.uri.String() }

// Version is the table version.
func (t *Table) Version() int64 { return t.snapshot.Version }

// Timestamp is the time of the version's commit.
func (t *Table) Timestamp() time.Time { return t.snapshot.Timestamp }

// Snapshot is the state of the log at the version.
func (t *Table) Snapshot() *deltalog.Snapshot { return t.snapshot }

// Usage is what the table's store was asked for until now: by opening the version and by everything done with it.
func (t *Table) Usage() storage.Usage { return t.store.Usage() }

// Schema parses the version's schema. It fails where the log holds none (protocol S6).
func (t *Table) Schema() (*schema.Struct, error) {
	s, err := t.snapshot.Schema()
	return s, t.annotate(err)
}

// CheckReadable says whether the rows of this version can be read (protocol F1, F2, A8) and have a time (T3, RV3).
func (t *Table) CheckReadable() error {
	err := action.CheckReadable(t.snapshot.Protocol, t.snapshot.Metadata)
	if err == nil {
		err = t.snapshot.CheckTimestamp()
	}
	return t.annotate(err)
}

// Files streams the active files of the version in no promised order.
func (t *Table) Files(ctx context.Context) iter.Seq2[deltalog.ActiveFile, error] {
	return func(yield func(deltalog.ActiveFile, error) bool) {
		for f, err := range t.snapshot.Adds(ctx) {
			if !yield(f, t.annotate(err)) || err != nil {
				return
			}
		}
	}
}

func (t *Table) annotate(err error) error {
	return deltaerr.Annotate(err, deltaerr.Table(t.URI()), deltaerr.Version(t.Version()))
}
