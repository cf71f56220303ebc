package deltalog

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

// headPaths and addPaths are the columns of a checkpoint that are read. Removes, transactions and domains are not: they
// do not matter to a read (R6). Statistics come first in addPaths, since they can be left out.
var (
	headPaths = []string{"protocol", "metaData", "sidecar.path", "sidecar.sizeInBytes"}
	addPaths  = []string{
		"add.stats", "add.path", "add.partitionValues", "add.size", "add.modificationTime", "add.dataChange",
		"add.deletionVector.storageType", "add.deletionVector.pathOrInlineDv", "add.deletionVector.offset",
		"add.deletionVector.sizeInBytes", "add.deletionVector.cardinality",
		"add.baseRowId", "add.defaultRowCommitVersion",
	}
)

// binder collects the first error of finding the columns of a batch.
type binder struct{ err error }

func bind[T any](b *binder, find func(string) (T, error), name string) T {
	v, err := find(name)
	if b.err == nil {
		b.err = err
	}
	return v
}

// addColumns are the columns of add in one batch.
type addColumns struct {
	add                      group
	path, stats              texts
	partitions               pairs
	size, modified           ints
	dataChange               bools
	baseRowID, commitVersion ints
	vector                   vectorColumns
}

func bindAdds(batch arrow.RecordBatch) (addColumns, error) {
	add, err := topGroup(batch, "add")
	if err != nil {
		return addColumns{}, err
	}
	var b binder
	c := addColumns{
		add:           add,
		path:          bind(&b, add.texts, "path"),
		stats:         bind(&b, add.texts, "stats"),
		partitions:    bind(&b, add.pairs, "partitionValues"),
		size:          bind(&b, add.ints, "size"),
		modified:      bind(&b, add.ints, "modificationTime"),
		dataChange:    bind(&b, add.bools, "dataChange"),
		baseRowID:     bind(&b, add.ints, "baseRowId"),
		commitVersion: bind(&b, add.ints, "defaultRowCommitVersion"),
	}
	c.vector = bindVectors(&b, bind(&b, add.group, "deletionVector"))
	return c, b.err
}

// has says whether the row is an add. A writer without nullable structs leaves the members null instead.
func (c addColumns) has(row int) bool { return !c.add.null(row) && !c.path.null(row) }

// get returns the add of a row without its statistics. The path is that of the batch.
func (c addColumns) get(row int, values *rowValues) action.Add {
	return action.Add{
		Path: c.path.borrow(row), PartitionValues: values.get(c.partitions, row),
		Size: c.size.get(row), ModificationTime: c.modified.get(row), DataChange: c.dataChange.get(row),
		DeletionVector: c.vector.get(row),
		BaseRowID:      c.baseRowID.pointer(row), DefaultRowCommitVersion: c.commitVersion.pointer(row),
	}
}

// vectorColumns are the columns of a deletion vector descriptor.
type vectorColumns struct {
	vector                    group
	storageType, text         texts
	offset, size, cardinality ints
}

func bindVectors(b *binder, vector group) vectorColumns {
	return vectorColumns{
		vector:      vector,
		storageType: bind(b, vector.texts, "storageType"),
		text:        bind(b, vector.texts, "pathOrInlineDv"),
		offset:      bind(b, vector.ints, "offset"),
		size:        bind(b, vector.ints, "sizeInBytes"),
		cardinality: bind(b, vector.ints, "cardinality"),
	}
}

func (c vectorColumns) get(row int) *action.DeletionVector {
	if c.vector.null(row) || c.storageType.null(row) {
		return nil
	}
	return &action.DeletionVector{
		StorageType: c.storageType.get(row), PathOrInlineDv: c.text.get(row), Offset: c.offset.pointer(row),
		SizeInBytes: c.size.get(row), Cardinality: c.cardinality.get(row),
	}
}

// headColumns are the columns about the table itself in one batch.
type headColumns struct {
	protocol protocolColumns
	metadata metadataColumns
	sidecar  sidecarColumns
}

func bindHeads(batch arrow.RecordBatch) (headColumns, error) {
	var b binder
	top := func(name string) (group, error) { return topGroup(batch, name) }
	c := headColumns{
		protocol: bindProtocol(&b, bind(&b, top, "protocol")),
		metadata: bindMetadata(&b, bind(&b, top, "metaData")),
		sidecar:  bindSidecars(&b, bind(&b, top, "sidecar")),
	}
	return c, b.err
}

type protocolColumns struct {
	protocol       group
	reader, writer ints
	readerFeatures lists
	writerFeatures lists
}

func bindProtocol(b *binder, protocol group) protocolColumns {
	return protocolColumns{
		protocol:       protocol,
		reader:         bind(b, protocol.ints, "minReaderVersion"),
		writer:         bind(b, protocol.ints, "minWriterVersion"),
		readerFeatures: bind(b, protocol.lists, "readerFeatures"),
		writerFeatures: bind(b, protocol.lists, "writerFeatures"),
	}
}

func (c protocolColumns) get(row int) *action.Protocol {
	if c.protocol.null(row) || c.reader.pointer(row) == nil {
		return nil
	}
	return &action.Protocol{
		MinReaderVersion: int(c.reader.get(row)), MinWriterVersion: int(c.writer.get(row)),
		ReaderFeatures: c.readerFeatures.get(row), WriterFeatures: c.writerFeatures.get(row),
	}
}

type metadataColumns struct {
	metadata                      group
	id, name, description, schema texts
	provider                      texts
	options, configuration        pairs
	partitions                    lists
	created                       ints
}

func bindMetadata(b *binder, metadata group) metadataColumns {
	format := bind(b, metadata.group, "format")
	return metadataColumns{
		metadata:      metadata,
		id:            bind(b, metadata.texts, "id"),
		name:          bind(b, metadata.texts, "name"),
		description:   bind(b, metadata.texts, "description"),
		schema:        bind(b, metadata.texts, "schemaString"),
		provider:      bind(b, format.texts, "provider"),
		options:       bind(b, format.pairs, "options"),
		configuration: bind(b, metadata.pairs, "configuration"),
		partitions:    bind(b, metadata.lists, "partitionColumns"),
		created:       bind(b, metadata.ints, "createdTime"),
	}
}

func (c metadataColumns) get(row int) *action.Metadata {
	if c.metadata.null(row) || c.id.null(row) && c.schema.null(row) {
		return nil
	}
	return &action.Metadata{
		ID: c.id.get(row), Name: c.name.get(row), Description: c.description.get(row),
		Format:       action.Format{Provider: c.provider.get(row), Options: c.options.plain(row)},
		SchemaString: c.schema.get(row), PartitionColumns: c.partitions.get(row), CreatedTime: c.created.get(row),
		Configuration: c.configuration.plain(row),
	}
}

type sidecarColumns struct {
	sidecar        group
	path           texts
	size, modified ints
}

func bindSidecars(b *binder, sidecar group) sidecarColumns {
	return sidecarColumns{
		sidecar:  sidecar,
		path:     bind(b, sidecar.texts, "path"),
		size:     bind(b, sidecar.ints, "sizeInBytes"),
		modified: bind(b, sidecar.ints, "modificationTime"),
	}
}

func (c sidecarColumns) get(row int) *action.Sidecar {
	if c.sidecar.null(row) || c.path.null(row) {
		return nil
	}
	return &action.Sidecar{
		Path: c.path.get(row), SizeInBytes: c.size.get(row), ModificationTime: c.modified.get(row),
	}
}
