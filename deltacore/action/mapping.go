package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

const columnMappingMode = "delta.columnMapping.mode"

// HasReaderFeature says whether the protocol lists a feature that readers must know.
func (p Protocol) HasReaderFeature(name string) bool { return slices.Contains(p.ReaderFeatures, name) }

// ColumnMapping is how the columns of a table are found. The metadata's word counts only on reader version 2, or 3 with
// the feature (F3, CM1). A mode that does not exist is a Corrupt error.
func ColumnMapping(p Protocol, m Metadata) (schema.Mapping, error) {
	mode := m.Configuration[columnMappingMode]
	if mode == "" || p.MinReaderVersion < 2 || p.MinReaderVersion == 3 && !p.HasReaderFeature(columnMappingFeature) {
		return schema.MapByDisplayName, nil
	}
	switch mapping := schema.Mapping(strings.ToLower(mode)); mapping {
	case schema.MapByDisplayName, schema.MapByName, schema.MapByID:
		return mapping, nil
	}
	return "", deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("%s is %q, which is none of none, name, id", columnMappingMode, mode))
}
