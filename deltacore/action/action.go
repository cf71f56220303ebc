// Package action answers what one line of the Delta log says: it holds the actions as Go values, reads them from commit
// lines with [Scanner], and knows which protocol versions and table features this reader supports.
//
// What many actions add up to is the business of deltalog; it also fills these values from Parquet checkpoints.
package action

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Action is one line of a commit: exactly one field is set. Lines are read by hand, by [Scanner]; the tags of the types are the
// names in the log, by which checksum files are read and tasks and the lines of tests written.
type Action struct {
	Protocol           *Protocol           `json:"protocol"`
	Metadata           *Metadata           `json:"metaData"`
	Add                *Add                `json:"add"`
	Remove             *Remove             `json:"remove"`
	CDC                *CDC                `json:"cdc"`
	Txn                *Txn                `json:"txn"`
	DomainMetadata     *DomainMetadata     `json:"domainMetadata"`
	CommitInfo         *CommitInfo         `json:"commitInfo"`
	CheckpointMetadata *CheckpointMetadata `json:"checkpointMetadata"` // only in V2 checkpoints
	Sidecar            *Sidecar            `json:"sidecar"`            // only in V2 checkpoints
}

// Protocol is the version and the features a table needs (section 10).
type Protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures"` // nil: absent, which reader version 3 forbids (F1)
	WriterFeatures   []string `json:"writerFeatures"`
}

// Metadata describes a table. SchemaString is parsed by schema.Parse.
type Metadata struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Format           Format            `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	CreatedTime      int64             `json:"createdTime"` // ms since 1970
	Configuration    map[string]string `json:"configuration"`
}

// Format names the data files' format; only parquet is legal (A8).
type Format struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

// Add says that a file is part of the table. Path is as in the log: a URI, not decoded. Adds of one Scanner share the
// texts of their partition values: do not write through the pointers.
type Add struct {
	Path                    string             `json:"path"`
	PartitionValues         map[string]*string `json:"partitionValues"` // nil value: null
	Size                    int64              `json:"size"`            // bytes; may be 0 or wrong in old logs
	ModificationTime        int64              `json:"modificationTime"`
	DataChange              bool               `json:"dataChange"`
	Stats                   string             `json:"stats"` // JSON text
	DeletionVector          *DeletionVector    `json:"deletionVector"`
	BaseRowID               *int64             `json:"baseRowId"`
	DefaultRowCommitVersion *int64             `json:"defaultRowCommitVersion"`
}

// Remove says that a file is no longer part of the table.
type Remove struct {
	Path                 string             `json:"path"`
	DeletionTimestamp    int64              `json:"deletionTimestamp"`
	DataChange           bool               `json:"dataChange"`
	ExtendedFileMetadata bool               `json:"extendedFileMetadata"`
	PartitionValues      map[string]*string `json:"partitionValues"`
	Size                 int64              `json:"size"`
	DeletionVector       *DeletionVector    `json:"deletionVector"`
}

// CDC names a file of recorded changes.
type CDC struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	Size            int64              `json:"size"`
	DataChange      bool               `json:"dataChange"`
}

// DeletionVector describes the rows of a file that are deleted (D1).
type DeletionVector struct {
	StorageType    string `json:"storageType"` // u, p or i
	PathOrInlineDv string `json:"pathOrInlineDv"`
	Offset         *int64 `json:"offset"`
	SizeInBytes    int64  `json:"sizeInBytes"`
	Cardinality    int64  `json:"cardinality"`
}

// Txn is an application's own progress mark.
type Txn struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated *int64 `json:"lastUpdated"`
}

// DomainMetadata is a named configuration.
type DomainMetadata struct {
	Domain        string `json:"domain"`
	Configuration string `json:"configuration"`
	Removed       bool   `json:"removed"`
}

// CommitInfo is what the writer says about a commit. Its values are arbitrary JSON and read leniently (A4).
type CommitInfo struct {
	Timestamp         *int64         `json:"-"` // ms
	InCommitTimestamp *int64         `json:"-"` // ms
	Operation         string         `json:"-"`
	Raw               jsontext.Value `json:"-"`
}

// CheckpointMetadata marks a V2 checkpoint.
type CheckpointMetadata struct {
	Version int64 `json:"version"`
}

// Sidecar names a file of a V2 checkpoint that holds file actions.
type Sidecar struct {
	Path             string `json:"path"`
	SizeInBytes      int64  `json:"sizeInBytes"`
	ModificationTime int64  `json:"modificationTime"`
}

// UniqueID returns the identity of the vector (R2): storage type, path or inline text, and "@offset" when there is one.
// "" for nil.
func (d *DeletionVector) UniqueID() string {
	if d == nil {
		return ""
	}
	id := d.StorageType + d.PathOrInlineDv
	if d.Offset != nil {
		id += "@" + strconv.FormatInt(*d.Offset, 10)
	}
	return id
}
