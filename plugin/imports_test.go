package plugin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/benthos-delta/benthos-delta"
	root   = ".." // of the repository
)

// layers hold the packages of the product from right to left: an import points to an earlier layer. A package that is not
// listed belongs to the nearest one above it.
var layers = [][]string{
	{"pruning", "deltacore/exec", "limits", "deltacore/deltaerr", "deltacore/recycle", "plugin/heap"},
	{"config_spec"},
	{"deltacore/arrowdata", "deltacore/schema"},
	{"deltacore/action", "deltacore/jsonform", "deltacore/storage", "deltacore/storage/s3"},
	{"deltacore/parquetio", "deltacore/dv", "deltacore/variant"},
	{"deltacore/deltalog"},
	{"deltacore/scanplan", "pruning/rowfilter"},
	{"deltacore/datafile"},
	{"deltacore/changes"},
	{"deltacore"},
	{"input/feed"},
	{"input/ack", "input/encode", "input/trigger"},
	{"plugin/isolate"},
	{"input"},
	{"plugin"},
	{"plugin/benthos-delta"},
}

// sideways lists the imports inside a layer that are meant.
var sideways = map[[2]string]string{
	{"deltacore/storage/s3", "deltacore/storage"}: "it implements the interface",
	{"deltacore/exec", "deltacore/deltaerr"}:      "it reports panics and cancellation as errors of a kind",
}

// testSupport lists packages that only tests import, and what they import of the product.
var testSupport = map[string][]string{
	"deltacore/deltatest":           {"deltacore/action", "deltacore/schema"},
	"deltacore/deltatest/orders":    {"deltacore/action", "deltacore/schema", "deltacore/deltatest"},
	"deltacore/storage/storagetest": {"deltacore/storage", "deltacore/deltaerr"},
}

// Cron expressions name time zones, which not every machine has.
func TestTheBinaryHasTimeZones(t *testing.T) {
	for _, p := range packages(t) {
		if p.name() == "plugin/benthos-delta" && !slices.Contains(p.Imports, "time/tzdata") {
			t.Error("want time/tzdata among the imports of the binary")
		}
	}
}

func TestImportsPointToTheRight(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.ours(p.Imports) {
			if why := wrongDirection(p.name(), imported); why != "" {
				t.Errorf("%s imports %s: %s", p.name(), imported, why)
			}
		}
	}
}

// wrongDirection says what is wrong with an import of the product by the product, "" for nothing.
func wrongDirection(from, to string) string {
	if allowed, ok := testSupport[from]; ok {
		if slices.Contains(allowed, to) {
			return ""
		}
		return "test support stays independent of what it tests"
	}
	if _, ok := testSupport[to]; ok {
		return "only tests import it"
	}
	a, b := layerOf(from), layerOf(to)
	switch _, meant := sideways[[2]string{from, to}]; {
	case a < 0 || b < 0:
		return "it has no place in the order of layers"
	case b < a || meant || strings.HasPrefix(from, to+"/") && a == b:
		return ""
	}
	return fmt.Sprintf("layer %d may not import layer %d", a, b)
}

func layerOf(name string) int {
	for ; name != "."; name = filepath.Dir(name) {
		for i, layer := range layers {
			if slices.Contains(layer, name) {
				return i
			}
		}
	}
	return -1
}

// contained lists dependencies that only the packages named may import.
var contained = []struct {
	prefix  string
	allowed []string
}{
	{"github.com/benthosdev/benthos/", []string{"input", "plugin", "plugin/benthos-delta"}},
	{"github.com/apache/arrow-go/v18/parquet", []string{"deltacore/parquetio", "deltacore/deltatest"}},
	{"github.com/RoaringBitmap/roaring", []string{"deltacore/dv"}},
	{"github.com/aws/", []string{"deltacore/storage/s3"}},
	{"github.com/hashicorp/go-plugin", []string{"plugin/isolate"}},
	{"google.golang.org/grpc", []string{"plugin/isolate"}},
	{"google.golang.org/protobuf", []string{"plugin/isolate"}},
}

func TestContainedDependenciesAreImportedInTheirPlaceOnly(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for _, rule := range contained {
				if strings.HasPrefix(imported, rule.prefix) && !slices.Contains(rule.allowed, p.name()) {
					t.Errorf("%s imports %s: only %v may", p.name(), imported, rule.allowed)
				}
			}
		}
	}
}

// free lists packages that do without a dependency, however indirect, so that they can be read and reused alone.
var free = []struct {
	name      string
	forbidden []string
}{
	{"limits", []string{"github.com/apache/arrow-go/", "github.com/benthosdev/"}},
	{"pruning", []string{"github.com/apache/arrow-go/", "github.com/benthosdev/"}},
	{"config_spec", []string{"github.com/apache/arrow-go/", "github.com/benthosdev/"}},
	{"deltacore", []string{"github.com/benthosdev/"}},
	{"input/feed", []string{"github.com/benthosdev/"}},
	{"input/ack", []string{"github.com/benthosdev/"}},
	{"input/encode", []string{"github.com/benthosdev/"}},
	{"input/trigger", []string{"github.com/benthosdev/"}},
	{"plugin/isolate", []string{"github.com/benthosdev/"}},
}

func TestReusablePackagesStayFreeOfHeavyDependencies(t *testing.T) {
	for _, p := range packages(t) {
		for _, rule := range free {
			if p.name() != rule.name {
				continue
			}
			for _, prefix := range rule.forbidden {
				if i := slices.IndexFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, prefix) }); i >= 0 {
					t.Errorf("%s depends on %s", p.name(), p.Deps[i])
				}
			}
		}
	}
}

// listed is what `go list` says about a package.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// ours returns the imports that are packages of this module, by their path in the repository.
func (p listed) ours(imports []string) []string {
	var names []string
	for _, i := range imports {
		if name, ok := strings.CutPrefix(i, module+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// list asks the go tool once for all tests.
var list = sync.OnceValues(func() ([]listed, error) {
	command := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

func packages(t *testing.T) []listed {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// topLevel lists what may stand at the top of the repository; true: must.
var topLevel = map[string]bool{
	"go.mod": true, "go.sum": true, "README.md": true, "LICENSE": true, "CHANGELOG.md": true, "Taskfile.yml": true,
	"CONTRIBUTING.md": false, "SECURITY.md": false,
	"plugin": true, "input": true, "deltacore": true, "limits": false, "pruning": false, "config_spec": true,
	"examples": true, "testdata": true, ".ci": true, ".golangci.yml": true, ".gitignore": true, ".git": false,
}

func TestTopLevelOfTheRepositoryIsExact(t *testing.T) {
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		found[e.Name()] = true
		_, known := topLevel[e.Name()]
		if !known && !bytes.Contains(ignored, []byte("/"+e.Name()+"\n")) && !bytes.Contains(ignored, []byte("/"+e.Name()+"/\n")) {
			t.Errorf("%s does not belong at the top of the repository", e.Name())
		}
	}
	for name, must := range topLevel {
		if must && !found[name] {
			t.Errorf("%s is missing", name)
		}
	}
}
