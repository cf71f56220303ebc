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

const maxKept = 8 << 20 // bytes of commits kept by a snapshot

// head is what the commits say about the table itself.
type head struct {
	protocol *action.Protocol
	metadata *action.Metadata
	kept     map[string][]byte
}

// fill takes what is not known yet from an older place.
func (h *head) fill(p *action.Protocol, m *action.Metadata) {
	if h.protocol == nil {
		h.protocol = p
	}
	if h.metadata == nil {
		h.metadata = m
	}
}

func (h *head) complete() bool { return h.protocol != nil && h.metadata != nil }

// headTask is one commit to look through; keep says that its bytes may stay in memory.
type headTask struct {
	file File
	keep bool
}

type headResult struct {
	name     string
	protocol *action.Protocol
	metadata *action.Metadata
	text     []byte // nil when not kept
}

// readHeads looks through commits newest first, in parallel, until protocol and metadata are found (R1).
func (l Log) readHeads(ctx context.Context, commits []File) (head, error) {
	h := head{kept: map[string][]byte{}}
	o := exec.Options[headResult]{Workers: l.workers(), Budget: l.Budget, Size: func(r headResult) int64 { return int64(len(r.text)) }}
	for r, err := range exec.Ordered(ctx, headTasks(commits), o, l.readHead) {
		if err != nil {
			return head{}, err
		}
		h.fill(r.protocol, r.metadata)
		if r.text != nil {
			h.kept[r.name] = r.text
		}
		if h.complete() {
			break
		}
	}
	return h, nil
}

func headTasks(commits []File) iter.Seq2[headTask, error] {
	return func(yield func(headTask, error) bool) {
		total := int64(0)
		for _, f := range slices.Backward(commits) {
			total += f.Size
			if !yield(headTask{file: f, keep: total <= maxKept}, nil) {
				return
			}
		}
	}
}

func (l Log) readHead(ctx context.Context, t headTask, emit func(headResult) error) error {
	r, err := l.Store.Get(ctx, t.file.path())
	if err != nil {
		return commitError(err, t.file)
	}
	defer r.Close()
	result := headResult{name: t.file.Name}
	source := io.Reader(r)
	if t.keep {
		text, err := io.ReadAll(io.LimitReader(r, t.file.Size+1))
		if err != nil {
			return commitError(err, t.file)
		}
		source = bytes.NewReader(text)
		if int64(len(text)) > t.file.Size { // it grew since it was listed: the rest is not worth keeping
			source = io.MultiReader(source, r)
		} else {
			result.text = text
		}
	}
	err = scanActions(source, t.file, func(a action.Action) error {
		switch {
		case a.Protocol != nil:
			result.protocol = a.Protocol
		case a.Metadata != nil:
			result.metadata = a.Metadata
		}
		return nil
	})
	if err != nil {
		return commitError(err, t.file)
	}
	return emit(result)
}

// scanActions visits the actions of a commit or of a JSON manifest. More than one protocol or metaData is an error (A5).
func scanActions(r io.Reader, f File, visit func(action.Action) error) error {
	var protocols, metadata int
	s := action.NewScanner(r)
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
	pathKey  key
	fileKey  key // of path and vector
}

// commitPart is a run of file actions of one commit.
type commitPart struct {
	file    File
	actions []fileAction
	bytes   int64
	last    bool // of the commit
}

const (
	partActions = 512
	partBytes   = 256 << 10
	actionBytes = 320 // an action in memory, its texts aside
)

// parts reads the file actions of commits, newest commit first, in parallel and in bounded memory.
func (s *Snapshot) parts(ctx context.Context) iter.Seq2[commitPart, error] {
	tasks := func(yield func(File, error) bool) {
		for _, f := range slices.Backward(s.Segment.Commits) {
			if !yield(f, nil) {
				return
			}
		}
	}
	o := exec.Options[commitPart]{
		Workers: s.Log.workers(), Budget: s.Log.Budget, Size: func(p commitPart) int64 { return p.bytes },
	}
	return exec.Ordered(ctx, tasks, o, s.readParts)
}

func (s *Snapshot) readParts(ctx context.Context, f File, emit func(commitPart) error) error {
	r, err := s.open(ctx, f)
	if err != nil {
		return commitError(err, f)
	}
	defer r.Close()
	part := commitPart{file: f}
	err = scanActions(r, f, func(a action.Action) error {
		if !part.take(s.Log.Root, a) || (len(part.actions) < partActions && part.bytes < partBytes) {
			return nil
		}
		full := part
		part = commitPart{file: f}
		return emit(full)
	})
	if err != nil {
		return commitError(err, f)
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
	var path, vector string
	var extra int
	switch {
	case a.Add != nil:
		path, vector, extra = a.Add.Path, a.Add.DeletionVector.UniqueID(), len(a.Add.Stats)
	case a.Remove != nil:
		path, vector = a.Remove.Path, a.Remove.DeletionVector.UniqueID()
	default:
		return false
	}
	location := storage.ResolvePath(root, path)
	p.actions = append(p.actions, fileAction{
		add: a.Add, location: location, path: path, pathKey: pathKey(location), fileKey: fileKey(location, vector),
	})
	p.bytes += int64(actionBytes + 2*len(path) + extra)
	return true
}

// errStopped ends a run whose consumer wants no more.
var errStopped = errors.New("stopped")
