package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// mapped writes a field with both annotations.
func mapped(name, physical string, id int, typ string) string {
	return fmt.Sprintf(`{"name":%q,"type":%s,"nullable":true,"metadata":{"delta.columnMapping.id":%d,"delta.columnMapping.physicalName":%q}}`,
		name, typ, id, physical)
}

func structOf(fields ...string) string {
	return `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
}

func TestPhysicalNamesAndIDsComeFromTheAnnotations(t *testing.T) {
	s := mustParse(t, structOf(mapped("a", "col-1", 7, `"long"`)))
	for mode, want := range map[Mapping]string{MapByDisplayName: "a", MapByName: "col-1", MapByID: "col-1"} {
		if got := mode.PhysicalName(s.Fields[0]); want != got {
			t.Errorf("%s: want %q, got %q", mode, want, got)
		}
	}
	if id, ok := MapByID.ColumnID(s.Fields[0]); !ok || id != 7 {
		t.Errorf("want id 7, got %d, %t", id, ok)
	}
}

// CM5.
func TestMappingThatCannotBeReadIsRefused(t *testing.T) {
	inner := func(fields ...string) string { return structOf(fields...) }
	for name, c := range map[string]struct{ schema, column, text string }{
		"no physical name": {structOf(`{"name":"a","type":"long","metadata":{"delta.columnMapping.id":1}}`), "a", "has no delta.columnMapping.physicalName"},
		"no id":            {structOf(`{"name":"a","type":"long","metadata":{"delta.columnMapping.physicalName":"x"}}`), "a", "has no delta.columnMapping.id"},
		"id twice":         {structOf(mapped("a", "x", 1, `"long"`), mapped("b", "y", 1, `"long"`)), "b", "is that of column a too"},
		"path twice":       {structOf(mapped("a", "x", 1, `"long"`), mapped("b", "x", 2, `"long"`)), "b", `"x" is that of column a too`},
		"nested in a list": {
			structOf(mapped("l", "l", 1, `{"type":"array","elementType":`+inner(`{"name":"m","type":"long"}`)+`,"containsNull":true}`)),
			"l.element.m", "has no delta.columnMapping.physicalName",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := MapByName.Check(mustParse(t, c.schema))
			if deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.Contains(err.Error(), c.text) ||
				!strings.Contains(err.Error(), "column "+c.column) {
				t.Fatalf("want a corrupt error for column %s with %q, got %v", c.column, c.text, err)
			}
		})
	}
}

func TestLeafNamesMayRepeatUnderDifferentParents(t *testing.T) {
	s := mustParse(t, structOf(
		mapped("a", "x", 1, structOf(mapped("m", "leaf", 2, `"long"`))),
		mapped("b", "y", 3, structOf(mapped("m", "leaf", 4, `"long"`))),
	))
	if err := MapByID.Check(s); err != nil {
		t.Fatal(err)
	}
}

// CM6.
func TestAnnotationsMeanNothingWithoutMapping(t *testing.T) {
	s := mustParse(t, structOf(mapped("a", "x", 1, `"long"`), mapped("b", "x", 1, `"long"`)))
	if err := MapByDisplayName.Check(s); err != nil {
		t.Fatal(err)
	}
}

func TestWideningsOfTheProtocol(t *testing.T) {
	for _, c := range []struct {
		from, to Type
		want     bool
	}{
		{Byte, Short, true},
		{Short, Long, true},
		{Integer, Double, true},
		{Long, Double, false},
		{Long, Integer, false},
		{Float, Double, true},
		{Double, Float, false},
		{Byte, Decimal{4, 1}, true},
		{Short, Decimal{4, 0}, false},
		{Integer, Decimal{10, 0}, true},
		{Integer, Decimal{11, 2}, false},
		{Long, Decimal{20, 0}, true},
		{Long, Decimal{19, 0}, false},
		{Decimal{10, 2}, Decimal{12, 4}, true},
		{Decimal{10, 2}, Decimal{11, 4}, false},
		{Decimal{10, 2}, Decimal{12, 1}, false},
		{Date, TimestampNTZ, true},
		{Date, Timestamp, false},
		{String, Unknown("varchar(10)"), true},
		{Void, Long, true},
	} {
		if got := CanWiden(c.from, c.to); c.want != got {
			t.Errorf("%s to %s: want %t, got %t", c.from, c.to, c.want, got)
		}
	}
}

// TW1.
func TestUnknownTypeChangeIsRefusedByName(t *testing.T) {
	change := `"metadata":{"delta.typeChanges":[{"fromType":"string","toType":"long","fieldPath":"element"}]}`
	err := CheckTypeChanges(mustParse(t, structOf(
		`{"name":"a","type":{"type":"array","elementType":"long","containsNull":true},`+change+`}`)))
	want := "column a.element: unsupported type change from string to long"
	if deltaerr.KindOf(err) != deltaerr.Unsupported || err.Error() != want {
		t.Fatalf("want %q, got %v", want, err)
	}
}
