package deltalog

import (
	"context"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	maxChecksumBytes = 16 << 20
	checksumPays     = 16 // commits that have to be spared for a checksum to be read
)

// checksum is what is used of a .crc file (section 7): never what it says about files.
type checksum struct {
	TxnID             string           `json:"txnId"`
	InCommitTimestamp *int64           `json:"inCommitTimestampOpt"`
	Protocol          *action.Protocol `json:"protocol"` // K5: not named as the actions are
	Metadata          *action.Metadata `json:"metadata"`
}

// readChecksum reads a .crc file. Nothing but a failing store is an error: one that is malformed is as good as none (K1).
func (l Log) readChecksum(ctx context.Context, f File) (*checksum, error) {
	c, err := l.fetchChecksum(ctx, f)
	switch {
	case err == nil:
		return c, nil
	case !passable(err):
		return nil, deltaerr.Annotate(err, deltaerr.File(f.path()))
	}
	l.warn("ignoring " + f.path() + ": " + err.Error())
	return nil, nil
}

func (l Log) fetchChecksum(ctx context.Context, f File) (*checksum, error) {
	r, err := l.Store.Get(ctx, f.path())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxChecksumBytes+1))
	if err != nil {
		return nil, err
	}
	return decodeChecksum(text)
}

func decodeChecksum(text []byte) (*checksum, error) {
	if len(text) > maxChecksumBytes {
		return nil, deltaerr.New(deltaerr.Corrupt, "it is longer than a checksum should be")
	}
	var c checksum
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, deltaerr.New(deltaerr.Corrupt, "it is not the JSON of a checksum", deltaerr.Cause(err))
	}
	if c.Protocol == nil || c.Metadata == nil || c.Metadata.ID == "" || c.Metadata.SchemaString == "" {
		return nil, deltaerr.New(deltaerr.Corrupt, "it has no protocol or no metadata")
	}
	return &c, nil
}

// useChecksum takes protocol and metadata from the .crc file of the segment's version (K2), which spares reading the
// commits for them. The file must belong to the version's commit: both name the transaction. One that does not, because
// another table left it at the same place, is ignored.
func (l Log) useChecksum(ctx context.Context, s Segment, h *head) error {
	commit, err := l.readWhole(ctx, headTask{file: *s.Commit, version: s.Version, keep: s.Commit.Size <= maxKept/4, hash: true}, ignore)
	if err != nil {
		return commitError(err, *s.Commit)
	}
	h.take(commit)
	id := transactionOf(commit.info)
	if id == "" || h.completeBelow(s.Version) {
		return nil
	}
	c, err := l.readChecksum(ctx, *s.Checksum)
	if c == nil {
		return err
	}
	if c.TxnID != id {
		l.warn("ignoring " + s.Checksum.path() + ": it is of another transaction than the commit")
		return nil
	}
	h.note(s.Version, c.Protocol, c.Metadata)
	return nil
}

func ignore(action.Action) error { return nil }

// transactionOf is the txnId of a commit, "" when it has none.
func transactionOf(info *action.CommitInfo) string {
	var members struct {
		TxnID string `json:"txnId"`
	}
	if info == nil || json.Unmarshal(info.Raw, &members) != nil {
		return ""
	}
	return members.TxnID
}
