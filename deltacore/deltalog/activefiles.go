package deltalog

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// ActiveFiles is a collection of active files in canonical order: by modification time, then path bytes as in the log.
// It costs 36 bytes a file, the file's name, and a few bytes for what not every file has. Directories and the values of
// partition columns are kept once; where they are many, a directory that follows from the values is not kept at all.
// Statistics are not kept. It is immutable and safe for concurrent use.
type ActiveFiles struct {
	records    [][]record // chunks of recordChunk
	order      []uint32
	details    arena
	dirs       []string // up to and with the last slash; the first is ""
	layout     dirLayout
	partitions partitionTable
}

// record is one file. What has no fixed size lies in the arena: the name, the codes of partition values that are not
// shared, then the details.
type record struct {
	modified, size int64
	place          place
	dir            uint32 // in dirs, or derivedDir
	set            uint32 // of the shared partition values, or ownValues
}

const (
	recordChunk = 8192
	derivedDir  = math.MaxUint32 // follows from the partition values
	ownValues   = math.MaxUint32
)

// Collect keeps the files of a sequence in canonical order. The same logical file twice (R2) is Corrupt: its rows would be
// read twice.
func Collect(ctx context.Context, files iter.Seq2[ActiveFile, error]) (*ActiveFiles, error) {
	c := newCollector()
	for f, err := range files {
		if err != nil {
			return nil, err
		}
		if err := c.add(f); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.finish()
}

// Len is the number of files.
func (a *ActiveFiles) Len() int { return len(a.order) }

// Bytes is the size of all files, as the log says it.
func (a *ActiveFiles) Bytes() (n int64) {
	for _, chunk := range a.records {
		for i := range chunk {
			n += chunk[i].size
		}
	}
	return n
}

// At returns the i-th file in canonical order. Its partition values may be shared: do not change them.
func (a *ActiveFiles) At(i int) ActiveFile { return a.file(a.order[i]) }

// SizeAt is the size of the i-th file, as the log says it. It costs less than At.
func (a *ActiveFiles) SizeAt(i int) int64 { return a.record(a.order[i]).size }

// All yields the files in canonical order. There is never an error.
func (a *ActiveFiles) All() iter.Seq2[ActiveFile, error] {
	return func(yield func(ActiveFile, error) bool) {
		for i := range a.Len() {
			if !yield(a.At(i), nil) {
				return
			}
		}
	}
}

func (a *ActiveFiles) file(i uint32) ActiveFile {
	r := a.record(i)
	name, rest := cutSized(a.details.at(r.place))
	values, rest := a.values(r, rest)
	f := readDetails(rest, a.dir(r, values)+string(name))
	f.Add.PartitionValues, f.Add.Size, f.Add.ModificationTime = values, r.size, r.modified
	return f
}

func (a *ActiveFiles) record(i uint32) *record { return &a.records[i/recordChunk][i%recordChunk] }

// values returns the partition values of a file and what follows their codes, which rest begins with when they are its own.
func (a *ActiveFiles) values(r *record, rest []byte) (map[string]*string, []byte) {
	if r.set == ownValues {
		return a.partitions.read(rest)
	}
	return a.partitions.shared[r.set], rest
}

func (a *ActiveFiles) dir(r *record, values map[string]*string) string {
	if r.dir == derivedDir {
		return string(a.layout.append(nil, func(name string) []byte { return textOf(values[name]) }))
	}
	return a.dirs[r.dir]
}

// appendPath appends the path of a file as it stands in the log.
func (a *ActiveFiles) appendPath(b []byte, r *record) []byte {
	name, rest := cutSized(a.details.at(r.place))
	switch {
	case r.dir != derivedDir:
		b = append(b, a.dirs[r.dir]...)
	case r.set == ownValues:
		b = a.layout.append(b, func(name string) []byte { return a.partitions.find(rest, name) })
	default:
		b = append(b, a.dir(r, a.partitions.shared[r.set])...)
	}
	return append(b, name...)
}

// dirLayout is the order of the partition columns in directories such as "date=2024-05-01/region=NL/".
type dirLayout []string

const nullDir = "__HIVE_DEFAULT_PARTITION__"

// layoutOf returns the layout of a directory that follows from the values, or nil. Values that are written another way in a
// path than in the log make none.
func layoutOf(dir string, values map[string]*string) dirLayout {
	var layout dirLayout
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		name, _, _ := strings.Cut(part, "=")
		layout = append(layout, name)
	}
	if !layout.fits(dir, values) {
		return nil
	}
	return layout
}

// fits says whether the directory is what append would make of the values.
func (l dirLayout) fits(dir string, values map[string]*string) bool {
	for _, name := range l {
		value, named := values[name]
		rest, fits := strings.CutPrefix(dir, name+"="+string(textOf(value))+"/")
		if !named || !fits {
			return false
		}
		dir = rest
	}
	return len(l) > 0 && dir == ""
}

// append appends the directory of the values that valueOf finds by name.
func (l dirLayout) append(b []byte, valueOf func(name string) []byte) []byte {
	for _, name := range l {
		value := valueOf(name)
		b = append(append(append(append(b, name...), '='), value...), '/')
	}
	return b
}

func textOf(value *string) []byte {
	if value == nil {
		return []byte(nullDir)
	}
	return []byte(*value)
}

// collector builds an ActiveFiles.
type collector struct {
	files      *ActiveFiles
	dirs       map[string]uint32
	partitions partitionIndex
	n          int
	hashes     fileHashes
	scratch    []byte
}

// room says whether one more directory is kept once: as long as there are few, or many more files. The paths of others are
// derived or kept whole.
func (c *collector) room() bool { return len(c.files.dirs) < 2048+c.n/64 }

func newCollector() *collector {
	return &collector{
		files: &ActiveFiles{dirs: []string{""}}, dirs: map[string]uint32{"": 0}, partitions: newPartitionIndex(),
		hashes: newFileHashes(),
	}
}

func (c *collector) add(f ActiveFile) error {
	a := c.files
	if c.n == math.MaxUint32 {
		return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("the version has more than %d files", c.n))
	}
	r := record{modified: f.Add.ModificationTime, size: f.Add.Size}
	dir, name := c.split(f)
	r.dir = dir
	c.scratch = appendSized(c.scratch[:0], name)
	set, codes, shared := c.partitions.add(&a.partitions, f.Add.PartitionValues)
	if r.set = set; !shared {
		r.set = ownValues
		c.scratch = append(c.scratch, codes...)
	}
	c.scratch = appendDetails(c.scratch, f)
	r.place = a.details.put(c.scratch)
	a.append(r)
	c.hashes.add(f)
	c.n++
	return nil
}

// finish brings the files into order. The collector is not used any more then.
func (c *collector) finish() (*ActiveFiles, error) {
	if err := c.hashes.checkUnique(c.files); err != nil {
		return nil, err
	}
	c.hashes = fileHashes{}
	c.files.sort(c.n)
	return c.files, nil
}

// split says where the directory of a path is kept, and what of the path is not in there.
func (c *collector) split(f ActiveFile) (dir uint32, name string) {
	a, path := c.files, f.Add.Path
	cut := strings.LastIndexByte(path, '/') + 1
	if i, known := c.dirs[path[:cut]]; known {
		return i, path[cut:]
	}
	if c.room() {
		i := uint32(len(a.dirs))
		text := strings.Clone(path[:cut])
		a.dirs = append(a.dirs, text)
		c.dirs[text] = i
		return i, path[cut:]
	}
	if a.layout == nil {
		a.layout = layoutOf(path[:cut], f.Add.PartitionValues)
	}
	if a.layout.fits(path[:cut], f.Add.PartitionValues) {
		return derivedDir, path[cut:]
	}
	return 0, path
}

// append adds a record. Only the last chunk is ever copied to grow.
func (a *ActiveFiles) append(r record) {
	n := len(a.records)
	if n == 0 || len(a.records[n-1]) == recordChunk {
		size := recordChunk
		if n == 0 {
			size = 16
		}
		a.records = append(a.records, make([]record, 0, size))
		n++
	}
	last := &a.records[n-1]
	*last = append(*last, r)
}
