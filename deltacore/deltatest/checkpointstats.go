package deltatest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// CheckpointStats are the forms in which a checkpoint holds what is known of a file (protocol C5).
type CheckpointStats struct {
	JSON   bool // statistics as the text of the add
	Parsed bool // statistics and partition values as columns
}

// CheckpointWith is [Table.Checkpoint] with the statistics in these forms. Columns have the types of the table and hold what
// the text says in those types, which leaves out NaN and the infinities' names of some writers; the rest is null.
func (t *Table) CheckpointWith(forms CheckpointStats) {
	actions := t.state.actions()
	parsed := parsedForm{columns: t.columns, partition: t.state.metadata.PartitionColumns, forms: forms}
	t.Put(CheckpointPath(t.Version()), parsed.file(actions))
	t.Hint(fmt.Sprintf(`{"version":%d,"size":%d}`, t.Version(), len(actions)))
}

// parsedForm makes the rows of a checkpoint with columns for statistics.
type parsedForm struct {
	columns   *schema.Struct
	partition []string
	forms     CheckpointStats
}

func (p parsedForm) file(actions []Action) []byte {
	rows := make([]string, len(actions))
	for i, a := range actions {
		rows[i] = a.line
		if add, ok := a.value.(action.Add); ok {
			rows[i] = p.addLine(a.line, add)
		}
	}
	return Parquet{}.File(rowsOf(p.schema(), rows))
}

// schema is the classic one with more columns in add.
func (p parsedForm) schema() *arrow.Schema {
	fields := slices.Clone(checkpointSchema.Fields())
	for i, f := range fields {
		if f.Name != "add" || !p.forms.Parsed {
			continue
		}
		more := &schema.Struct{Fields: []schema.Field{nullable("stats_parsed", p.statsType())}}
		if len(p.partition) > 0 {
			more.Fields = append(more.Fields, nullable("partitionValues_parsed", p.partitionType()))
		}
		members := slices.Concat(f.Type.(*arrow.StructType).Fields(), ArrowSchema(more).Fields())
		fields[i].Type = arrow.StructOf(members...)
	}
	return arrow.NewSchema(fields, nil)
}

func nullable(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

func (p parsedForm) statsType() *schema.Struct {
	s := &schema.Struct{Fields: []schema.Field{nullable("numRecords", schema.Long), nullable("tightBounds", schema.Boolean)}}
	if bounds := boundsType(p.data()); len(bounds.Fields) > 0 {
		s.Fields = append(s.Fields, nullable("minValues", bounds), nullable("maxValues", bounds))
	}
	s.Fields = append(s.Fields, nullable("nullCount", countsType(p.data())))
	return s
}

// data are the columns that are not partition columns: those that files have.
func (p parsedForm) data() *schema.Struct {
	s := &schema.Struct{}
	for _, f := range p.columns.Fields {
		if !slices.Contains(p.partition, f.Name) {
			s.Fields = append(s.Fields, f)
		}
	}
	return s
}

func (p parsedForm) partitionType() *schema.Struct {
	s := &schema.Struct{}
	for _, f := range p.columns.Fields {
		if slices.Contains(p.partition, f.Name) {
			s.Fields = append(s.Fields, nullable(PhysicalName(f), f.Type))
		}
	}
	return s
}

// boundsType has the leaves that have a least and a greatest value (protocol ST8), by physical names.
func boundsType(columns *schema.Struct) *schema.Struct {
	s := &schema.Struct{}
	for _, f := range columns.Fields {
		t := f.Type
		if inner, is := t.(*schema.Struct); is {
			if inner = boundsType(inner); len(inner.Fields) > 0 {
				s.Fields = append(s.Fields, nullable(PhysicalName(f), inner))
			}
		} else if hasBounds(t) {
			s.Fields = append(s.Fields, nullable(PhysicalName(f), t))
		}
	}
	return s
}

func hasBounds(t schema.Type) bool {
	if _, decimal := t.(schema.Decimal); decimal {
		return true
	}
	switch t {
	case schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Float, schema.Double,
		schema.String, schema.Date, schema.Timestamp, schema.TimestampNTZ:
		return true
	}
	return false
}

func countsType(columns *schema.Struct) *schema.Struct {
	s := &schema.Struct{}
	for _, f := range columns.Fields {
		t := schema.Type(schema.Long)
		if inner, is := f.Type.(*schema.Struct); is {
			t = countsType(inner)
		}
		s.Fields = append(s.Fields, nullable(PhysicalName(f), t))
	}
	return s
}

// addLine rewrites the line of an add for the checkpoint.
func (p parsedForm) addLine(line string, add action.Add) string {
	var outer map[string]map[string]jsontext.Value
	must(json.Unmarshal([]byte(line), &outer))
	members := outer["add"]
	if !p.forms.JSON {
		delete(members, "stats")
	}
	if p.forms.Parsed {
		if stats, ok := asType(p.statsType(), jsontext.Value(add.Stats)); ok {
			members["stats_parsed"] = stats
		}
		if len(p.partition) > 0 {
			members["partitionValues_parsed"] = p.partitionJSON(add.PartitionValues)
		}
	}
	return string(marshal(outer))
}

func (p parsedForm) partitionJSON(values map[string]*string) jsontext.Value {
	members := map[string]jsontext.Value{}
	for _, f := range p.partitionType().Fields {
		text := values[f.Name]
		if text == nil {
			continue
		}
		value := marshal(*text)
		switch f.Type {
		case schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Boolean:
			value = jsontext.Value(*text)
		case schema.Binary:
			value = marshal([]byte(*text))
		case schema.Timestamp:
			value = marshal(*text + "Z")
		}
		members[f.Name] = value
	}
	return marshal(members)
}

// asType keeps of a JSON value what is one of the type; ok is false where nothing is.
func asType(t schema.Type, v jsontext.Value) (out jsontext.Value, ok bool) {
	if !v.IsValid() {
		return nil, false
	}
	switch t := t.(type) {
	case *schema.Struct:
		return structAsType(t, v)
	case schema.Decimal:
		return decimalAsType(t, v)
	}
	kind := v.Kind()
	switch t {
	case schema.String, schema.Date, schema.Timestamp, schema.TimestampNTZ:
		return v, kind == '"'
	case schema.Boolean:
		return v, kind == 't' || kind == 'f'
	case schema.Float, schema.Double:
		return v, kind == '0'
	}
	_, err := strconv.ParseInt(string(v), 10, 64)
	return v, err == nil
}

func structAsType(t *schema.Struct, v jsontext.Value) (jsontext.Value, bool) {
	var members map[string]jsontext.Value
	if v.Kind() != '{' || json.Unmarshal(v, &members) != nil {
		return nil, false
	}
	out := map[string]jsontext.Value{}
	for _, f := range t.Fields {
		if value, ok := asType(f.Type, members[f.Name]); ok {
			out[f.Name] = value
		}
	}
	return marshal(out), true
}

// decimalAsType writes a number with all the digits of the scale, as a string: that is exact.
func decimalAsType(t schema.Decimal, v jsontext.Value) (jsontext.Value, bool) {
	if v.Kind() != '0' || strings.ContainsAny(string(v), "eE") {
		return nil, false
	}
	whole, fraction, _ := strings.Cut(string(v), ".")
	if len(fraction) > t.Scale {
		return nil, false
	}
	text := whole
	if t.Scale > 0 {
		text += "." + fraction + strings.Repeat("0", t.Scale-len(fraction))
	}
	return marshal(text), true
}
