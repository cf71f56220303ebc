package storage

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// joinPath is the path of a name inside a directory, "" being the root.
func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// isClean says whether path is relative, stays in the root and has one spelling: no empty, "." or ".." segment.
func isClean(path string) bool {
	if strings.IndexByte(path, 0) >= 0 {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// uncleanPath is the error for a path that no object has.
func uncleanPath(path string) error {
	return notFound(path, "no object can have this path")
}

// notFound is the error for an object that is not there; reason may be "".
func notFound(path, reason string) error {
	return deltaerr.New(deltaerr.NotFound, reason, deltaerr.File(path), deltaerr.Cause(fs.ErrNotExist))
}

// IsGone says whether an error of a Store means that nothing has the path, so that it may have been removed. The other NotFound
// errors give a reason: the path cannot be that of a file, or something else has it.
func IsGone(err error) bool {
	var e *deltaerr.Error
	return errors.As(err, &e) && e.Kind == deltaerr.NotFound && e.Msg == ""
}

// negativeOffset is the error for a read before the beginning.
func negativeOffset(path string) error {
	return deltaerr.New(deltaerr.Internal, "the offset of a read is negative", deltaerr.File(path), deltaerr.Cause(fs.ErrInvalid))
}
