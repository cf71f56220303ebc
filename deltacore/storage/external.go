package storage

import (
	"context"
	"io"
	"iter"
	"path"
	"strings"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// External is a store of a table whose log may point to files outside its root, as that of a shallow clone does. Paths that
// are the absolute URI of a [Location] go to the store of the allowed prefix that they lie under; all others go to the
// table's store. The two cannot be confused: a clean relative path never holds "://".
type External struct {
	table   Store
	allowed []URI
	open    func(URI) (Store, error)

	mu     sync.Mutex
	opened map[URI]Store
}

// NewExternal returns a store that reads below the prefixes, which are URIs or local paths, as well as the table. open makes
// the store of a prefix when a file of it is first read. Errors are deltaerr Config.
func NewExternal(table Store, prefixes []string, open func(URI) (Store, error)) (*External, error) {
	e := &External{table: table, open: open, opened: map[URI]Store{}}
	for _, p := range prefixes {
		uri, err := ParseURI(p)
		if err != nil {
			return nil, deltaerr.Annotate(err, deltaerr.Phase("reading allowed_external_paths"))
		}
		e.allowed = append(e.allowed, uri)
	}
	return e, nil
}

// Allows returns nil when the file of the location may be read, else a deltaerr Config that says what would allow it.
func (e *External) Allows(l Location) error {
	if l.External == "" {
		return nil
	}
	if _, _, ok := e.prefix(l.External); ok {
		return nil
	}
	return deltaerr.New(deltaerr.Config, "the file lies outside the table root", deltaerr.File(l.External),
		deltaerr.Hint("add its directory to allowed_external_paths if the table may read there"))
}

// prefix finds the allowed prefix of an absolute URI, and the path below it.
func (e *External) prefix(external string) (root URI, path string, ok bool) {
	for _, root := range e.allowed {
		if l := locateExternal(root, external); l.External == "" {
			return root, l.Path, true
		}
	}
	return URI{}, "", false
}

// locateExternal places the absolute URI of a [Location]. It has been decoded once already, and only that of a file is
// encoded again: the key of an S3 object is taken as it is.
func locateExternal(root URI, external string) Location {
	scheme, rest, _ := splitScheme(external)
	if scheme != SchemeS3 {
		return ResolvePath(root, external)
	}
	bucket, key := splitAuthority(rest)
	return URI{Scheme: SchemeS3, Bucket: bucket}.under(root, path.Clean("/"+key))
}

// route finds the store of a path and the path in it.
func (e *External) route(path string) (Store, string, error) {
	if !strings.Contains(path, "://") {
		return e.table, path, nil
	}
	root, below, ok := e.prefix(path)
	if !ok {
		return nil, "", e.Allows(Location{External: path})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.opened[root]; s != nil {
		return s, below, nil
	}
	s, err := e.open(root)
	if err != nil {
		return nil, "", err
	}
	e.opened[root] = s
	return s, below, nil
}

// List lists a directory of the table.
func (e *External) List(ctx context.Context, dir, startAfter string) iter.Seq2[Entry, error] {
	return e.table.List(ctx, dir, startAfter)
}

// ReadAt implements [Store].
func (e *External) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	s, below, err := e.route(path)
	if err != nil {
		return 0, err
	}
	n, err := s.ReadAt(ctx, below, buf, off)
	return n, renamed(err, below, path)
}

// Get implements [Store].
func (e *External) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	s, below, err := e.route(path)
	if err != nil {
		return nil, err
	}
	r, err := s.Get(ctx, below)
	return r, renamed(err, below, path)
}

// Stat implements [Store].
func (e *External) Stat(ctx context.Context, path string) (Entry, error) {
	s, below, err := e.route(path)
	if err != nil {
		return Entry{}, err
	}
	entry, err := s.Stat(ctx, below)
	entry.Path = path
	return entry, renamed(err, below, path)
}

// Open implements [Opener].
func (e *External) Open(ctx context.Context, path string) (Object, error) {
	s, below, err := e.route(path)
	if err != nil {
		return nil, err
	}
	object, err := OpenObject(ctx, s, below)
	if err != nil || below == path {
		return object, renamed(err, below, path)
	}
	return externalObject{object, below, path}, nil
}

// externalObject is an open object of another store.
type externalObject struct {
	Object
	below, path string
}

// ReadAt implements [Object].
func (o externalObject) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	n, err := o.Object.ReadAt(ctx, buf, off)
	return n, renamed(err, o.below, o.path)
}

// renamed is an error of another store, which names its object from its own root, with the whole path instead.
func renamed(err error, below, path string) error {
	own, ok := err.(*deltaerr.Error) //nolint:errorlint // a wrapper names what it means to
	if !ok || own.File != below || below == path {
		return err
	}
	e := *own
	e.File = path
	return &e
}
