package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for the command, for scripts and for tests that execute it.
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"benthos-delta": main}) }

// TestScript runs testdata/script/*.txtar. Beside the commands of testscript they have:
//
//	copytree SOURCE TARGET    copies a directory
//	truncate FILES BYTES      cuts the files of a pattern; a negative number is counted from their end
//	settime DIRECTORY TIME    sets the modification time of every file
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
			"truncate": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(truncate(ts.MkAbs(args[0]), args[1]))
			},
			"settime": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(setTime(ts.MkAbs(args[0]), args[1]))
			},
		},
	})
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

func setTime(dir, text string) error {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}
