package deltacore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// misplaced says why there can be no table at a local location, which was given as text; nil: there can.
func misplaced(text string, location storage.URI) error {
	const root = "name the directory that holds _delta_log"
	info, err := os.Stat(location.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(text, "~"):
		return deltaerr.New(deltaerr.NotFound, "there is no such directory: ~ is not expanded by the program",
			deltaerr.Hint("write the path in full, or ${HOME} in a pipeline"))
	case errors.Is(err, fs.ErrNotExist):
		return deltaerr.New(deltaerr.NotFound, "there is no such directory", deltaerr.Hint("check the location"))
	case err == nil && !info.IsDir():
		return deltaerr.New(deltaerr.NotFound, "not a Delta table: it is a file", deltaerr.Hint(root))
	case err == nil && filepath.Base(location.Path) == "_delta_log":
		return deltaerr.New(deltaerr.NotFound, "not a Delta table: it is the log of one", deltaerr.Hint(root))
	}
	return nil
}
