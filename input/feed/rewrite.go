package feed

import (
	"fmt"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
)

// skips says whether a commit is to be left out, whole, because it removes rows (SS6). The error says that it may not be.
func (f Follow) skips(c deltalog.Commit) (*Skipped, error) {
	switch c.Kind {
	case deltalog.KindRewrite:
		switch f.OnRewrite {
		case Emit:
			return nil, nil
		case Skip:
			return &Skipped{
				Reason: SkippedRewrite, Version: c.Version, Operation: c.Operation, Files: c.Adds, Rows: c.Rows,
			}, nil
		}
		return nil, refused(c, "changes or replaces rows", "set on_rewrite to skip, which leaves out the whole commit, or to emit, "+
			"which hands out the rows of its new files, those that were there before once more")
	case deltalog.KindDelete:
		if f.OnDelete == Skip {
			return &Skipped{Reason: SkippedDelete, Version: c.Version, Operation: c.Operation, Files: c.Removes}, nil
		}
		return nil, refused(c, "deletes rows", "set on_delete to skip, which leaves them where they were sent to")
	}
	return nil, nil
}

func refused(c deltalog.Commit, what, hint string) error {
	operation, rows := c.Operation, "rows that its statistics do not count"
	if operation == "" {
		operation = "an unnamed operation"
	}
	if c.Rows != nil {
		rows = counted(*c.Rows, "row")
	}
	return deltaerr.New(deltaerr.Config, fmt.Sprintf("the commit (%s) %s: it removed %s and added %s with %s", operation, what,
		counted(c.Removes, "file"), counted(c.Adds, "file"), rows), deltaerr.Version(c.Version), deltaerr.Hint("%s", hint),
		deltaerr.Phase("following the appended rows"))
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
