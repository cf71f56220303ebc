package schema

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

var orders = &Struct{Fields: []Field{
	{Name: "id", Type: Long},
	{Name: "Amount", Type: Decimal{10, 2}, Nullable: true},
	{Name: "item.name", Type: String, Nullable: true},
	{Name: "item", Type: &Struct{Fields: []Field{{Name: "name", Type: String}}}, Nullable: true},
	{Name: "İ", Type: Long},
	{Name: "i", Type: Long},
	{Name: "Parent", Type: &Struct{Fields: []Field{
		{Name: "child", Type: String}, {Name: "sub", Type: &Struct{Fields: []Field{{Name: "leaf", Type: Long}}}},
	}}},
}}

func TestFieldPrefersTheExactName(t *testing.T) {
	s := &Struct{Fields: []Field{{Name: "A", Type: Long}, {Name: "b", Type: String}}}
	for name, want := range map[string]string{"A": "A", "a": "A", "B": "b", "b": "b"} {
		if f, ok := s.Field(name); !ok || f.Name != want {
			t.Errorf("%s: want field %s, got %s, %t", name, want, f.Name, ok)
		}
	}
	if f, ok := s.Field("c"); ok {
		t.Errorf("want no field c, got %s", f.Name)
	}
	if f, _ := orders.Field("İ"); f.Name != "İ" {
		t.Errorf("want the dotted capital I to stay itself, got %s", f.Name)
	}
}

func TestSelectKeepsTheOrderAskedForAndTheTablesSpelling(t *testing.T) {
	got, err := orders.Select([]string{"ITEM.name", "amount", "id"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Struct{Fields: []Field{orders.Fields[2], orders.Fields[1], orders.Fields[0]}}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestSelectOfNothingIsEverything(t *testing.T) {
	got, err := orders.Select(nil)
	if err != nil || !reflect.DeepEqual(orders, got) {
		t.Errorf("want %s, got %s, %v", orders, got, err)
	}
}

func TestSelectRefusesUnknownAndRepeatedNames(t *testing.T) {
	cases := []struct {
		name    string
		columns []string
		want    string
	}{
		{"nearly", []string{"id", "amuont"}, `the table has no column "amuont" (did you mean Amount?)`},
		{"nearly a dotted one", []string{"item.nam"}, `the table has no column "item.nam" (did you mean item.name?)`},
		{"inner", []string{"parent.child"}, `the table has no column "parent.child" (only top-level columns can be selected: use Parent)`},
		{"deeper", []string{"parent.sub.leaf"}, `the table has no column "parent.sub.leaf" (only top-level columns can be selected: use Parent)`},
		{"far", []string{"price"}, `the table has no column "price" (its columns are id, Amount, item.name, item, İ, i, Parent)`},
		{"empty", []string{""}, `the table has no column "" (its columns are id, Amount, item.name, item, İ, i, Parent)`},
		{"repeated", []string{"id", "amount", "ID"}, `column "id" is selected twice (name each column once)`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := orders.Select(c.columns)
			if err == nil || err.Error() != c.want || deltaerr.KindOf(err) != deltaerr.Config {
				t.Errorf("want %q\ngot  %q", c.want, err)
			}
		})
	}
}

func TestUnknownColumnOfAWideTableListsTheFirstColumns(t *testing.T) {
	wide := &Struct{}
	for i := range 2000 {
		wide.Fields = append(wide.Fields, Field{Name: fmt.Sprintf("c%d", i), Type: Long})
	}
	_, err := wide.Select([]string{"quantity"})
	const want = `the table has no column "quantity" (its columns are c0, c1, c2, c3, c4, c5, c6, c7 and 1992 more)`
	if err == nil || err.Error() != want {
		t.Errorf("want %s, got %v", want, err)
	}
}

func TestEditDistance(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"größe", "grosse", 3}, {"amuont", "amount", 2}}
	for _, c := range cases {
		if got := editDistance(c.a, c.b); c.want != got {
			t.Errorf("%q, %q: want %d, got %d", c.a, c.b, c.want, got)
		}
	}
}

func TestHashCountsNamesTypesAndNullability(t *testing.T) {
	base := func() *Struct {
		return &Struct{Fields: []Field{{Name: "a", Type: Long}, {Name: "b", Type: &Array{Element: String}}}}
	}
	if want, got := "d68293d63ff6adec", base().Hash(); want != got {
		t.Errorf("a stored position holds this hash: want %s, got %s", want, got)
	}
	same := base()
	same.Fields[0].Metadata = map[string]jsontext.Value{"comment": jsontext.Value(`"x"`)}
	if base().Hash() != same.Hash() {
		t.Error("want metadata not to count")
	}
	for name, change := range map[string]func(*Struct){
		"name":        func(s *Struct) { s.Fields[0].Name = "A" },
		"type":        func(s *Struct) { s.Fields[0].Type = Integer },
		"nullability": func(s *Struct) { s.Fields[0].Nullable = true },
		"inner":       func(s *Struct) { s.Fields[1].Type = &Array{Element: String, ContainsNull: true} },
		"order":       func(s *Struct) { s.Fields[0], s.Fields[1] = s.Fields[1], s.Fields[0] },
		"fewer":       func(s *Struct) { s.Fields = s.Fields[:1] },
	} {
		changed := base()
		change(changed)
		if base().Hash() == changed.Hash() {
			t.Errorf("%s: want another hash", name)
		}
	}
}
