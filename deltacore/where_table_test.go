package deltacore_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// leafKind is a type of a random table, and those that it may have been before.
type leafKind struct {
	now   string
	older []string
}

var leafKinds = []leafKind{
	{"byte", nil},
	{"short", []string{"byte"}},
	{"integer", []string{"short", "byte"}},
	{"long", []string{"integer", "short"}},
	{"float", nil},
	{"double", []string{"float", "integer"}},
	{"decimal(5,2)", nil},
	{"decimal(12,3)", []string{"decimal(9,1)", "short"}},
	{"decimal(18,0)", []string{"integer"}},
	{"decimal(38,10)", []string{"decimal(20,2)", "long"}},
	{"string", nil},
	{"string", nil},
	{"binary", nil},
	{"boolean", nil},
	{"date", nil},
	{"timestamp", nil},
	{"timestamp_ntz", []string{"date"}},
}

// partitionKinds are types whose values are as good in a path.
var partitionKinds = []string{"byte", "long", "double", "decimal(12,3)", "string", "boolean", "date", "timestamp", "timestamp_ntz"}

var columnNames = []string{"a", "b", "c1", "Größe", "two words", "dots.in", "SELECT", "in", "tick`ed", "Mixed"}

// randomLeaf is a column, or a field of a struct.
type randomLeaf struct {
	older  schema.Type // in files of before a change; nil: as now
	absent bool        // in those files
	style  int
	spread int // how the numbers of its values lie
	nulls  int // one row of so many is null; 0: none
}

// randomTable is a table and how its rows are made.
type randomTable struct {
	*deltatest.Table
	columns *schema.Struct
	leaves  map[string]randomLeaf // by path
	random  *rand.Rand
	few     bool     // columns have few values, in dictionaries
	told    []string // what it is like
	files   int
}

func (r *randomTable) below(n int) int { return r.random.IntN(n) }

func (r *randomTable) say(format string, args ...any) {
	r.told = append(r.told, fmt.Sprintf(format, args...))
}

func drawRandomTable(t *rapid.T) *randomTable {
	r := &randomTable{leaves: map[string]randomLeaf{}, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
	r.columns, r.few = &schema.Struct{}, r.below(3) == 0
	names := slices.Clone(columnNames)
	r.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		r.columns.Fields = append(r.columns.Fields, r.leaf(names[i], ""))
	}
	if rapid.Bool().Draw(t, "struct") {
		r.columns.Fields = append(r.columns.Fields, r.nested("s", ""))
	}
	list := schema.Field{Name: "list", Type: deltatest.Type("array<integer>"), Nullable: true}
	r.columns.Fields = append(r.columns.Fields, list)
	var partition []string
	for i := range rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(t, "partition columns") {
		f := schema.Field{Name: fmt.Sprint("p", i), Type: deltatest.Type(oneOf(r, partitionKinds...)), Nullable: true}
		r.leaves[f.Name] = randomLeaf{style: r.below(60), spread: 1 + r.below(3), nulls: oneOf(r, 0, 4)}
		at := r.below(len(r.columns.Fields) + 1)
		r.columns.Fields = slices.Insert(r.columns.Fields, at, f)
		partition = append(partition, f.Name)
	}
	r.make(t, partition)
	return r
}

func (r *randomTable) leaf(name, above string) schema.Field {
	kind := oneOf(r, leafKinds...)
	l := randomLeaf{style: r.below(60), spread: r.below(6), nulls: oneOf(r, 0, 0, 3, 20, 100), absent: r.below(6) == 0}
	if r.few {
		l.spread = 1 + r.below(2)
	}
	if len(kind.older) > 0 && r.below(2) == 0 {
		l.older = deltatest.Type(oneOf(r, kind.older...))
	}
	r.leaves[above+name] = l
	required := l.nulls == 0 && !l.absent && r.below(3) == 0
	return schema.Field{Name: name, Type: deltatest.Type(kind.now), Nullable: !required}
}

func (r *randomTable) nested(name, above string) schema.Field {
	s := &schema.Struct{}
	for i := range 1 + r.below(2) {
		s.Fields = append(s.Fields, r.leaf(fmt.Sprint("f", i), above+name+"/"))
	}
	if above == "" && r.below(2) == 0 {
		s.Fields = append(s.Fields, r.nested("in_", name+"/"))
	}
	return schema.Field{Name: name, Type: s, Nullable: true}
}

// make writes the table: files of before a change of types, then those of now, some with vectors, and a checkpoint.
func (r *randomTable) make(t *rapid.T, partition []string) {
	o := deltatest.Options{
		Protocol:         deltatest.Features("deletionVectors", "typeWidening", "timestampNtz", "columnMapping"),
		PartitionColumns: partition, Configuration: map[string]string{},
	}
	if mode := rapid.SampledFrom([]string{"", "", "name", "id"}).Draw(t, "mapping"); mode != "" {
		if r.below(2) == 0 {
			last := int32(0)
			r.columns = renamedInTurn(r.columns, &last)
		}
		r.columns = deltatest.Mapped(r.columns)
		o.Configuration["delta.columnMapping.mode"] = mode
		r.say("mapped by %s", mode)
	}
	r.say("%s partitioned by %v", r.columns, partition)
	r.Table = deltatest.New(r.columns, o)
	for i := range rapid.IntRange(1, 3).Draw(t, "appends") {
		columns := r.columns
		if i == 0 && r.below(2) == 0 {
			columns = r.before(r.columns, "")
			r.say("%s at first", columns)
		}
		r.Layout(r.layout(columns))
		r.append(columns, r.rows(columns, 1+r.below(120)))
		if r.below(4) == 0 {
			r.checkpoint()
		}
		if r.below(6) == 0 {
			r.Delete(oneOf(r, r.Active()...))
		}
	}
	if r.below(2) == 0 {
		r.checkpoint()
	}
}

// renamedInTurn are columns each of which has the physical name that the next one is called by now.
func renamedInTurn(s *schema.Struct, last *int32) *schema.Struct {
	out := &schema.Struct{}
	for i, f := range s.Fields {
		*last++
		f = deltatest.WithMapping(f, *last, s.Fields[(i+1)%len(s.Fields)].Name)
		if inner, is := f.Type.(*schema.Struct); is {
			f.Type = renamedInTurn(inner, last)
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

func (r *randomTable) checkpoint() {
	forms := deltatest.CheckpointStats{JSON: r.below(2) == 0, Parsed: r.below(3) > 0}
	r.CheckpointWith(forms)
	r.say("checkpoint %d with %+v", r.Version(), forms)
}

// before are the columns as they were once.
func (r *randomTable) before(s *schema.Struct, above string) *schema.Struct {
	out := &schema.Struct{}
	for _, f := range s.Fields {
		l := r.leaves[above+f.Name]
		if inner, is := f.Type.(*schema.Struct); is {
			f.Type = r.before(inner, above+f.Name+"/")
		} else if l.older != nil {
			f.Type = l.older
		}
		if !l.absent || above != "" && len(out.Fields) == 0 {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

func (r *randomTable) layout(columns *schema.Struct) deltatest.Parquet {
	p := deltatest.Parquet{
		RowGroupRows: oneOf[int64](r, 0, 0, 20, 50),
		PageVersion:  1 + r.below(2),
		PageBytes:    oneOf[int64](r, 1, 1, 100, 1<<20),
		BatchRows:    oneOf[int64](r, 4, 16),
		DictBytes:    oneOf[int64](r, 0, 0, 40),
		NoDictionary: r.below(3) == 0,
		WideDecimals: r.below(2) == 0,
		PageIndex:    r.below(4) > 0,
		Bloom:        r.below(2) == 0,
		BloomValues:  oneOf[int64](r, 5, 100),
		NoStatistics: r.below(6) == 0,
		INT96:        r.below(6) == 0 && !hasLocalTimes(r.columns),
		Codec:        oneOf(r, "SNAPPY", "UNCOMPRESSED"),
	}
	dictionaries := r.few || r.below(4) == 0
	if dictionaries { // that are worth reading, of all values or of the first ones
		p.RowGroupRows, p.PageBytes, p.DictBytes, p.NoDictionary = 0, 1, oneOf[int64](r, 0, 40), false
	}
	if !dictionaries && !p.INT96 && r.below(3) == 0 {
		p.Encodings = map[string]string{}
		r.encode(p.Encodings, columns, "")
	}
	r.say("%+v", p)
	return p
}

// encode chooses encodings of some leaves, by their paths in the file.
func (r *randomTable) encode(by map[string]string, s *schema.Struct, above string) {
	for _, f := range s.Fields {
		path := above + deltatest.PhysicalName(f)
		encodings := []string{"PLAIN"}
		switch f.Type {
		case schema.Short, schema.Integer, schema.Long, schema.Date, schema.Timestamp, schema.TimestampNTZ:
			encodings = append(encodings, "DELTA_BINARY_PACKED")
		case schema.String, schema.Binary:
			encodings = append(encodings, "DELTA_LENGTH_BYTE_ARRAY")
			if above == "" && !f.Nullable { // of a page of nulls, arrow-go writes what nobody can read
				encodings = append(encodings, "DELTA_BYTE_ARRAY")
			}
		case schema.Float, schema.Double:
			encodings = append(encodings, "BYTE_STREAM_SPLIT")
		}
		inner, is := f.Type.(*schema.Struct)
		switch {
		case is:
			r.encode(by, inner, path+".")
		case len(encodings) > 1 && r.below(2) == 0:
			by[path] = oneOf(r, encodings...)
		}
	}
}

// hasLocalTimes says whether there are times that INT96 is not for.
func hasLocalTimes(s *schema.Struct) bool {
	return slices.ContainsFunc(s.Fields, func(f schema.Field) bool {
		inner, is := f.Type.(*schema.Struct)
		return is && hasLocalTimes(inner) || f.Type == schema.Type(schema.TimestampNTZ)
	})
}

// append commits rows, then perhaps takes some out of their files.
func (r *randomTable) append(columns *schema.Struct, written []string) {
	adds := r.WriteFiles(deltatest.Rows(columns, written...))
	if r.below(2) == 0 && !strings.Contains(strings.Join(written, ""), `"NaN"`) {
		r.sayWithoutNaNs(adds)
	}
	lines, rows := make([]deltatest.Action, len(adds)), make([]int64, len(adds))
	for i := range adds {
		rows[i] = rowsIn(adds[i])
		adds[i].Stats = r.weakened(adds[i].Stats)
		lines[i] = deltatest.Add(adds[i])
	}
	r.Commit(lines...)
	r.files += len(adds)
	for i, add := range adds {
		if r.below(3) == 0 {
			r.deleteSome(add, rows[i])
		}
	}
}

// sayWithoutNaNs makes the footers say so, which the writer does not do.
func (r *randomTable) sayWithoutNaNs(adds []action.Add) {
	files := r.Files()
	for i := range adds {
		path, err := url.PathUnescape(adds[i].Path)
		if err != nil {
			panic(err)
		}
		content := deltatest.WithoutNaNs(files[path])
		r.Put(path, content)
		adds[i].Size = int64(len(content))
	}
}

func rowsIn(add action.Add) int64 {
	var stats struct{ NumRecords int64 }
	fromJSON(add.Stats, &stats)
	return stats.NumRecords
}

// deleteSome commits a vector for a file. What is known of its rows stays, marked as such or not (protocol ST6, A7).
func (r *randomTable) deleteSome(add action.Add, rows int64) {
	some := oneOf(r, 1, 2, 10)
	var gone []int64
	for row := range rows {
		if r.below(some) == 0 {
			gone = append(gone, row)
		}
	}
	if r.below(2) == 0 && strings.HasPrefix(add.Stats, `{"`) {
		add.Stats = `{"tightBounds":false,` + add.Stats[1:]
	}
	r.DeleteRows(add, gone...)
}

// rows draws rows of columns.
func (r *randomTable) rows(columns *schema.Struct, n int) []string {
	lines := make([]string, n)
	for row := range lines {
		lines[row] = r.row(columns, "", row*variety/n)
	}
	return lines
}

func (r *randomTable) row(s *schema.Struct, above string, place int) string {
	members := make([]string, 0, len(s.Fields))
	for _, f := range s.Fields {
		members = append(members, fmt.Sprintf("%q: %s", f.Name, r.value(f, above+f.Name, place)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (r *randomTable) value(f schema.Field, path string, place int) string {
	l := r.leaves[path]
	switch t := f.Type.(type) {
	case *schema.Struct:
		if r.below(20) == 0 {
			return "null"
		}
		return r.row(t, path+"/", place)
	case *schema.Array:
		return oneOf(r, "null", "[]", "[1,null,3]")
	}
	if l.nulls > 0 && r.below(l.nulls) == 0 {
		return "null"
	}
	return valueNumber(f.Type, l.number(r, place), l.style)
}

// number draws which value a row has: any, one of few, or one that ascends with the rows or the files.
func (l randomLeaf) number(r *randomTable, place int) int {
	switch l.spread {
	case 0:
		return r.below(variety)
	case 1:
		return variety/2 - 1 + r.below(3) // of floating-point numbers: both zeros
	case 2:
		return 90 + 9*r.below(3)
	case 3:
		return 120 + r.files%2
	case 4:
		return min(variety-1, r.files*40%variety+r.below(30))
	}
	return min(variety-1, place+r.below(3))
}

// weakened is what some writer would have said instead: nothing, less, or what shows that it is wrong.
func (r *randomTable) weakened(text string) string {
	switch r.below(10) {
	case 0:
		return ""
	case 1:
		return oneOf(r, "{", "null", `{"numRecords":`, `{"minValues":[1]}`)
	case 2:
		return r.without(text, oneOf(r, "numRecords", "minValues", "maxValues", "nullCount"))
	case 3:
		return r.changed(text, oneOf(r, "minValues", "maxValues", "nullCount"))
	case 4, 5: // a greatest text that was cut has nothing behind it, or what other writers put there (ST3)
		return strings.ReplaceAll(text, "\U0010FFFF", oneOf(r, "", "\x7f", "\uFFFD"))
	}
	return text
}

func (r *randomTable) without(text, name string) string {
	var members map[string]json.RawMessage
	fromJSON(text, &members)
	delete(members, name)
	return toJSON(members)
}

// changed leaves leaves out, or gives them another name or a value of another type.
func (r *randomTable) changed(text, name string) string {
	var members map[string]json.RawMessage
	fromJSON(text, &members)
	if members[name] == nil {
		return text
	}
	var leaves map[string]json.RawMessage
	fromJSON(string(members[name]), &leaves)
	for _, leaf := range slices.Sorted(maps.Keys(leaves)) {
		value := leaves[leaf]
		switch r.below(6) {
		case 0:
			delete(leaves, leaf)
		case 1:
			leaves[leaf] = json.RawMessage(oneOf(r, `{"x":1}`, "[]", "true", "null"))
		case 2:
			delete(leaves, leaf)
			leaves[strings.ToUpper(leaf)+"_"] = value
		}
	}
	members[name] = json.RawMessage(toJSON(leaves))
	return toJSON(members)
}

func fromJSON(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
