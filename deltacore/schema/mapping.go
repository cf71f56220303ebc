package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Mapping says how the columns of a table are found in its files (protocol section 15).
type Mapping string

const (
	MapByDisplayName Mapping = "none" // by the name that users see; annotations mean nothing (CM6)
	MapByName        Mapping = "name" // by physical name (CM2)
	MapByID          Mapping = "id"   // by the field_id of the file (CM3)
)

// The annotations of a mapped field. Lists and maps are not mapped, the members of structs inside them are.
const (
	physicalNameKey = "delta.columnMapping.physicalName"
	columnIDKey     = "delta.columnMapping.id"
)

// PhysicalName is the name of f in data files, partition values and statistics (CM4).
func (m Mapping) PhysicalName(f Field) string {
	if m != MapByName && m != MapByID {
		return f.Name
	}
	var name string
	if json.Unmarshal(f.Metadata[physicalNameKey], &name) != nil {
		return f.Name // Check refuses such a table
	}
	return name
}

// ColumnID is the field_id of f in data files; ok is false when it has none.
func (m Mapping) ColumnID(f Field) (id int32, ok bool) {
	n, err := strconv.ParseInt(string(f.Metadata[columnIDKey]), 10, 32)
	return int32(n), err == nil
}

// Check refuses a schema that the mapping cannot be read by: a field without annotations, an id that stands twice, or two
// fields with one physical path (CM5). Errors are Corrupt and name the column.
func (m Mapping) Check(s *Struct) error {
	if m != MapByName && m != MapByID {
		return nil
	}
	c := mappingCheck{mapping: m, ids: map[int32]string{}, paths: map[string]string{}}
	return c.members(s, "", "")
}

type mappingCheck struct {
	mapping Mapping
	ids     map[int32]string  // display path by id
	paths   map[string]string // display path by physical path
}

func (c mappingCheck) members(s *Struct, display, physical string) error {
	for _, f := range s.Fields {
		shown, stored := join(display, f.Name), ""
		if err := json.Unmarshal(f.Metadata[physicalNameKey], &stored); err != nil || stored == "" {
			return annotationError(shown, "the table maps columns, but the field has no "+physicalNameKey)
		}
		id, ok := c.mapping.ColumnID(f)
		if !ok {
			return annotationError(shown, "the table maps columns, but the field has no "+columnIDKey)
		}
		if other, taken := c.ids[id]; taken {
			return annotationError(shown, fmt.Sprintf("%s %d is that of column %s too", columnIDKey, id, other))
		}
		c.ids[id] = shown
		path := physical + "\x00" + stored
		if other, taken := c.paths[path]; taken {
			return annotationError(shown, fmt.Sprintf("%s %q is that of column %s too", physicalNameKey, stored, other))
		}
		c.paths[path] = shown
		if err := c.nested(f.Type, shown, path); err != nil {
			return err
		}
	}
	return nil
}

func (c mappingCheck) nested(t Type, display, physical string) error {
	switch t := t.(type) {
	case *Struct:
		return c.members(t, display, physical)
	case *Array:
		return c.nested(t.Element, display+".element", physical+"\x00element")
	case *Map:
		if err := c.nested(t.Key, display+".key", physical+"\x00key"); err != nil {
			return err
		}
		return c.nested(t.Value, display+".value", physical+"\x00value")
	default:
		return nil
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func annotationError(column, msg string) error {
	return deltaerr.New(deltaerr.Corrupt, msg, deltaerr.Column(column), deltaerr.Phase("checking the column mapping"))
}

// PartitionText finds the partition value of f in the log's map; nil is null. Where the table does not map its columns, a
// writer may have spelled the name in another case.
func (m Mapping) PartitionText(f Field, values map[string]*string) *string {
	name := m.PhysicalName(f)
	text, ok := values[name]
	if ok || m == MapByName || m == MapByID {
		return text
	}
	for key, text := range values {
		if strings.EqualFold(key, name) {
			return text
		}
	}
	return nil
}
