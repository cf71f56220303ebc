package configspec

import (
	"errors"
	"fmt"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Path    string // full path of the field: "delta_lake.batch_rows"
	Message string // what is wrong and what is right
}

// Error joins path and message.
func (p Problem) Error() string { return p.Path + ": " + p.Message }

func problemf(path, format string, args ...any) Problem {
	return Problem{Path: Component + "." + path, Message: fmt.Sprintf(format, args...)}
}

// Problems lists the problems in an error of [Decode].
func Problems(err error) []Problem {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var out []Problem
		for _, e := range joined.Unwrap() {
			out = append(out, Problems(e)...)
		}
		return out
	}
	var p Problem
	if errors.As(err, &p) {
		return []Problem{p}
	}
	return nil
}
