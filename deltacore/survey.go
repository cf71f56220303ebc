package deltacore

import (
	"cmp"
	"context"
	"iter"

	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// Survey is what the footers of a scan's files say.
type Survey struct {
	RowGroups int64 // to read
	Bytes     int64 // compressed, of the columns that are read
	Requests  int64 // about as many as a scan makes of its files: for footers and vectors, and one for each column of a row group

	offsets [][]int64 // of each file, where its row groups to read begin
}

// RowGroupsOf is the number of row groups to read that a partition's task owns: the one of the part with this number.
func (s *Survey) RowGroupsOf(p Partition, part int) (n int64) {
	task := p.task(p.Parts[part])
	for _, offset := range s.offsets[p.Parts[part].File] {
		if task.Owns(offset) {
			n++
		}
	}
	return n
}

// Survey opens every file of the scan, which costs a request or two each, and reads no row. The result has about 30 bytes of
// memory a file, and 8 a row group.
func (s *Scan) Survey(ctx context.Context) (Survey, error) {
	total := Survey{}
	before := s.table.Usage().Total().Requests
	o := exec.Options[Survey]{
		Workers: s.openAtOnce(s.options.division().Target, s.options.fileReads()), Budget: s.table.budget,
		Size: func(Survey) int64 { return 0 },
	}
	files := exec.Scoped(ctx, func(ctx context.Context) iter.Seq2[Survey, error] { return exec.Ordered(ctx, s.tasks(), o, s.survey) })
	for file, err := range files {
		if err != nil {
			return total, err
		}
		total.RowGroups += file.RowGroups
		total.Bytes += file.Bytes
		total.Requests += file.Requests
		total.offsets = append(total.offsets, file.offsets...)
	}
	total.Requests += s.table.Usage().Total().Requests - before
	return total, nil
}

func (s *Scan) tasks() iter.Seq2[scanplan.FileTask, error] {
	return func(yield func(scanplan.FileTask, error) bool) {
		for t := range s.Tasks() {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func (s *Scan) survey(ctx context.Context, task scanplan.FileTask, emit func(Survey) error) error {
	f, err := s.reader.Open(ctx, task)
	if err != nil {
		return s.table.annotate(damaged(err))
	}
	of := Survey{RowGroups: int64(len(f.Units())), offsets: make([][]int64, 1)}
	for _, u := range f.Units() {
		of.Bytes += u.Bytes
		of.offsets[0] = append(of.offsets[0], u.Offset)
	}
	if task.Size > cmp.Or(s.table.parquet.FooterReadSize, parquetio.DefaultFooterReadSize) { // else all of it came with the footer
		of.Requests = of.RowGroups * leaves(s.columns)
	}
	if err := f.Close(); err != nil {
		return s.table.annotate(err)
	}
	return emit(of)
}

// leaves is the number of a struct's columns as a file stores them.
func leaves(s *schema.Struct) (n int64) {
	for _, f := range s.Fields {
		n += leavesOf(f.Type)
	}
	return n
}

func leavesOf(t schema.Type) int64 {
	switch t := t.(type) {
	case *schema.Struct:
		return leaves(t)
	case *schema.Array:
		return leavesOf(t.Element)
	case *schema.Map:
		return leavesOf(t.Key) + leavesOf(t.Value)
	}
	return 1
}
