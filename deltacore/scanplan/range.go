package scanplan

// ByteRange is a part of a file, [Start, End). Ranges that cover a file own each of its row groups once: see [FileTask.Owns].
type ByteRange struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Contains says whether the byte at offset is in the range.
func (r ByteRange) Contains(offset int64) bool { return offset >= r.Start && offset < r.End }
