package scanplan

import "github.com/benthos-delta/benthos-delta/pruning"

// Explanation says why a file, or a row group of one, is not read.
type Explanation struct {
	File     string // decoded, relative to the table root
	RowGroup int    // its number in the file; WholeFile: all of the file
	Reason   Reason
	Because  string // the part of the predicate that no row of it can fulfil, in the normal form; "": there is no row to read
}

// WholeFile stands for the row group of an explanation that is about a file.
const WholeFile = -1

// Statement is the text of a part of a predicate; none of no part.
func Statement(n pruning.Node) string {
	if n == nil {
		return ""
	}
	return n.String()
}
