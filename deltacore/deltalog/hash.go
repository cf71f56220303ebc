package deltalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const hashDigits = 16

// hashing is a reader that hashes what is read from it.
type hashing struct {
	io.Reader
	sum hash.Hash // nil: it does not
}

func newHashing(r io.Reader) hashing {
	sum := sha256.New()
	return hashing{io.TeeReader(r, sum), sum}
}

// text is the first 16 hex digits of the SHA-256 of what was read; "" where it was not hashed.
func (h hashing) text() string {
	if h.sum == nil {
		return ""
	}
	return hex.EncodeToString(h.sum.Sum(nil)[:hashDigits/2])
}

// CommitHash is the [Commit.Hash] of the version's commit, as it was when it was read; "" where it was not read.
func (s *Snapshot) CommitHash() string { return s.hash }

// Hashed is the snapshot with its CommitHash, s itself where that is known, or where the log no longer holds the commit. It
// costs one request at most.
func (s *Snapshot) Hashed(ctx context.Context) (*Snapshot, error) {
	if s.hash != "" || s.Segment.Commit == nil {
		return s, nil
	}
	text, err := s.Log.CommitHash(ctx, s.Version)
	if err != nil || text == "" {
		return s, err
	}
	hashed := *s
	hashed.hash = text
	return &hashed, nil
}

// CommitHash is the [Commit.Hash] of a version's commit as it is now; "" where the log does not hold it. It costs one request,
// and reads the whole commit.
func (l Log) CommitHash(ctx context.Context, version int64) (string, error) {
	f := File{Name: fmt.Sprintf("%020d.json", version), Version: version}
	r, err := l.Store.Get(ctx, f.path())
	if vanished(err) {
		return "", nil
	}
	if err != nil {
		return "", l.annotate(commitError(err, f))
	}
	defer r.Close()
	h := newHashing(r)
	if _, err := io.Copy(io.Discard, h); err != nil {
		return "", l.annotate(commitError(err, f), deltaerr.Version(version))
	}
	return h.text(), nil
}
