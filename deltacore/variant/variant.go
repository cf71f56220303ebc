// Package variant answers what the value of a variant column is, as JSON: it reads the Variant binary encoding and puts
// shredded values together again (protocol section 19).
//
// A variant is two byte strings: metadata, a dictionary of the names of all members, and the value, which refers to it.
// Where a file is shredded, parts of the value stand in typed columns. A [Writer] reads a column, and takes the shredded
// parts from a caller that finds them in a file. Where they stand in a file is the caller's business, datafile's.
//
// What is not obvious:
//
//   - Members of an object leave in the order of their names' bytes, wherever they were stored.
//   - Numbers are exact. Decimals lose trailing zeros behind the point, as in Spark's to_json; floats have the fewest
//     digits that read back the same, in the form of encoding/json. NaN and the infinities, which JSON does not have, are
//     strings, and so are dates, times, binary values (standard base64) and UUIDs.
//   - Times have the form of Spark's to_json, "2024-02-29 01:02:03.000004+00:00", so that a variant reads the same from
//     both: a blank, no zeros that end the fraction, +00:00 where the variant has a zone.
//   - The bytes are not trusted: offsets are checked before they are used, nothing is allocated by a length that the bytes
//     merely state, values that overlap or are nested too deeply are refused, and so is a text above a limit, since a name
//     is stored once and written often.
package variant

import (
	"fmt"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	maxDepth = 1000      // of objects and arrays in one another, that of Spark's JSON parser
	maxText  = 128 << 20 // bytes of a variant's JSON text; Spark's values have up to 16 MiB, 128 MiB by setting
)

func corrupt(format string, args ...any) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("a variant breaks its format: "+format, args...))
}

func unsupported(format string, args ...any) error {
	return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("a variant cannot be read: "+format, args...))
}
