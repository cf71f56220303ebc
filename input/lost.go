package input

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
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

// tellLost tells what an error of following says is lost, if it is known to be.
func (in *Input) tellLost(err error) {
	if lost, known := lostVersions(err); known && in.config.Follows() {
		in.losses.tell(lost)
	}
}

// lostVersions is the range that was read before and cannot be gone on from: its commits are no longer in the log, or are others
// now. What else is missing may only be out of sight.
func lostVersions(err error) (lost versions, known bool) {
	var gone *deltalog.LostCommits
	if deltaerr.KindOf(err) != deltaerr.Unresumable || !errors.As(err, &gone) {
		return versions{}, false
	}
	return versions{gone.First, gone.Last}, true
}

// isTakenBack says whether an error is one of a table that was taken back to an older version.
func isTakenBack(err error) bool {
	var gone *deltalog.LostCommits
	return errors.As(err, &gone) && gone.Others
}

// missingFile is the version whose data file is missing, where an error is about one.
func missingFile(err error) (at versions, missing bool) {
	var e *deltaerr.Error
	if !errors.As(err, &e) || e.Kind != deltaerr.NotFound || e.File == "" || !errors.Is(err, fs.ErrNotExist) {
		return versions{}, false
	}
	version, known := e.KnownVersion()
	return versions{version, version}, known && !strings.HasPrefix(e.File, "_delta_log/")
}

// unresumable tells what an error of going on behind a stored position means.
func unresumable(err error, stored feed.Position) error {
	switch deltaerr.KindOf(err) {
	case deltaerr.NotFound:
		if _, missing := missingFile(err); !missing { // the table may only be out of sight
			return err
		}
		err = deltaerr.New(deltaerr.Unresumable, "what is behind the stored position is not there any more",
			deltaerr.Phase("resuming behind %s", inWords(stored)), deltaerr.Cause(err))
	case deltaerr.Unresumable, deltaerr.Replaced:
	default:
		return err
	}
	return deltaerr.Annotate(err, deltaerr.Hint("begin anew with %s.on_unresumable_position: reset", configspec.Component))
}

// resets says whether the input begins anew after an error, and logs what is lost with that. stored is the position that cannot be
// continued from; nil: it could not be read.
func (in *Input) resets(err error, stored *feed.Position) bool {
	return resets(in.config, in.log, err, stored)
}

func resets(c configspec.Config, log *service.Logger, err error, stored *feed.Position) bool {
	kind := deltaerr.KindOf(err)
	if c.Checkpoint.OnUnresumable != "reset" || kind != deltaerr.Unresumable && kind != deltaerr.Replaced {
		return false
	}
	lost := "which rows are lost or come again is not known"
	if stored != nil {
		lost = fmt.Sprintf("lost is what version %d of table %s has behind that position and the version read next has not",
			stored.Version, stored.TableID)
	}
	log.Warnf("Beginning anew: %v; %s", err, lost)
	return true
}
