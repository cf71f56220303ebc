package encode

// Rows is the encoded rows of one batch: row i is Bytes[Ends[i-1]:Ends[i]] (0 for the first). The arena is never written
// again after it was returned.
type Rows struct {
	Bytes []byte
	Ends  []int
}

// Row returns row i with its capacity cut, so that an append by its receiver cannot reach row i+1.
func (r Rows) Row(i int) []byte {
	start, end := span(r.Ends, i)
	return r.Bytes[start:end:end]
}

// Len is the number of rows.
func (r Rows) Len() int { return len(r.Ends) }

func span(ends []int, i int) (start, end int) {
	if i > 0 {
		start = ends[i-1]
	}
	return start, ends[i]
}
