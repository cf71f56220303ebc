package deltalog

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Latest is the newest version that is known: the highest that the log held when it was last listed.
func (s *Snapshot) Latest() int64 {
	latest, _ := s.Segment.later.latest()
	return max(latest, s.Version)
}

// Ahead lists the commits after the version that the log held when it was last listed, ascending: their versions, sizes and
// times of writing. Do not change it.
func (s *Snapshot) Ahead() []File { return s.Segment.later.commitsFrom(s.Version + 1) }

// Look asks what is new: it returns the same version with [Snapshot.Latest] and [Snapshot.Ahead] renewed, s itself when
// there is nothing to renew. It costs one listing from the version on, whatever the length of the log, and reads no commit.
// A listing that lacks the newest versions, as some stores give them, is harmless: the next one has them.
//
// The file of the version's commit must still be the one that was read. Where it is not, which costs what [Log.Open] costs
// and two requests, the newest version tells what happened (L11): another table id is Replaced, an older version or another
// commit of the same number is Unresumable. A log that was only cleaned, or copied, goes on.
func (s *Snapshot) Look(ctx context.Context) (*Snapshot, error) {
	seen, _, err := s.look(ctx)
	return seen, s.annotate(err)
}

// look also returns the newest version where it had to be opened.
func (s *Snapshot) look(ctx context.Context) (seen, newest *Snapshot, err error) {
	names, newest, err := s.listLinked(ctx, s.Version)
	switch {
	case err != nil:
		return nil, nil, err
	case newest != nil && newest.Version == s.Version:
		return newest, newest, nil
	}
	return s.knowing(names), newest, nil
}

// listLinked lists the log from a version on, at most the snapshot's, and makes sure that it still is the log of s. newest
// is nil when no more than the listing was needed for that.
func (s *Snapshot) listLinked(ctx context.Context, from int64) (names listing, newest *Snapshot, err error) {
	names, err = s.Log.list(ctx, from)
	if err != nil {
		return listing{}, nil, err
	}
	link, err := s.link(ctx, names)
	if err != nil || link == linked {
		return names, nil, err
	}
	newest, err = s.reopen(ctx, link)
	if err != nil {
		return listing{}, nil, err
	}
	names, err = s.Log.list(ctx, from)
	return names, newest, err
}

// link is how the log of a later listing goes with a version that was read.
type link int

const (
	linked    link = iota
	gone           // the file of the version is gone
	touched        // it was written anew and has as many bytes
	rewritten      // it is another commit
)

// link looks for the file of the version in a listing that begins there. It costs no request as long as that is the same.
func (s *Snapshot) link(ctx context.Context, names listing) (link, error) {
	known := s.Segment.anchor()
	now := names.find(known)
	switch {
	case now == nil:
		return s.unlisted(ctx, known)
	case now.Size != known.Size:
		return rewritten, nil
	case now.ModTime.Equal(known.ModTime):
		return linked, nil
	}
	text, kept := s.kept[known.Name]
	if !kept {
		return touched, nil
	}
	same, err := s.Log.holds(ctx, known, text)
	if err == nil && !same {
		return rewritten, nil
	}
	return linked, err
}

// unlisted says whether a file that is not listed is gone, or the listing is behind.
func (s *Snapshot) unlisted(ctx context.Context, known File) (link, error) {
	e, err := s.Log.Store.Stat(ctx, known.path())
	switch {
	case vanished(err):
		return gone, nil
	case err != nil:
		return gone, deltaerr.Annotate(err, deltaerr.File(known.path()))
	case e.Size != known.Size:
		return rewritten, nil
	}
	return linked, nil
}

// holds compares a file with the bytes that it had.
func (l Log) holds(ctx context.Context, f File, text []byte) (bool, error) {
	r, err := l.Store.Get(ctx, f.path())
	if err != nil {
		return false, commitError(err, f)
	}
	defer r.Close()
	now, err := io.ReadAll(io.LimitReader(r, int64(len(text))+1))
	if err != nil {
		return false, commitError(err, f)
	}
	return bytes.Equal(now, text), nil
}

// anchor is the file by which a listing is recognised as that of the same log.
func (s Segment) anchor() File {
	if s.Commit == nil {
		return s.Checkpoint.Files[0]
	}
	return *s.Commit
}

// find returns the listed file of a name, or nil.
func (s listing) find(known File) *File {
	if f := s.commit(known.Version); f != nil && f.Name == known.Name {
		return f
	}
	for _, c := range s.checkpoints {
		if c.Files[0].Name == known.Name {
			return &c.Files[0]
		}
	}
	return nil
}

// knowing is the snapshot with another listing's knowledge of what comes after it.
func (s *Snapshot) knowing(names listing) *Snapshot {
	latest, _ := names.latest()
	f := names.commit(s.Version)
	same := f == nil || s.Segment.Commit == nil || f.ModTime.Equal(s.Segment.Commit.ModTime)
	if same && s.Latest() == s.Version && latest <= s.Version {
		return s
	}
	seen := *s
	seen.Segment.later = names
	if !same {
		seen.Segment.Commit = f
	}
	return &seen
}

// reopen opens the newest version when the log does not link to s, and says what happened to it if that is no longer the
// table of s.
func (s *Snapshot) reopen(ctx context.Context, why link) (*Snapshot, error) {
	newest, err := s.Log.Open(ctx, Which{})
	if err != nil {
		return nil, err
	}
	switch {
	case newest.Metadata.ID != s.Metadata.ID:
		return nil, replaced(s.Metadata.ID, newest.Metadata.ID, newest.Version)
	case newest.Version < s.Version:
		if now, err := s.unlisted(ctx, s.Segment.anchor()); err != nil || now == linked { // the listing is behind
			return s, err
		}
		return nil, deltaerr.New(deltaerr.Unresumable, fmt.Sprintf("the table went back: version %d was read, but the latest"+
			" is now %d, as after restoring an old copy of it", s.Version, newest.Version), deltaerr.Version(newest.Version))
	case why == rewritten:
		return nil, deltaerr.New(deltaerr.Unresumable, fmt.Sprintf("the commit of version %d is another one than the one that"+
			" was read, as after restoring an old copy of the table and writing on", s.Version), deltaerr.File(s.Segment.anchor().path()))
	}
	return newest, nil
}

func replaced(was, is string, version int64) error {
	return deltaerr.New(deltaerr.Replaced, fmt.Sprintf("the table was replaced: its id was %q and is now %q", was, is),
		deltaerr.Version(version))
}
