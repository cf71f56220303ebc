package deltalog

import (
	"context"
	"fmt"

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
// The file of the version's commit must still be the one that was read. One of another length or time is read: it is the same if
// its bytes are, as far as [Snapshot.CommitHash] is known. Where it is not the same, which costs what [Log.Open] costs and up to
// three requests, the newest version tells what happened (L11): another table id is Replaced; an older version, or another commit
// of the same number, is Unresumable with a [LostCommits] as cause. A log that was only cleaned, or copied, goes on.
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
	touched        // it was written anew and has as many bytes; which is not known
	rewritten      // it is another one
)

// link looks for the file of the version in a listing that begins there. It costs no request as long as that is the same.
func (s *Snapshot) link(ctx context.Context, names listing) (link, error) {
	known := s.Segment.anchor()
	now := names.find(known)
	if now == nil {
		return s.unlisted(ctx, known)
	}
	return s.compare(ctx, known, *now)
}

// compare says whether a file of the log still is the one that was read. Of one that has another size or time the bytes count: a
// copy has other times, and what was listed while it was written has another size.
func (s *Snapshot) compare(ctx context.Context, known, now File) (link, error) {
	asLong := now.Size == known.Size
	switch {
	case asLong && now.ModTime.Equal(known.ModTime):
		return linked, nil
	case s.hash == "" || s.Segment.Commit == nil:
		if asLong {
			return touched, nil
		}
		return rewritten, nil
	}
	hash, err := s.Log.CommitHash(ctx, s.Version)
	switch {
	case err != nil:
		return gone, err
	case hash == "":
		return gone, nil
	case hash != s.hash:
		return rewritten, nil
	}
	return linked, nil
}

// unlisted says whether a file that is not listed is gone, or the listing is behind.
func (s *Snapshot) unlisted(ctx context.Context, known File) (link, error) {
	e, err := s.Log.Store.Stat(ctx, known.path())
	switch {
	case vanished(err):
		return gone, nil
	case err != nil:
		return gone, deltaerr.Annotate(err, deltaerr.File(known.path()))
	}
	found, err := s.compare(ctx, known, File{Name: known.Name, Version: known.Version, Size: e.Size, ModTime: e.ModTime})
	if found == touched { // some stores tell a time more precisely when they list
		found = linked
	}
	return found, err
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
	known := s.Segment.Commit
	same := f == nil || known == nil || f.ModTime.Equal(known.ModTime) && f.Size == known.Size
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
		return nil, s.Log.Rewritten(ctx, s.Version, s.Segment.anchor().ModTime)
	case why == rewritten:
		return nil, s.Log.Rewritten(ctx, s.Version, s.Segment.anchor().ModTime)
	}
	return newest, nil
}

func replaced(was, is string, version int64) error {
	return deltaerr.New(deltaerr.Replaced, fmt.Sprintf("the table was replaced: its id was %q and is now %q", was, is),
		deltaerr.Version(version))
}
