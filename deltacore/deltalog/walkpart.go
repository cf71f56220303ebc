package deltalog

import (
	"context"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

// walkPart is a part of one commit.
type walkPart struct {
	commitPart
	protocol    *action.Protocol
	metadata    *action.Metadata
	info, first *action.CommitInfo
	changes     int64
	rows        int64  // live, of the adds with dataChange
	rowsUnknown bool   // of one of them
	hash        string // of the commit; of its last part
}

func (w *walk) readParts(ctx context.Context, f File, emit func(walkPart) error) error {
	source, err := w.snapshot.open(ctx, f)
	if err != nil {
		return commitError(err, f)
	}
	defer source.Close()
	first := true
	part := walkPart{commitPart: commitPart{file: tailFile{File: f, first: f.Version}}}
	text := newHashing(source)
	err = visitActions(action.NewScanner(text), f, func(a action.Action) error {
		part.takeAction(w, a, first)
		first = false
		if len(part.actions) < partActions && part.bytes < partBytes {
			return nil
		}
		full := part
		part = walkPart{commitPart: commitPart{file: part.file}}
		return emit(full)
	})
	if err != nil {
		return commitError(err, f)
	}
	part.last, part.hash = true, text.text()
	return emit(part)
}

func (p *walkPart) takeAction(w *walk, a action.Action, first bool) {
	switch {
	case a.Protocol != nil:
		p.protocol = a.Protocol
	case a.Metadata != nil:
		p.metadata = a.Metadata
		p.bytes += int64(len(a.Metadata.SchemaString))
	case a.CDC != nil:
		p.changes++
	case a.CommitInfo != nil:
		p.info = a.CommitInfo
		p.bytes += int64(len(a.CommitInfo.Raw))
		if first {
			p.first = p.info
		}
	default:
		p.takeFile(w, a)
	}
}

// takeFile counts the rows of an add. Its statistics are not needed any more then, unless they say what to exclude.
func (p *walkPart) takeFile(w *walk, a action.Action) {
	if a.Add != nil && a.Add.DataChange {
		rows, known := a.Add.LiveRows()
		p.rows += rows
		p.rowsUnknown = p.rowsUnknown || !known
	}
	if a.Add != nil && (w.chooser.by == nil || !a.Add.DataChange) {
		a.Add.Stats = ""
	}
	p.take(w.snapshot.Log.Root, a)
}
