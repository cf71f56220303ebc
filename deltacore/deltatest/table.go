package deltatest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// Options of a new table. The zero value is an unpartitioned table of protocol (1, 2).
type Options struct {
	ID               string // "": a fixed one
	Name             string
	PartitionColumns []string
	Configuration    map[string]string
	Protocol         action.Protocol
	Parquet          Parquet       // how data files are written
	Start            time.Time     // of version 0; zero: 2024-05-01T08:00:00Z
	Step             time.Duration // from one version to the next; 0: a minute
}

// Features is the protocol of a table with features that both readers and writers must know.
func Features(names ...string) action.Protocol {
	return action.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: names, WriterFeatures: names}
}

// Table is a Delta table in memory. It is not safe for concurrent use.
type Table struct {
	columns *schema.Struct
	options Options
	files   map[string][]byte    // by path relative to the root, decoded
	times   map[string]time.Time // of the files above
	state   state                // what the commits add up to
	next    int64                // version of the next commit
	names   int                  // file names given out
}

// New returns a table without any commit. The first [Table.Commit] also writes its protocol and metadata, unless it is
// given those actions.
func New(columns *schema.Struct, o Options) *Table {
	if o.ID == "" {
		o.ID = "5d7a5c3e-0000-4000-8000-00000000d01a"
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC)
	}
	if o.Step == 0 {
		o.Step = time.Minute
	}
	if o.Protocol.MinReaderVersion == 0 {
		o.Protocol = action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	}
	t := &Table{columns: columns, options: o, files: map[string][]byte{}, times: map[string]time.Time{}}
	t.state.protocol = o.Protocol
	t.state.metadata = action.Metadata{
		ID: o.ID, Name: o.Name, Format: action.Format{Provider: "parquet", Options: map[string]string{}},
		SchemaString: SchemaString(columns), PartitionColumns: append([]string{}, o.PartitionColumns...),
		CreatedTime: o.Start.UnixMilli(), Configuration: copied(o.Configuration),
	}
	return t
}

func copied(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// Version is the version of the last commit, -1 before the first.
func (t *Table) Version() int64 { return t.next - 1 }

// Metadata returns the current metadata, to be changed and committed.
func (t *Table) Metadata() action.Metadata {
	m := t.state.metadata
	m.PartitionColumns = slices.Clone(m.PartitionColumns)
	m.Configuration = copied(m.Configuration)
	return m
}

// Active lists the files of the current version in canonical order: by modification time, then path as in the log.
func (t *Table) Active() []action.Add { return t.state.active() }

// CommitTime is the time of a version, whether it exists or not.
func (t *Table) CommitTime(version int64) time.Time {
	return t.options.Start.Add(time.Duration(version) * t.options.Step)
}

// Commit writes the next version and returns its number. A commitInfo line comes first, then for version 0 protocol and
// metadata, then the actions in their order.
func (t *Table) Commit(actions ...Action) int64 {
	var lines []Action
	if !slices.ContainsFunc(actions, isNamed("commitInfo")) {
		lines = append(lines, t.CommitInfo(operationOf(actions)))
	}
	if t.next == 0 && !slices.ContainsFunc(actions, isNamed("protocol")) {
		lines = append(lines, Protocol(t.state.protocol))
	}
	if t.next == 0 && !slices.ContainsFunc(actions, isNamed("metaData")) {
		lines = append(lines, Metadata(t.state.metadata))
	}
	lines = append(lines, actions...)
	t.state.apply(lines)
	var text bytes.Buffer
	for _, l := range lines {
		text.WriteString(l.line + "\n")
	}
	return t.CommitBytes(text.Bytes())
}

// CommitBytes writes the next version's file exactly as given. Checkpoints do not know what it holds.
func (t *Table) CommitBytes(content []byte) int64 {
	version := t.next
	t.Put(CommitPath(version), content)
	t.next++
	return version
}

// Skip leaves a number out, so that the log has a gap there.
func (t *Table) Skip() { t.next++ }

func isNamed(name string) func(Action) bool { return func(a Action) bool { return a.name == name } }

func operationOf(actions []Action) string {
	switch add, remove := slices.ContainsFunc(actions, isNamed("add")), slices.ContainsFunc(actions, isNamed("remove")); {
	case add && remove:
		return "UPDATE"
	case remove:
		return "DELETE"
	case add:
		return "WRITE"
	case slices.ContainsFunc(actions, isNamed("metaData")):
		return "SET TBLPROPERTIES"
	}
	return "CREATE TABLE"
}

// CommitInfo is the first line of the next commit, with its time, where in-commit timestamps belong (protocol T3).
func (t *Table) CommitInfo(operation string) Action {
	ms := t.CommitTime(t.next).UnixMilli()
	values := map[string]any{
		"timestamp": ms, "operation": operation, "operationParameters": map[string]string{}, "engineInfo": "deltatest",
	}
	if t.state.metadata.Configuration["delta.enableInCommitTimestamps"] == "true" {
		values["inCommitTimestamp"] = ms
	}
	return CommitInfo(values)
}

// Append writes the records as data files, one for each partition value in each record, commits them and returns them.
// It borrows the records.
func (t *Table) Append(records ...arrow.RecordBatch) []action.Add {
	adds := t.WriteFiles(records...)
	t.Commit(each(Add, adds)...)
	return adds
}

// Overwrite commits the records in place of all active files.
func (t *Table) Overwrite(records ...arrow.RecordBatch) []action.Add {
	return t.Replace(t.Active(), records...)
}

// Replace commits the records in place of the given files.
func (t *Table) Replace(old []action.Add, records ...arrow.RecordBatch) []action.Add {
	adds := t.WriteFiles(records...)
	t.Commit(append(each(t.removed, old), each(Add, adds)...)...)
	return adds
}

// Delete commits the removal of the given files, without touching them.
func (t *Table) Delete(files ...action.Add) int64 { return t.Commit(each(t.removed, files)...) }

func (t *Table) removed(a action.Add) Action {
	a.ModificationTime = t.CommitTime(t.next).UnixMilli()
	return Remove(a)
}

func each(line func(action.Add) Action, adds []action.Add) []Action {
	list := make([]Action, len(adds))
	for i, a := range adds {
		list[i] = line(a)
	}
	return list
}

// CommitPath is the path of a version's commit.
func CommitPath(version int64) string { return fmt.Sprintf("_delta_log/%020d.json", version) }

// Put writes a file by its decoded path relative to the table root.
func (t *Table) Put(path string, content []byte) {
	t.files[path] = content
	t.times[path] = t.CommitTime(t.next)
}

// Truncate keeps the first n bytes of a file, or all but the last -n.
func (t *Table) Truncate(path string, n int) {
	content, ok := t.files[path]
	if !ok {
		panic("deltatest: no file " + path)
	}
	if n < 0 {
		n += len(content)
	}
	t.files[path] = content[:n:n]
}

// Drop makes a file vanish without a trace in the log.
func (t *Table) Drop(path string) {
	if _, ok := t.files[path]; !ok {
		panic("deltatest: no file " + path)
	}
	delete(t.files, path)
}

// Files returns the table's files by decoded path relative to the root. The contents are shared: nobody changes them.
func (t *Table) Files() map[string][]byte { return maps.Clone(t.files) }

// CopyTo hands every file to put, as a store's PutAt takes it: decoded path, content, time of its commit.
func (t *Table) CopyTo(put func(path string, content []byte, modified time.Time)) {
	for _, path := range sortedKeys(t.files) {
		put(path, t.files[path], t.times[path])
	}
}

// WriteDir writes the table under dir, each file with the time of its commit.
func (t *Table) WriteDir(dir string) error {
	for _, path := range sortedKeys(t.files) {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, t.files[path], 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(name, t.times[path], t.times[path]); err != nil {
			return err
		}
	}
	return nil
}

// uuid gives out identifiers that look random and are the same in every run.
func (t *Table) uuid() string {
	t.names++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", t.options.ID, t.names))
	x := hex.EncodeToString(sum[:16])
	return strings.Join([]string{x[:8], x[8:12], "4" + x[13:16], "8" + x[17:20], x[20:32]}, "-")
}
