package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for the command, for scripts and for tests that execute it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"benthos-delta": main, "benthos-delta-recording": recordingMain})
}

// TestScript runs testdata/script/*.txtar. Beside the commands of testscript they have:
//
//	copytree SOURCE TARGET    copies a directory
//	clone SOURCE TARGET       makes a table whose log is that of another one and points to its files
//	truncate FILES BYTES      cuts the files of a pattern; a negative number is counted from their end
//	settime FILES TIME        sets the modification time of the files of a pattern, and of all in its directories
//	calm                      the last command logged no warning or error, except that the engine was slow to end
func TestScript(t *testing.T) {
	root := moduleRoot(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join(root, "testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("ORDERS", filepath.Join(root, "testdata", "tables", "orders"))
			env.Setenv("EXAMPLES", filepath.Join(root, "examples", "pipelines"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"copytree": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
			},
			"clone": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(clone(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
			},
			"truncate": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(truncate(ts.MkAbs(args[0]), args[1]))
			},
			"settime": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(setTimes(ts.MkAbs(args[0]), args[1]))
			},
			"calm": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(calm(ts.ReadFile("stderr")))
			},
		},
	})
}

// clone copies the commits, not the checkpoints, and makes the paths of files absolute.
func clone(source, target string) error {
	commits, err := filepath.Glob(filepath.Join(source, "_delta_log", "*.json"))
	if err != nil {
		return err
	}
	log := filepath.Join(target, "_delta_log")
	if err := os.MkdirAll(log, 0o700); err != nil {
		return err
	}
	for _, commit := range commits {
		text, err := os.ReadFile(commit)
		if err != nil {
			return err
		}
		absolute := strings.ReplaceAll(string(text), `"path":"`, `"path":"file://`+filepath.ToSlash(source)+"/")
		if err := os.WriteFile(filepath.Join(log, filepath.Base(commit)), []byte(absolute), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func truncate(pattern, bytes string) error {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil {
		return err
	}
	for _, path := range matches {
		size := n
		if n < 0 {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			size += info.Size()
		}
		if err := os.Truncate(path, size); err != nil {
			return err
		}
	}
	return nil
}

func setTimes(pattern, text string) error {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	matches, err := filepath.Glob(pattern)
	for _, match := range matches {
		err = errors.Join(err, setTime(match, at))
	}
	return err
}

func setTime(path string, at time.Time) error {
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
}

// slowEnd is what the engine says of itself when the machine is busy as it ends.
const slowEnd = "Service failed to close HTTP server gracefully in time"

func calm(log string) error {
	for line := range strings.Lines(log) {
		complains := strings.Contains(line, "level=warning") || strings.Contains(line, "level=error")
		if complains && !strings.Contains(line, slowEnd) {
			return errors.New("want no warnings and no errors, got " + line)
		}
	}
	return nil
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}
