package deltalog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// readTail looks through the commits of a segment for what they say about the table: compactions and a checksum first,
// because they spare commits. The segment returned is without the compactions that are not to be used.
func (l Log) readTail(ctx context.Context, s Segment, h *head) (Segment, error) {
	s, err := l.readCompactions(ctx, s, h)
	if err != nil {
		return s, err
	}
	commits := s.uncompacted()
	if s.Checksum != nil && len(commits) >= checksumPays {
		err = l.useChecksum(ctx, s, h)
	}
	if err != nil || h.completeBelow(s.Version) {
		return s, err
	}
	return s, l.readHeads(ctx, commits, h)
}

// readHeads looks through commits newest first, in parallel, until protocol and metadata are known (R1).
func (l Log) readHeads(ctx context.Context, commits []File, h *head) error {
	left := len(commits)
	if left == 0 || h.completeBelow(commits[left-1].Version+1) {
		return nil
	}
	o := exec.Options[headResult]{Workers: l.workers(), Budget: l.Budget, Size: func(r headResult) int64 { return int64(len(r.text)) }}
	for r, err := range exec.Ordered(ctx, headTasks(commits, h.keptBytes), o, l.readHead) {
		if err != nil {
			return err
		}
		h.take(r)
		if left--; left == 0 || h.completeBelow(commits[left-1].Version+1) {
			break
		}
	}
	return nil
}

func headTasks(commits []File, total int64) iter.Seq2[headTask, error] {
	return func(yield func(headTask, error) bool) {
		for i, f := range slices.Backward(commits) {
			total += f.Size
			if !yield(headTask{file: f, version: f.Version, keep: total <= maxKept, hash: i == len(commits)-1}, nil) {
				return
			}
		}
	}
}

func (l Log) readHead(ctx context.Context, t headTask, emit func(headResult) error) error {
	r, err := l.readWhole(ctx, t, ignore)
	if err != nil {
		return commitError(err, t.file)
	}
	return emit(r)
}

// readWhole visits all actions of a log file and returns what it says about the table.
func (l Log) readWhole(ctx context.Context, t headTask, visit func(action.Action) error) (headResult, error) {
	r, err := l.Store.Get(ctx, t.file.path())
	if err != nil {
		return headResult{}, err
	}
	defer r.Close()
	result := headResult{name: t.file.Name, version: t.version}
	whole := hashing{Reader: r}
	if t.hash {
		whole = newHashing(r)
	}
	source := whole.Reader
	if t.keep {
		text, err := io.ReadAll(io.LimitReader(whole, t.file.Size+1))
		if err != nil {
			return headResult{}, err
		}
		source = bytes.NewReader(text)
		if int64(len(text)) > t.file.Size { // it grew since it was listed: the rest is not worth keeping
			source = io.MultiReader(source, whole)
		} else {
			result.text = text
		}
	}
	first := true
	err = scanActions(source, t.file, func(a action.Action) error {
		result.take(a, first)
		first = false
		return visit(a)
	})
	result.hash = whole.text()
	return result, err
}

// scanActions visits the actions of a commit or of a JSON manifest. More than one protocol or metaData is an error (A5).
func scanActions(r io.Reader, f File, visit func(action.Action) error) error {
	return visitActions(action.NewScanner(r), f, visit)
}

func visitActions(s *action.Scanner, f File, visit func(action.Action) error) error {
	var protocols, metadata int
	for {
		a, err := s.Next()
		if err == io.EOF { //nolint:errorlint // the end itself: a wrapped one is a cut stream
			return nil
		}
		if err != nil {
			return deltaerr.Annotate(err, deltaerr.File(f.path()))
		}
		if a.Protocol != nil {
			protocols++
		}
		if a.Metadata != nil {
			metadata++
		}
		if protocols > 1 || metadata > 1 {
			return repeatedAction(f, protocols)
		}
		if err := visit(a); err != nil {
			return err
		}
	}
}

func repeatedAction(f File, protocols int) error {
	name := "metaData"
	if protocols > 1 {
		name = "protocol"
	}
	return deltaerr.New(deltaerr.Corrupt, "more than one "+name+" action in one file",
		deltaerr.File(f.path()), deltaerr.Version(f.Version))
}

func commitError(err error, f File) error {
	attrs := []deltaerr.Attr{deltaerr.File(f.path()), deltaerr.Phase("reading the commit")}
	if deltaerr.KindOf(err) == deltaerr.NotFound { // RV8
		attrs = append(attrs, deltaerr.Hint("it was there when the log was listed: the log may be being cleaned, try again"))
	}
	return deltaerr.Annotate(err, attrs...)
}

// fileAction is an add or a remove with its place and keys.
type fileAction struct {
	add      *action.Add // nil: a remove
	location storage.Location
	path     string // as in the log
	vector   *action.DeletionVector
	pathKey  key
	fileKey  key // of path and vector

	dataChange bool
}

// commitPart is a run of file actions of one file of the tail.
type commitPart struct {
	file    tailFile
	actions []fileAction
	bytes   int64
	last    bool // of the file
}

const (
	partActions = 512
	partBytes   = 256 << 10
	actionBytes = 320 // an action in memory, its texts aside
)

// parts reads the file actions of the tail, newest file first, in parallel and in bounded memory.
func (r *replay) parts(ctx context.Context) iter.Seq2[commitPart, error] {
	l := r.snapshot.Log
	o := exec.Options[commitPart]{Workers: l.workers(), Budget: l.Budget, Size: func(p commitPart) int64 { return p.bytes }}
	return exec.Ordered(ctx, each(r.segment.tail()), o, r.readParts)
}

func (r *replay) readParts(ctx context.Context, f tailFile, emit func(commitPart) error) error {
	source, err := r.snapshot.open(ctx, f.File)
	if err != nil {
		return commitError(err, f.File)
	}
	defer source.Close()
	lines := action.NewScanner(source)
	if r.omitStats {
		lines.OmitStats()
	}
	part := commitPart{file: f}
	err = visitActions(lines, f.File, func(a action.Action) error {
		if !part.take(r.snapshot.Log.Root, a) || (len(part.actions) < partActions && part.bytes < partBytes) {
			return nil
		}
		full := part
		part = commitPart{file: f}
		return emit(full)
	})
	if err != nil {
		return commitError(err, f.File)
	}
	part.last = true
	return emit(part)
}

func (s *Snapshot) open(ctx context.Context, f File) (io.ReadCloser, error) {
	if text, ok := s.kept[f.Name]; ok {
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	return s.Log.Store.Get(ctx, f.path())
}

// take adds a's file action to the part, if it has one.
func (p *commitPart) take(root storage.URI, a action.Action) bool {
	f, ok := fileActionOf(root, a)
	if !ok {
		return false
	}
	p.actions = append(p.actions, f)
	p.bytes += int64(actionBytes + 2*len(f.path))
	if f.add != nil {
		p.bytes += int64(len(f.add.Stats))
	}
	return true
}

// fileActionOf returns the add or remove of an action; ok is false when it is neither.
func fileActionOf(root storage.URI, a action.Action) (f fileAction, ok bool) {
	switch {
	case a.Add != nil:
		f.path, f.vector, f.dataChange = a.Add.Path, a.Add.DeletionVector, a.Add.DataChange
	case a.Remove != nil:
		f.path, f.vector, f.dataChange = a.Remove.Path, a.Remove.DeletionVector, a.Remove.DataChange
	default:
		return fileAction{}, false
	}
	f.add = a.Add
	f.location = storage.ResolvePath(root, f.path)
	f.pathKey, f.fileKey = pathKey(f.location), fileKey(f.location, f.vector.UniqueID())
	return f, true
}

// errStopped ends a run whose consumer wants no more.
var errStopped = errors.New("stopped")
