package deltatest

import (
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

// Action is one line of a commit.
type Action struct {
	name  string // "add", …; "" for raw lines
	line  string // JSON, without a newline
	value any    // what later checkpoints need to know of it
}

// Raw is a line that is written as it is. Checkpoints do not know it.
func Raw(line string) Action { return Action{line: line} }

// Add makes a file part of the table. Files that a [Table] wrote come ready from [Table.WriteFiles].
func Add(a action.Add) Action {
	return newAction("add", a, addLine{
		Path: a.Path, PartitionValues: notNil(a.PartitionValues), Size: a.Size,
		ModificationTime: a.ModificationTime, DataChange: a.DataChange, Stats: a.Stats,
		DeletionVector: vectorOf(a.DeletionVector), BaseRowID: a.BaseRowID,
		DefaultRowCommitVersion: a.DefaultRowCommitVersion,
	})
}

// Remove takes a file out of the table, with the extended metadata that today's writers give. Change it by passing the
// add with other values.
func Remove(a action.Add) Action {
	return RemoveOf(action.Remove{
		Path: a.Path, DeletionTimestamp: a.ModificationTime, DataChange: a.DataChange, ExtendedFileMetadata: true,
		PartitionValues: a.PartitionValues, Size: a.Size, DeletionVector: a.DeletionVector,
	})
}

// RemoveOf writes a remove as given.
func RemoveOf(r action.Remove) Action {
	line := removeLine{
		Path: r.Path, DeletionTimestamp: r.DeletionTimestamp, DataChange: r.DataChange,
		ExtendedFileMetadata: r.ExtendedFileMetadata, DeletionVector: vectorOf(r.DeletionVector),
	}
	if r.ExtendedFileMetadata {
		line.PartitionValues, line.Size = notNil(r.PartitionValues), &r.Size
	}
	return newAction("remove", r, line)
}

// CDC names a file of recorded changes.
func CDC(c action.CDC) Action {
	c.PartitionValues = notNil(c.PartitionValues)
	return newAction("cdc", c, c)
}

// Protocol says what is needed to read and write the table.
func Protocol(p action.Protocol) Action { return newAction("protocol", p, protocolLine(p)) }

// Metadata describes the table from this commit on. [Table.Metadata] gives a copy to change.
func Metadata(m action.Metadata) Action { return newAction("metaData", m, metadataOf(m)) }

// Txn is an application's progress mark.
func Txn(t action.Txn) Action { return newAction("txn", t, txnLine(t)) }

// DomainMetadata is a named configuration.
func DomainMetadata(d action.DomainMetadata) Action { return newAction("domainMetadata", d, d) }

// CommitInfo is what a writer says about a commit. It replaces the one that [Table.Commit] would write.
func CommitInfo(values map[string]any) Action { return newAction("commitInfo", values, values) }

func newAction(name string, value, body any) Action {
	line, err := json.Marshal(map[string]any{name: body}, json.Deterministic(true))
	must(err)
	return Action{name: name, line: string(line), value: value}
}

func notNil(values map[string]*string) map[string]*string {
	if values == nil {
		return map[string]*string{}
	}
	return values
}

type addLine struct {
	Path                    string             `json:"path"`
	PartitionValues         map[string]*string `json:"partitionValues"`
	Size                    int64              `json:"size"`
	ModificationTime        int64              `json:"modificationTime"`
	DataChange              bool               `json:"dataChange"`
	Stats                   string             `json:"stats,omitzero"`
	DeletionVector          *vectorLine        `json:"deletionVector,omitzero"`
	BaseRowID               *int64             `json:"baseRowId,omitzero"`
	DefaultRowCommitVersion *int64             `json:"defaultRowCommitVersion,omitzero"`
}

type removeLine struct {
	Path                 string             `json:"path"`
	DeletionTimestamp    int64              `json:"deletionTimestamp"`
	DataChange           bool               `json:"dataChange"`
	ExtendedFileMetadata bool               `json:"extendedFileMetadata"`
	PartitionValues      map[string]*string `json:"partitionValues,omitzero"`
	Size                 *int64             `json:"size,omitzero"`
	DeletionVector       *vectorLine        `json:"deletionVector,omitzero"`
}

type vectorLine struct {
	StorageType    string `json:"storageType"`
	PathOrInlineDv string `json:"pathOrInlineDv"`
	Offset         *int64 `json:"offset,omitzero"`
	SizeInBytes    int64  `json:"sizeInBytes"`
	Cardinality    int64  `json:"cardinality"`
}

func vectorOf(d *action.DeletionVector) *vectorLine {
	if d == nil {
		return nil
	}
	v := vectorLine(*d)
	return &v
}

type protocolLine struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitzero"`
	WriterFeatures   []string `json:"writerFeatures,omitzero"`
}

type metadataLine struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitzero"`
	Description      string            `json:"description,omitzero"`
	Format           formatLine        `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	CreatedTime      int64             `json:"createdTime,omitzero"`
	Configuration    map[string]string `json:"configuration"`
}

type formatLine struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

func metadataOf(m action.Metadata) metadataLine {
	return metadataLine{
		ID: m.ID, Name: m.Name, Description: m.Description, Format: formatLine(m.Format),
		SchemaString: m.SchemaString, PartitionColumns: m.PartitionColumns, CreatedTime: m.CreatedTime,
		Configuration: m.Configuration,
	}
}

type txnLine struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated *int64 `json:"lastUpdated,omitzero"`
}
