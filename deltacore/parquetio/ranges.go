package parquetio

import "sort"

// Range is a run of rows of a row group, half open: counted from the first row of the row group.
type Range struct{ From, To int64 }

// Ranges are ascending, not empty, and neither overlap nor touch where they come out of one of the methods.
type Ranges []Range

// Rows is the number of rows.
func (r Ranges) Rows() (n int64) {
	for _, x := range r {
		n += x.To - x.From
	}
	return n
}

// overlaps says whether a row of [from, to) is among the rows.
func (r Ranges) overlaps(from, to int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].To > from })
	return from < to && i < len(r) && r[i].From < to
}

// Merged is r with the gaps of at most gap rows filled: to decode a few rows too many costs less than to begin anew.
func (r Ranges) Merged(gap int64) Ranges {
	var out Ranges
	for _, x := range r {
		out = out.Append(x.From, x.To, gap)
	}
	return out
}

// Append adds rows behind all others, and those between when there are at most gap of them. Without rows it changes nothing.
func (r Ranges) Append(from, to, gap int64) Ranges {
	if from >= to {
		return r
	}
	if n := len(r); n > 0 && from-r[n-1].To <= gap {
		r[n-1].To = max(r[n-1].To, to)
		return r
	}
	return append(r, Range{from, to})
}

// Within is what of r lies in [from, to).
func (r Ranges) Within(from, to int64) Ranges {
	var out Ranges
	for _, x := range r {
		out = out.Append(max(x.From, from), min(x.To, to), 0)
	}
	return out
}

// valid says whether r is what its type promises, in a row group of so many rows.
func (r Ranges) valid(rows int64) bool {
	last := int64(0)
	for _, x := range r {
		if x.From < last || x.To <= x.From {
			return false
		}
		last = x.To
	}
	return last <= rows
}

// cut takes the first n rows off.
func (r *Ranges) cut(n int64) (first Ranges) {
	for n > 0 && len(*r) > 0 {
		head := &(*r)[0]
		if size := head.To - head.From; size <= n {
			first, *r = append(first, *head), (*r)[1:]
			n -= size
			continue
		}
		first = append(first, Range{head.From, head.From + n})
		head.From += n
		n = 0
	}
	return first
}
