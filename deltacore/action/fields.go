package action

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The members of each action, in the order in which writers put them. Unknown ones are passed over (A1).

func (d *decoder) add(a *Add) error {
	err := d.object(func(key []byte) error {
		switch string(key) {
		case "path":
			return d.text(&a.Path, "path")
		case "partitionValues":
			return d.partitionValues(&a.PartitionValues)
		case "size":
			return d.integer(&a.Size, "size")
		case "modificationTime":
			return d.integer(&a.ModificationTime, "modificationTime")
		case "dataChange":
			return d.truth(&a.DataChange, "dataChange")
		case "stats":
			return d.stats(&a.Stats)
		case "deletionVector":
			return d.deletionVector(&a.DeletionVector)
		case "baseRowId":
			return d.optional(&a.BaseRowID, "baseRowId")
		case "defaultRowCommitVersion":
			return d.optional(&a.DefaultRowCommitVersion, "defaultRowCommitVersion")
		}
		return d.skip()
	})
	return d.needs(a.Path, "path", err)
}

func (d *decoder) remove(r *Remove) error {
	err := d.object(func(key []byte) error {
		switch string(key) {
		case "path":
			return d.text(&r.Path, "path")
		case "deletionTimestamp":
			return d.integer(&r.DeletionTimestamp, "deletionTimestamp")
		case "dataChange":
			return d.truth(&r.DataChange, "dataChange")
		case "extendedFileMetadata":
			return d.truth(&r.ExtendedFileMetadata, "extendedFileMetadata")
		case "partitionValues":
			return d.partitionValues(&r.PartitionValues)
		case "size":
			return d.integer(&r.Size, "size")
		case "deletionVector":
			return d.deletionVector(&r.DeletionVector)
		}
		return d.skip()
	})
	return d.needs(r.Path, "path", err)
}

func (d *decoder) cdc(c *CDC) error {
	err := d.object(func(key []byte) error {
		switch string(key) {
		case "path":
			return d.text(&c.Path, "path")
		case "partitionValues":
			return d.partitionValues(&c.PartitionValues)
		case "size":
			return d.integer(&c.Size, "size")
		case "dataChange":
			return d.truth(&c.DataChange, "dataChange")
		}
		return d.skip()
	})
	return d.needs(c.Path, "path", err)
}

// deletionVector reads a descriptor or null. An offset that is null is absent (R2).
func (d *decoder) deletionVector(dst **DeletionVector) error {
	if d.absent() {
		return nil
	}
	v := new(DeletionVector)
	*dst = v
	return d.object(func(key []byte) error {
		switch string(key) {
		case "storageType":
			return d.text(&v.StorageType, "deletionVector.storageType")
		case "pathOrInlineDv":
			return d.text(&v.PathOrInlineDv, "deletionVector.pathOrInlineDv")
		case "offset":
			return d.optional(&v.Offset, "deletionVector.offset")
		case "sizeInBytes":
			return d.integer(&v.SizeInBytes, "deletionVector.sizeInBytes")
		case "cardinality":
			return d.integer(&v.Cardinality, "deletionVector.cardinality")
		}
		return d.skip()
	})
}

// stats reads statistics. They are a hint, so what is no text is the same as none (A7).
func (d *decoder) stats(dst *string) error {
	if d.omitStats || d.json.PeekKind() != jsontext.KindString {
		return d.skip()
	}
	return d.text(dst, "stats")
}

func (d *decoder) protocol(p *Protocol) error {
	return d.object(func(key []byte) error {
		switch string(key) {
		case "minReaderVersion":
			return d.version(&p.MinReaderVersion, "minReaderVersion")
		case "minWriterVersion":
			return d.version(&p.MinWriterVersion, "minWriterVersion")
		case "readerFeatures":
			return d.texts(&p.ReaderFeatures, "readerFeatures")
		case "writerFeatures":
			return d.texts(&p.WriterFeatures, "writerFeatures")
		}
		return d.skip()
	})
}

func (d *decoder) metadata(m *Metadata) error {
	return d.object(func(key []byte) error {
		switch string(key) {
		case "id":
			return d.text(&m.ID, "id")
		case "name":
			return d.text(&m.Name, "name")
		case "description":
			return d.text(&m.Description, "description")
		case "format":
			return d.format(&m.Format)
		case "schemaString":
			return d.text(&m.SchemaString, "schemaString")
		case "partitionColumns":
			return d.texts(&m.PartitionColumns, "partitionColumns")
		case "createdTime":
			return d.integer(&m.CreatedTime, "createdTime")
		case "configuration":
			return d.settings(&m.Configuration, "configuration")
		}
		return d.skip()
	})
}

func (d *decoder) format(f *Format) error {
	if d.absent() {
		return nil
	}
	return d.object(func(key []byte) error {
		switch string(key) {
		case "provider":
			return d.text(&f.Provider, "format.provider")
		case "options":
			return d.settings(&f.Options, "format.options")
		}
		return d.skip()
	})
}

func (d *decoder) txn(t *Txn) error {
	return d.object(func(key []byte) error {
		switch string(key) {
		case "appId":
			return d.text(&t.AppID, "appId")
		case "version":
			return d.integer(&t.Version, "version")
		case "lastUpdated":
			return d.optional(&t.LastUpdated, "lastUpdated")
		}
		return d.skip()
	})
}

func (d *decoder) domainMetadata(m *DomainMetadata) error {
	return d.object(func(key []byte) error {
		switch string(key) {
		case "domain":
			return d.text(&m.Domain, "domain")
		case "configuration":
			return d.text(&m.Configuration, "configuration")
		case "removed":
			return d.truth(&m.Removed, "removed")
		}
		return d.skip()
	})
}

// commitInfo keeps the value and takes what it knows from it where it has the right type; nothing in it is an error
// (A4), except JSON that is broken.
func (d *decoder) commitInfo(c *CommitInfo) error {
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	c.Raw = slices.Clone(raw)
	var members struct {
		Operation         jsontext.Value `json:"operation"`
		Timestamp         jsontext.Value `json:"timestamp"`
		InCommitTimestamp jsontext.Value `json:"inCommitTimestamp"`
	}
	if json.Unmarshal(raw, &members) != nil {
		return nil //nolint:nilerr // not even an object: no commitInfo fails a read (A4)
	}
	if json.Unmarshal(members.Operation, &c.Operation) != nil {
		c.Operation = ""
	}
	c.Timestamp = lenientInteger(members.Timestamp)
	c.InCommitTimestamp = lenientInteger(members.InCommitTimestamp)
	return nil
}

// lenientInteger returns nil for what is no integer of 64 bits.
func lenientInteger(v jsontext.Value) *int64 {
	var n *int64
	if json.Unmarshal(v, &n) != nil {
		return nil
	}
	return n
}

func (d *decoder) checkpointMetadata(m *CheckpointMetadata) error {
	return d.object(func(key []byte) error {
		if string(key) == "version" {
			return d.integer(&m.Version, "version")
		}
		return d.skip()
	})
}

func (d *decoder) sidecar(s *Sidecar) error {
	err := d.object(func(key []byte) error {
		switch string(key) {
		case "path":
			return d.text(&s.Path, "path")
		case "sizeInBytes":
			return d.integer(&s.SizeInBytes, "sizeInBytes")
		case "modificationTime":
			return d.integer(&s.ModificationTime, "modificationTime")
		}
		return d.skip()
	})
	return d.needs(s.Path, "path", err)
}

// needs adds to the errors of an action that a member is missing.
func (d *decoder) needs(value, name string, err error) error {
	if err == nil && value == "" {
		return shapeError("has no " + name + " in " + d.action.String())
	}
	return err
}
