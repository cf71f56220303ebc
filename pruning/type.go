package pruning

// Kind is the family of a column's values.
type Kind uint8

// The kinds. Values of two kinds are never compared.
const (
	Opaque       Kind = iota // structs, lists, maps, variants, collated strings, intervals: only null checks are possible
	Boolean                  // Value.Int is 0 or 1
	Integer                  // of 8 to 64 bits
	Float                    // 32 bits
	Double                   // 64 bits
	Decimal                  // unscaled in Value.Decimal, at the column's scale
	String                   // UTF-8, compared by bytes
	Binary                   // compared by bytes, unsigned
	Date                     // days since 1970-01-01
	Timestamp                // microseconds since 1970-01-01 00:00 UTC
	TimestampNTZ             // microseconds since 1970-01-01 00:00 of no zone
)

// Type is the type of a column.
type Type struct {
	Kind             Kind
	Bits             int    // of an Integer: 8, 16, 32, 64
	Precision, Scale int    // of a Decimal
	Name             string // for messages, as the table's schema spells it: "decimal(10,2)", "map<string,int>"
}

// Column is a column that a bound predicate refers to.
type Column struct {
	Path []string // from the top, as the table's schema spells the names; more than one: fields of structs
	Type Type
}

// Resolver finds the column that a path of a predicate names. Its error says which names there are that come near.
type Resolver func(path []string) (Column, error)
