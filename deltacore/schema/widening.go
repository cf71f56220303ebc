package schema

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// typeChangesKey annotates a field with the changes of its type, oldest first.
const typeChangesKey = "delta.typeChanges"

type typeChange struct {
	FromType  string `json:"fromType"`
	ToType    string `json:"toType"`
	FieldPath string `json:"fieldPath"` // element, key or value steps inside the field, joined with dots
}

// CheckTypeChanges refuses a schema with a type change that old files cannot be read through (TW1): Unsupported, naming
// the column and both types.
func CheckTypeChanges(s *Struct) error {
	for _, f := range s.Fields {
		if err := checkFieldChanges(f, f.Name); err != nil {
			return err
		}
	}
	return nil
}

func checkFieldChanges(f Field, path string) error {
	var changes []typeChange
	if text, ok := f.Metadata[typeChangesKey]; ok {
		if err := json.Unmarshal(text, &changes); err != nil {
			return deltaerr.New(deltaerr.Corrupt, typeChangesKey+" cannot be parsed",
				deltaerr.Column(path), deltaerr.Cause(err))
		}
	}
	for _, c := range changes {
		if from, to := namedType(c.FromType), namedType(c.ToType); !CanWiden(from, to) {
			column := path
			if c.FieldPath != "" {
				column += "." + c.FieldPath
			}
			return deltaerr.New(deltaerr.Unsupported,
				fmt.Sprintf("unsupported type change from %s to %s", c.FromType, c.ToType), deltaerr.Column(column))
		}
	}
	return checkNestedChanges(f.Type, path)
}

func checkNestedChanges(t Type, path string) error {
	switch t := t.(type) {
	case *Struct:
		for _, f := range t.Fields {
			if err := checkFieldChanges(f, path+"."+f.Name); err != nil {
				return err
			}
		}
	case *Array:
		return checkNestedChanges(t.Element, path+".element")
	case *Map:
		if err := checkNestedChanges(t.Key, path+".key"); err != nil {
			return err
		}
		return checkNestedChanges(t.Value, path+".value")
	}
	return nil
}

// widenings lists, by the type of a file, the types of a table that it may stand under (section 16).
var widenings = map[Type][]Type{
	Byte:    {Short, Integer, Long, Double},
	Short:   {Integer, Long, Double},
	Integer: {Long, Double},
	Float:   {Double},
	Date:    {TimestampNTZ},
	Void:    {Byte, Short, Integer, Long, Float, Double, Boolean, String, Binary, Date, Timestamp, TimestampNTZ},
}

// integerDigits is the number of digits before the point that a decimal needs to hold every value of an integer type.
// The protocol's text asks for ten of all the narrow ones, but Spark writes tables by these, and what matters is that
// every value fits.
var integerDigits = map[Type]int{Byte: 3, Short: 5, Integer: 10, Long: 20}

// CanWiden says whether every value of from is exactly a value of to, among the changes that Delta allows.
func CanWiden(from, to Type) bool {
	if from == to {
		return true
	}
	if d, ok := to.(Decimal); ok {
		if digits, isInteger := integerDigits[from]; isInteger {
			return d.Precision-d.Scale >= digits
		}
		f, isDecimal := from.(Decimal)
		more := d.Scale - f.Scale
		return isDecimal && more >= 0 && d.Precision-f.Precision >= more
	}
	return slices.Contains(widenings[from], to) || bothText(from, to)
}

// bothText: char, varchar and string differ in what may be written, not in what is read.
func bothText(from, to Type) bool {
	text := func(t Type) bool {
		u, unknown := t.(Unknown)
		return t == String || unknown && (len(u) > 4 && u[:4] == "char" || len(u) > 7 && u[:7] == "varchar")
	}
	return text(from) && text(to)
}
