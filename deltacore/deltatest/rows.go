package deltatest

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// Rows builds a record of the columns from one JSON object a row. Missing keys are null; decimals, dates and timestamps
// are strings, binary is base64, a map is an object or a list of {"key":…,"value":…}. The record lives on the Go heap:
// nobody needs to release it.
func Rows(columns *schema.Struct, rows ...string) arrow.RecordBatch {
	return rowsOf(ArrowSchema(columns), rows)
}

func rowsOf(s *arrow.Schema, rows []string) arrow.RecordBatch {
	var text strings.Builder
	text.WriteString("[")
	row := arrow.StructOf(s.Fields()...)
	for i, r := range rows {
		if i > 0 {
			text.WriteString(",")
		}
		text.Write(arrowJSON(row, jsontext.Value(r)))
	}
	text.WriteString("]")
	record, _, err := array.RecordFromJSON(memory.NewGoAllocator(), s, strings.NewReader(text.String()))
	must(err)
	return record
}

// arrowJSON rewrites objects that stand for maps as the lists of entries that Arrow's JSON reader wants.
func arrowJSON(t arrow.DataType, v jsontext.Value) jsontext.Value {
	if v.Kind() == 'n' {
		return v
	}
	switch t := t.(type) {
	case *arrow.StructType:
		return structJSON(t, v)
	case *arrow.MapType:
		if v.Kind() == '{' {
			return entriesJSON(t, v)
		}
	case *arrow.ListType:
		var list []jsontext.Value
		must(json.Unmarshal(v, &list))
		for i := range list {
			list[i] = arrowJSON(t.Elem(), list[i])
		}
		return marshal(list)
	}
	return v
}

func structJSON(t *arrow.StructType, v jsontext.Value) jsontext.Value {
	var members map[string]jsontext.Value
	must(json.Unmarshal(v, &members))
	for name, value := range members {
		f, ok := t.FieldByName(name)
		if !ok {
			panic("deltatest: no column " + name)
		}
		members[name] = arrowJSON(f.Type, value)
	}
	return marshal(members)
}

func entriesJSON(t *arrow.MapType, v jsontext.Value) jsontext.Value {
	var members map[string]jsontext.Value
	must(json.Unmarshal(v, &members))
	type entry struct {
		Key   string         `json:"key"`
		Value jsontext.Value `json:"value"`
	}
	entries := make([]entry, 0, len(members))
	for _, key := range sortedKeys(members) {
		entries = append(entries, entry{key, arrowJSON(t.ItemType(), members[key])})
	}
	return marshal(entries)
}

func marshal(v any) jsontext.Value {
	text, err := json.Marshal(v, json.Deterministic(true))
	must(err)
	return text
}
