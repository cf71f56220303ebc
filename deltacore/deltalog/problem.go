package deltalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// The errors of choosing a version stand together so that they read alike: what was asked, what is in the way, which
// versions there are (section 22).

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

func negativeVersion(at int64) error {
	return deltaerr.New(deltaerr.Config, fmt.Sprintf("version %d does not exist: versions start at 0", at))
}

// notATable: nothing in the log makes a version (L12).
func (s listing) notATable() error {
	if len(s.unusable) > 0 {
		return deltaerr.New(deltaerr.Corrupt, "the log has no commits and no usable checkpoint: "+s.reasons(),
			deltaerr.Hint("restore the missing files of %s", logDir))
	}
	return deltaerr.New(deltaerr.NotFound, "not a Delta table: "+logDir+" is missing or has no commits",
		deltaerr.Hint("check the location"))
}

// noCommits: when a version was made is not told by checkpoints.
func (s listing) noCommits() error {
	if len(s.checkpoints) == 0 {
		return s.notATable()
	}
	return deltaerr.New(deltaerr.NotFound, "the log holds checkpoints but no commits: when a version was committed cannot be known",
		s.available())
}

func (s listing) aboveLatest(at, latest int64) error {
	return deltaerr.New(deltaerr.NotFound,
		fmt.Sprintf("version %d does not exist: the latest version is %d", at, latest), s.available())
}

// notFromZero: no checkpoint covers the version and the commits do not start at 0 (L6, RV1).
func (s listing) notFromZero(target int64) error {
	if spans := s.readable(); len(spans) > 0 {
		return deltaerr.New(deltaerr.NotFound,
			fmt.Sprintf("version %d can no longer be rebuilt: the earliest version that can is %d, older log files were removed"+
				" (delta.logRetentionDuration)", target, spans[0].first), s.available())
	}
	msg := "the log does not start at version 0 and has no complete checkpoint"
	if len(s.commits) > 0 {
		msg = fmt.Sprintf("the log is truncated: its first commit is %s and there is no complete checkpoint", s.commits[0].path())
	}
	if len(s.unusable) > 0 {
		msg += ": " + s.reasons()
	}
	return deltaerr.New(deltaerr.Corrupt, msg, deltaerr.Version(target),
		deltaerr.Hint("restore the missing files of %s", logDir))
}

// gap: a commit between others is missing (L5, RV5).
func (s listing) gap(missing int64, after []File) error {
	msg := fmt.Sprintf("versions are not contiguous: the commit of version %d is missing", missing)
	if len(after) > 0 {
		msg = fmt.Sprintf("versions are not contiguous: [%d, %d]: the commit of version %d is missing",
			missing-1, after[0].Version, missing)
	}
	file := File{Name: fmt.Sprintf("%020d.json", missing)}
	return deltaerr.New(deltaerr.Corrupt, msg, deltaerr.File(file.path()), s.available())
}

// reasons says why checkpoints are unusable, the newest first.
func (s listing) reasons() string {
	const most = 3
	var list []string
	for i := len(s.unusable) - 1; i >= 0 && len(list) < most; i-- {
		list = append(list, s.unusable[i].reason)
	}
	return strings.Join(list, "; ")
}

// available says which versions can be read.
func (s listing) available() deltaerr.Attr {
	const most = 8
	var list []string
	for _, p := range s.readable() {
		text := itoa(p.first)
		if p.last > p.first {
			text += " to " + itoa(p.last)
		}
		list = append(list, text)
	}
	if n := len(list); n > most {
		list = append(list[:most/2], append([]string{"…"}, list[n-most/2:]...)...)
	}
	if len(list) == 0 {
		return deltaerr.Hint("no version can be read")
	}
	return deltaerr.Hint("versions that can be read: %s", strings.Join(list, ", "))
}

// missingAction: the segment has no protocol or no metaData (R1).
func (s Segment) missingAction(name string) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("no %s action found in %s", name, s.describe()),
		deltaerr.Version(s.Version))
}

// describe names the files of a segment.
func (s Segment) describe() string {
	var parts []string
	if s.Checkpoint != nil {
		parts = append(parts, "the checkpoint of version "+itoa(s.Checkpoint.Version)+" ("+s.Checkpoint.Files[0].path()+")")
	}
	switch n := len(s.Commits); n {
	case 0:
	case 1:
		parts = append(parts, s.Commits[0].path())
	default:
		parts = append(parts, s.Commits[0].path()+" to "+s.Commits[n-1].Name)
	}
	return strings.Join(parts, " and ")
}
