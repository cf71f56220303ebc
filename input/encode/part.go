package encode

import (
	"errors"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Part says which rows of a batch are encoded. The zero value means all of them. What a batch becomes can be many times its
// Arrow form (long names of null columns), so this is how a caller bounds it: it goes on behind the rows that it got.
type Part struct {
	From  int // the first row
	Rows  int // the most rows; 0: all that are left
	Bytes int // the most bytes of the result; 0: any number. One row comes however large it is
}

// end is the row behind the last one that the part may have.
func (p Part) end(rows int) int {
	if p.Rows <= 0 || p.Rows > rows-p.From {
		return rows
	}
	return p.From + p.Rows
}

// full says whether a result of some size and rows has to do without its last row.
func (p Part) full(rows, size int) bool { return p.Bytes > 0 && rows > 1 && size > p.Bytes }

// rowError is the failure of one row of a batch.
type rowError struct {
	row int
	err error
}

func (e *rowError) Error() string {
	return deltaerr.Annotate(e.err, deltaerr.Phase("encoding row %d of a batch", e.row)).Error()
}

func (e *rowError) Unwrap() error { return e.err }

func atRow(err error, row int) error {
	if err == nil {
		return nil
	}
	return &rowError{row, err}
}

// Locate adds to the error of a row where that row is: place tells the file and the physical row of a row of the batch. An
// error that is not about one row stays as it is.
func Locate(err error, place func(row int) (file string, physical int64)) error {
	var at *rowError
	if !errors.As(err, &at) {
		return err
	}
	file, physical := place(at.row)
	return deltaerr.Annotate(at.err, deltaerr.File(file), deltaerr.Phase("encoding row %d", physical))
}
