package deltalog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	hintPath     = logDir + "/_last_checkpoint"
	maxHintBytes = 8 << 20 // a checkpointSchema of thousands of columns fits
	hintTries    = 3
	hintPause    = 10 * time.Millisecond
)

// hint reads the version that _last_checkpoint names, or 0, from which a listing misses nothing. It is never a reason to
// fail (LC2). Its other fields, the checksum included, are not used: a wrong version costs a listing and cannot change
// the result (LC3).
func (l Log) hint(ctx context.Context) (int64, error) {
	var err error
	for try := range hintTries {
		if try > 0 && !sleep(ctx, hintPause) { // LC6: the file is overwritten in place on some stores
			break
		}
		var version int64
		if version, err = l.readHint(ctx); err == nil {
			return version, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return 0, ctx.Err()
		}
		if deltaerr.KindOf(err) != deltaerr.Corrupt {
			break
		}
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	l.warn("ignoring " + hintPath + ": " + err.Error())
	return 0, nil
}

func (l Log) readHint(ctx context.Context) (int64, error) {
	r, err := l.Store.Get(ctx, hintPath)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxHintBytes+1))
	if err != nil {
		return 0, err
	}
	return parseHint(text)
}

// parseHint returns the version of a hint's text. Unknown keys are ignored (LC1), repeated ones make it invalid (LC4).
func parseHint(text []byte) (int64, error) {
	if len(text) > maxHintBytes {
		return 0, deltaerr.New(deltaerr.Corrupt, "it is longer than a hint can be")
	}
	var h struct {
		Version *int64 `json:"version"`
	}
	switch err := json.Unmarshal(text, &h); {
	case err != nil:
		return 0, deltaerr.New(deltaerr.Corrupt, "it is not the JSON of a hint", deltaerr.Cause(err))
	case h.Version == nil || *h.Version < 0:
		return 0, deltaerr.New(deltaerr.Corrupt, "it names no version")
	}
	return *h.Version, nil
}

// sleep waits for d and says whether the context lived on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
