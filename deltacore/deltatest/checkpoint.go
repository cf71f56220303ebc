package deltatest

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// Checkpoint writes a classic checkpoint of the current version and the hint that names it.
func (t *Table) Checkpoint() {
	actions := t.state.actions()
	t.Put(CheckpointPath(t.Version()), checkpointFile(actions))
	t.Hint(fmt.Sprintf(`{"version":%d,"size":%d}`, t.Version(), len(actions)))
}

// CheckpointParts writes a checkpoint of the current version in several parts, its actions dealt out in turn, and the
// hint that names it. Drop a part to make it incomplete.
func (t *Table) CheckpointParts(parts int) {
	actions := t.state.actions()
	for part := range parts {
		var dealt []Action
		for i := part; i < len(actions); i += parts {
			dealt = append(dealt, actions[i])
		}
		t.Put(CheckpointPartPath(t.Version(), part+1, parts), checkpointFile(dealt))
	}
	t.Hint(fmt.Sprintf(`{"version":%d,"size":%d,"parts":%d}`, t.Version(), len(actions), parts))
}

// Hint writes _last_checkpoint as given (protocol LC1).
func (t *Table) Hint(text string) { t.Put(HintPath, []byte(text)) }

// HintPath is the path of the hint.
const HintPath = "_delta_log/_last_checkpoint"

// CheckpointPath is the path of a version's classic checkpoint.
func CheckpointPath(version int64) string {
	return fmt.Sprintf("_delta_log/%020d.checkpoint.parquet", version)
}

// CheckpointPartPath is the path of one part, counted from 1, of a version's multi-part checkpoint.
func CheckpointPartPath(version int64, part, parts int) string {
	return fmt.Sprintf("_delta_log/%020d.checkpoint.%010d.%010d.parquet", version, part, parts)
}

// checkpointFile writes actions as rows, one struct column per kind of action.
func checkpointFile(actions []Action) []byte {
	rows := make([]string, len(actions))
	for i, a := range actions {
		rows[i] = a.line
	}
	return Parquet{}.File(rowsOf(checkpointSchema, rows))
}

// checkpointSchema is the classic form (protocol C1), without the columns of parsed statistics and partition values.
var checkpointSchema = func() *arrow.Schema {
	vector := "deletionVector:struct<storageType:string,pathOrInlineDv:string,offset:integer,sizeInBytes:integer,cardinality:long>"
	return ArrowSchema(Columns(
		"txn struct<appId:string,version:long,lastUpdated:long>",
		"add struct<path:string,partitionValues:map<string,string>,size:long,modificationTime:long,dataChange:boolean,"+
			"tags:map<string,string>,"+vector+",baseRowId:long,defaultRowCommitVersion:long,stats:string>",
		"remove struct<path:string,deletionTimestamp:long,dataChange:boolean,extendedFileMetadata:boolean,"+
			"partitionValues:map<string,string>,size:long,"+vector+">",
		"metaData struct<id:string,name:string,description:string,format:struct<provider:string,options:map<string,string>>,"+
			"schemaString:string,partitionColumns:array<string>,configuration:map<string,string>,createdTime:long>",
		"protocol struct<minReaderVersion:integer,minWriterVersion:integer,readerFeatures:array<string>,writerFeatures:array<string>>",
		"domainMetadata struct<domain:string,configuration:string,removed:boolean>",
	))
}()
