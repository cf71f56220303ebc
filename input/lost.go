package input

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// losses tells log and metrics which versions hold what cannot be handed out any more, because the log was cleaned, files
// were vacuumed, or the table was replaced or went back.
type losses struct {
	table   string
	log     *service.Logger
	metrics *metrics

	mu    sync.Mutex
	told  versions
	known bool // told is set
}

// versions is a range of them.
type versions struct{ first, last int64 }

func (v versions) String() string {
	if v.first == v.last {
		return fmt.Sprintf("version %d", v.first)
	}
	return fmt.Sprintf("versions %d to %d", v.first, v.last)
}

// tell tells a range, once until another one is lost: who has to try again meets the same one.
func (l *losses) tell(v versions) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known && v == l.told {
		return
	}
	l.told, l.known = v, true
	l.metrics.lostFirst.Set(v.first, l.table)
	l.metrics.lostLast.Set(v.last, l.table)
	l.log.Warnf("Lost are rows of %s of %s", v, l.table)
}

// lostVersions is the range that an error of going on behind a position is about. Of a table that was replaced only the
// beginning is known.
func lostVersions(err error, behind feed.Position) versions {
	var gone *deltalog.LostCommits
	if errors.As(err, &gone) {
		return versions{gone.First, gone.Last}
	}
	next := behind.Version
	if behind.Done {
		next++
	}
	var e *deltaerr.Error
	if !errors.As(err, &e) || e.Kind == deltaerr.Replaced {
		return versions{next, next}
	}
	at, known := e.KnownVersion()
	switch {
	case !known:
		return versions{next, next}
	case errors.Is(err, fs.ErrNotExist) && e.File != "":
		return versions{at, at}
	case at < behind.Version:
		return versions{at + 1, behind.Version}
	}
	return versions{next, max(next, at)}
}
