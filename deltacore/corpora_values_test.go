package deltacore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/input/encode"
)

// newEncoder is the encoder of a scan's rows with the product's defaults.
func newEncoder(scan *deltacore.Scan) (*encode.Encoder, error) {
	config, err := configspec.Decode(map[string]any{"uri": "."})
	if err != nil {
		return nil, err
	}
	return encode.New(scan.Columns(), config.Values)
}

// encodeRows reads a scan to its end and writes each row as the pipeline's json format does, with its ids where it has any.
func encodeRows(ctx context.Context, scan *deltacore.Scan) ([]string, error) {
	encoder, err := newEncoder(scan)
	if err != nil {
		return nil, err
	}
	var lines []string
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		rows, err := encoder.JSON(batch.Record, encode.Part{})
		batch.Record.Release()
		if err != nil {
			return nil, err
		}
		for i := range rows.Ends {
			line := string(rows.Row(i))
			if batch.RowIDs != nil {
				line = fmt.Sprintf(`%s,"_row_id":%d,"_row_commit_version":%d}`,
					strings.TrimSuffix(line, "}"), batch.RowIDs[i], batch.RowCommitVersions[i])
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// valueList states the values of some columns, in one of several short forms.
type valueList struct {
	Column          string     `json:"column"`
	Sorted          []any      `json:"sorted"`
	RangesInclusive [][2]int64 `json:"ranges_inclusive"`
	Columns         []string   `json:"columns"`
	Rows            [][]any    `json:"rows"`
}

// UnmarshalJSON keeps numbers as they stand in the text.
func (v *valueList) UnmarshalJSON(text []byte) error {
	type plain valueList
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return d.Decode((*plain)(v))
}

// compare checks the stated columns of the rows. A nil list states nothing.
func (v *valueList) compare(rows scanned) error {
	if v == nil {
		return nil
	}
	names, want := v.Columns, v.Rows
	if v.Column != "" {
		names = []string{v.Column}
		for _, value := range v.Sorted {
			want = append(want, []any{value})
		}
		for _, r := range v.RangesInclusive {
			for n := r[0]; n <= r[1]; n++ {
				want = append(want, []any{json.Number(strconv.FormatInt(n, 10))})
			}
		}
	}
	return v.compareColumns(rows, names, want)
}

func (v *valueList) compareColumns(rows scanned, names []string, want [][]any) error {
	fields := make([]schema.Field, len(names))
	micros := make([]bool, len(names))
	for i, name := range names {
		field, ok := rows.columns.Field(name)
		if !ok {
			micros[i] = strings.HasSuffix(name, "_us") // a timestamp stated as its microseconds
			field, ok = rows.columns.Field(strings.TrimSuffix(name, "_us"))
		}
		if !ok {
			return fmt.Errorf("no column %q", name)
		}
		fields[i] = field
	}
	wanted := make([]string, 0, len(want))
	for _, row := range want {
		var b strings.Builder
		for i, value := range row {
			fmt.Fprintf(&b, "%s=%s ", fields[i].Name, canonical(fields[i].Type, stated(value, micros[i]), equalValue))
		}
		wanted = append(wanted, b.String())
	}
	found := make([]string, 0, len(rows.lines))
	for _, line := range rows.lines {
		row, err := decodeRow(line)
		if err != nil {
			return err
		}
		var b strings.Builder
		for _, f := range fields {
			fmt.Fprintf(&b, "%s=%s ", f.Name, canonical(f.Type, row[f.Name], equalValue))
		}
		found = append(found, b.String())
	}
	return firstDifference(wanted, found)
}

// stated turns a stated value into the form that the product writes.
func stated(value any, micros bool) any {
	n, isNumber := value.(json.Number)
	if !micros || !isNumber {
		return value
	}
	us, err := n.Int64()
	if err != nil {
		return value
	}
	return time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// canonicalForm says when two values are equal.
type canonicalForm int

const (
	exactText  canonicalForm = iota // the same digits, but for the order of map entries
	equalValue                      // the same value: 1.0 equals 1, fractions of a second are cut at their last digit
)

func canonicalLines(columns *schema.Struct, lines []string, form canonicalForm) ([]string, error) {
	out := make([]string, len(lines))
	for i, line := range lines {
		row, err := decodeRow(line)
		if err != nil {
			return nil, err
		}
		out[i] = canonical(columns, row, form)
	}
	return out, nil
}

func decodeRow(line string) (map[string]any, error) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var row map[string]any
	if err := d.Decode(&row); err != nil {
		return nil, wrong("row %s is no JSON: %w", line, err)
	}
	return row, nil
}

// canonical writes a value of a type so that equal values have equal texts.
func canonical(t schema.Type, value any, form canonicalForm) string {
	if value == nil {
		return "null"
	}
	switch t := t.(type) {
	case *schema.Struct:
		return canonicalStruct(t, value, form)
	case *schema.Array:
		return canonicalArray(t, value, form)
	case *schema.Map:
		return canonicalMap(t, value, form)
	case schema.Decimal:
		return canonicalDecimal(value, form)
	case schema.Primitive:
		return canonicalPrimitive(t, value, form)
	default:
		return fmt.Sprint(value)
	}
}

func canonicalStruct(t *schema.Struct, value any, form canonicalForm) string {
	members, ok := value.(map[string]any)
	if !ok {
		return fmt.Sprintf("no object: %v", value)
	}
	var b strings.Builder
	b.WriteByte('{')
	for _, f := range t.Fields {
		fmt.Fprintf(&b, "%q:%s,", f.Name, canonical(f.Type, members[f.Name], form))
	}
	return b.String() + "}"
}

func canonicalArray(t *schema.Array, value any, form canonicalForm) string {
	elements, ok := value.([]any)
	if !ok {
		return fmt.Sprintf("no array: %v", value)
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, e := range elements {
		b.WriteString(canonical(t.Element, e, form) + ",")
	}
	return b.String() + "]"
}

// canonicalMap orders the entries: the writers of expected rows sort them, the product keeps the file's order.
func canonicalMap(t *schema.Map, value any, form canonicalForm) string {
	var entries []string
	switch value := value.(type) {
	case map[string]any:
		for k, v := range value {
			entries = append(entries, canonical(t.Key, k, form)+":"+canonical(t.Value, v, form))
		}
	case []any:
		for _, e := range value {
			pair, _ := e.(map[string]any)
			entries = append(entries, canonical(t.Key, pair["key"], form)+":"+canonical(t.Value, pair["value"], form))
		}
	default:
		return fmt.Sprintf("no map: %v", value)
	}
	slices.Sort(entries)
	return "map(" + strings.Join(entries, ",") + ")"
}

func canonicalDecimal(value any, form canonicalForm) string {
	text := fmt.Sprint(value)
	if form == exactText {
		return text
	}
	if r, ok := new(big.Rat).SetString(text); ok {
		return r.RatString()
	}
	return text
}

func canonicalPrimitive(t schema.Primitive, value any, form canonicalForm) string {
	text := fmt.Sprint(value)
	switch {
	case t == schema.String:
		return strconv.Quote(text)
	case t == schema.Variant:
		return canonicalVariant(value)
	case form == exactText:
		return text
	case t == schema.Float || t == schema.Double:
		return canonicalFloat(t, text)
	case t == schema.Timestamp || t == schema.TimestampNTZ:
		text = strings.TrimSuffix(text, "Z")
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	default:
		return text
	}
}

func canonicalFloat(t schema.Primitive, text string) string {
	bits := 64
	if t == schema.Float {
		bits = 32
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// canonicalVariant compares as JSON: expected rows hold the text of the value, the product the value itself.
func canonicalVariant(value any) string {
	if text, ok := value.(string); ok {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var inner any
		if json.Valid([]byte(text)) && d.Decode(&inner) == nil {
			value = inner
		}
	}
	text, err := json.Marshal(canonicalJSON(value))
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// canonicalJSON writes numbers by their value: expected rows have 1.0E100, the product 1e+100.
func canonicalJSON(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for k, v := range value {
			value[k] = canonicalJSON(v)
		}
	case []any:
		for i, v := range value {
			value[i] = canonicalJSON(v)
		}
	case json.Number:
		if r, ok := new(big.Rat).SetString(value.String()); ok {
			return "number " + r.RatString()
		}
	}
	return value
}
