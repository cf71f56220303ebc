package plugin_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goroutineStarters lists the packages, and single files of packages, that may start goroutines; each joins what it starts.
var goroutineStarters = []string{"deltacore/exec", "plugin/isolate", "input/trigger", "input/ack", "input/pump.go", "input/looks.go", "input/release.go"}

func TestGoroutinesStartOnlyWhereTheyAreJoined(t *testing.T) {
	for _, f := range sources(t) {
		dir := filepath.Dir(f.path)
		_, support := testSupport[dir]
		if support || f.test() || slices.Contains(goroutineStarters, dir) || slices.Contains(goroutineStarters, f.path) {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if startsGoroutine(n) {
				t.Errorf("%s:%d starts a goroutine: only %v may", f.path, f.line(n.Pos()), goroutineStarters)
			}
			return true
		})
	}
}

// startsGoroutine recognises go statements and the Go methods of wait groups and error groups.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Go"
	}
	return false
}

const (
	longestFile     = 500 // lines
	longestFunction = 80
)

// longFiles and longFunctions are exceptions, each with its reason.
var (
	longFiles     = map[string]string{}
	longFunctions = map[string]string{}
)

func TestFilesAndFunctionsKeepTheirSize(t *testing.T) {
	for _, f := range sources(t) {
		if n := bytes.Count(f.text, []byte("\n")); n > longestFile && longFiles[f.path] == "" {
			t.Errorf("%s has %d lines, more than %d: divide it along its nouns, or give a reason in longFiles", f.path, n, longestFile)
		}
		for _, d := range f.tree.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || f.test() { // the tables of tests may be long
				continue
			}
			name := f.path + ":" + d.Name.Name
			if n := f.line(d.End()) - f.line(d.Pos()) + 1; n > longestFunction && longFunctions[name] == "" {
				t.Errorf("%s has %d lines, more than %d: divide it, or give a reason in longFunctions", name, n, longestFunction)
			}
		}
	}
}

// source is a Go file of the repository.
type source struct {
	path string // from the root, with slashes
	text []byte
	tree *ast.File
	set  *token.FileSet
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) line(p token.Pos) int { return s.set.Position(p).Line }

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		s, err := parse(path)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parse(path string) (source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return source{}, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	name, err := filepath.Rel(root, path)
	return source{path: filepath.ToSlash(name), text: text, tree: tree, set: set}, err
}
