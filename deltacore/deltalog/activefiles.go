package deltalog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// ActiveFiles is a collection of active files in canonical order: by modification time, then path bytes as in the log.
// It costs 36 bytes a file, the file's name and a few bytes for what not every file has; directories and partition values
// are kept once. Statistics are not kept. It is immutable and safe for concurrent use.
type ActiveFiles struct {
	records    [][]record // chunks of recordChunk
	order      []uint32
	details    arena
	dirs       []string // up to and with the last slash
	partitions partitionTable
}

// record is one file. What has no fixed size lies in the arena.
type record struct {
	modified, size int64
	chunk, offset  uint32 // of the details
	dir, partition uint32
}

const recordChunk = 8192

// Collect keeps the files of a sequence in canonical order. The same logical file twice is Corrupt: a checkpoint that
// repeats one would repeat its rows.
func Collect(ctx context.Context, files iter.Seq2[ActiveFile, error]) (*ActiveFiles, error) {
	c := collector{files: &ActiveFiles{}, dirs: map[string]uint32{}, partitions: partitionIndex{index: map[key]uint32{}}}
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
	c.files.partitions.share()
	c.files.sort()
	if err := c.files.checkUnique(); err != nil {
		return nil, err
	}
	return c.files, nil
}

// Len is the number of files.
func (a *ActiveFiles) Len() int { return len(a.order) }

// At returns the i-th file in canonical order. Its partition values may be shared: do not change them.
func (a *ActiveFiles) At(i int) ActiveFile {
	r := a.record(a.order[i])
	name, rest := cutSized(a.detailsOf(r))
	f := readDetails(rest, a.dirs[r.dir]+string(name))
	f.Add.PartitionValues, f.Add.Size, f.Add.ModificationTime = a.partitions.get(r.partition), r.size, r.modified
	return f
}

func (a *ActiveFiles) record(i uint32) *record { return &a.records[i/recordChunk][i%recordChunk] }

func (a *ActiveFiles) detailsOf(r *record) []byte { return a.details.chunks[r.chunk][r.offset:] }

func (a *ActiveFiles) sort() {
	slices.SortFunc(a.order, func(i, j uint32) int {
		return a.compare(a.record(i), a.record(j))
	})
}

// compare orders by modification time, the bytes of the whole path, and the vector.
func (a *ActiveFiles) compare(x, y *record) int {
	if c := cmp.Compare(x.modified, y.modified); c != 0 {
		return c
	}
	xName, xRest := cutSized(a.detailsOf(x))
	yName, yRest := cutSized(a.detailsOf(y))
	c := bytes.Compare(xName, yName)
	if x.dir != y.dir {
		c = strings.Compare(a.dirs[x.dir]+string(xName), a.dirs[y.dir]+string(yName))
	}
	if c != 0 {
		return c
	}
	return strings.Compare(vectorID(xRest), vectorID(yRest))
}

func vectorID(details []byte) string { return readDetails(details, "").Add.DeletionVector.UniqueID() }

func (a *ActiveFiles) checkUnique() error {
	for i := 1; i < len(a.order); i++ {
		if a.compare(a.record(a.order[i-1]), a.record(a.order[i])) == 0 {
			return deltaerr.New(deltaerr.Corrupt, "the log lists the file twice", deltaerr.File(a.At(i).Location.Key()))
		}
	}
	return nil
}

// collector builds an ActiveFiles.
type collector struct {
	files      *ActiveFiles
	dirs       map[string]uint32
	partitions partitionIndex
	scratch    []byte
}

func (c *collector) add(f ActiveFile) error {
	a := c.files
	n := len(a.order)
	if n == math.MaxUint32 {
		return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("the version has more than %d files", n))
	}
	cut := strings.LastIndexByte(f.Add.Path, '/') + 1
	c.scratch = appendSized(c.scratch[:0], f.Add.Path[cut:])
	c.scratch = appendDetails(c.scratch, f)
	r := record{
		modified: f.Add.ModificationTime, size: f.Add.Size,
		dir: c.dir(f.Add.Path[:cut]), partition: c.partitions.add(&a.partitions, f.Add.PartitionValues),
	}
	r.chunk, r.offset = a.details.put(c.scratch)
	a.append(r)
	a.order = append(a.order, uint32(n))
	return nil
}

func (a *ActiveFiles) append(r record) {
	n := len(a.records)
	switch {
	case n == 0:
		a.records = append(a.records, nil) // grows with small tables
	case len(a.records[n-1]) == recordChunk:
		a.records = append(a.records, make([]record, 0, recordChunk))
	}
	last := &a.records[len(a.records)-1]
	*last = append(*last, r)
}

func (c *collector) dir(text string) uint32 {
	if i, ok := c.dirs[text]; ok {
		return i
	}
	i := uint32(len(c.files.dirs))
	text = strings.Clone(text)
	c.files.dirs = append(c.files.dirs, text)
	c.dirs[text] = i
	return i
}
