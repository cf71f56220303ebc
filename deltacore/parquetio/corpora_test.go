package parquetio_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// TestCorporaFilesRead reads every Parquet file below the directories of DELTA_CORPORA (relative ones as seen from the
// module's root), by whatever writer. All can be read but those that are called broken.
func TestCorporaFilesRead(t *testing.T) {
	dirs := filepath.SplitList(os.Getenv("DELTA_CORPORA"))
	if len(dirs) == 0 {
		t.Skip("DELTA_CORPORA names no directories")
	}
	files, failed := 0, 0
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join("..", "..", dir)
		}
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".parquet") {
				return err
			}
			files++
			rows, err := readWhole(t, name)
			switch {
			case err == nil:
			case strings.Contains(name, "broken") && deltaerr.KindOf(err) == deltaerr.Corrupt:
				failed++
			default:
				t.Errorf("%s: %d rows: %v", name, rows, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files, %d of them broken", files, failed)
}

func readWhole(t *testing.T, name string) (rows int64, err error) {
	root, err := storage.ParseURI(filepath.Dir(name))
	if err != nil {
		return 0, err
	}
	store, err := storage.NewLocal(root)
	if err != nil {
		return 0, err
	}
	f, err := parquetio.Open(context.Background(), store, filepath.Base(name), 0, parquetio.Options{Allocator: checked(t)})
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for g := range f.RowGroups() {
		for batch, err := range f.ReadRowGroup(context.Background(), g, allLeaves(f)) {
			if err != nil {
				return rows, err
			}
			rows += batch.NumRows()
			batch.Release()
		}
	}
	return rows, nil
}
