package deltalog

import (
	"context"
	"path"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// base is a checkpoint that was looked through: what it says about the table, and where its files are listed. Every file
// that holds some of it is there and has a footer.
type base struct {
	protocol *action.Protocol
	metadata *action.Metadata
	manifest *File         // a JSON manifest that lists files itself (C3)
	files    []parquetFile // with adds: the checkpoint's own, then sidecars
}

// take fills in what is not known yet.
func (b *base) take(p *action.Protocol, m *action.Metadata) {
	if b.protocol == nil {
		b.protocol = p
	}
	if b.metadata == nil {
		b.metadata = m
	}
}

// openBase opens the checkpoint of a segment. One that cannot be opened is passed over for an older base of the same
// version when the log has one (L10); the segment returned is the one that is used.
func (l Log) openBase(ctx context.Context, s Segment) (Segment, *base, error) {
	var first error
	var broken []string
	for s.Checkpoint != nil {
		b, err := l.readBase(ctx, *s.Checkpoint)
		if err == nil || !passable(err) {
			return s, b, err
		}
		if first == nil {
			first = err
		}
		broken = append(broken, s.Checkpoint.Files[0].Name)
		names, listErr := l.list(ctx, 0)
		if listErr != nil {
			return s, nil, listErr
		}
		older, chooseErr := names.without(broken).choose(&s.Version)
		if chooseErr != nil {
			return s, nil, deltaerr.Annotate(first, deltaerr.Hint(
				"restore the file: no other checkpoint and no unbroken run of commits leads to version %d", s.Version))
		}
		l.warn("passing over the checkpoint of version " + itoa(s.Checkpoint.Version) + ": " + err.Error())
		s = older
	}
	return s, nil, nil
}

// passable says whether another checkpoint may do better: this one's bytes are at fault, not the store.
func passable(err error) bool {
	switch deltaerr.KindOf(err) {
	case deltaerr.Corrupt, deltaerr.NotFound, deltaerr.Unsupported:
		return true
	default:
		return false
	}
}

// readBase looks through all files of a checkpoint for what is not an add, and opens its sidecars.
func (l Log) readBase(ctx context.Context, c Checkpoint) (*base, error) {
	b, sidecars, err := l.readManifest(ctx, c)
	if err == nil {
		err = l.addSidecars(ctx, b, sidecars)
	}
	if err != nil {
		return nil, deltaerr.Annotate(err, deltaerr.Phase("opening the checkpoint of version %d", c.Version))
	}
	return b, nil
}

func (l Log) readManifest(ctx context.Context, c Checkpoint) (*base, []action.Sidecar, error) {
	if strings.HasSuffix(c.Files[0].Name, ".json") {
		return l.readJSONManifest(ctx, c.Files[0])
	}
	var files []parquetFile
	for _, f := range c.Files {
		files = append(files, parquetFile{path: f.path(), size: f.Size})
	}
	b, sidecars := &base{}, []action.Sidecar(nil)
	o := exec.Options[openedFile]{Workers: l.workers()}
	for r, err := range exec.Ordered(ctx, each(markKept(files, maxKept)), o, l.openWithHead) {
		if err != nil {
			return nil, nil, err
		}
		b.take(r.protocol, r.metadata)
		sidecars = append(sidecars, r.sidecars...)
		b.files = append(b.files, r.file)
	}
	return b, sidecars, nil
}

// readJSONManifest reads a V2 checkpoint whose manifest is JSON (C3).
func (l Log) readJSONManifest(ctx context.Context, f File) (*base, []action.Sidecar, error) {
	r, err := l.Store.Get(ctx, f.path())
	if err != nil {
		return nil, nil, deltaerr.Annotate(err, deltaerr.File(f.path()))
	}
	defer r.Close()
	b, sidecars := &base{}, []action.Sidecar(nil)
	err = scanActions(r, f, func(a action.Action) error {
		b.take(a.Protocol, a.Metadata)
		if a.Sidecar != nil {
			sidecars = append(sidecars, *a.Sidecar)
		}
		if a.Add != nil {
			b.manifest = &f
		}
		return nil
	})
	return b, sidecars, err
}

// addSidecars opens the sidecars: one that is missing makes the whole checkpoint unusable (C2, L10).
func (l Log) addSidecars(ctx context.Context, b *base, sidecars []action.Sidecar) error {
	var files []parquetFile
	for _, s := range sidecars {
		p, err := l.sidecarPath(s.Path)
		if err != nil {
			return err
		}
		files = append(files, parquetFile{path: p, size: s.SizeInBytes})
	}
	left := int64(maxKept)
	for _, f := range b.files {
		left -= int64(len(f.data))
	}
	o := exec.Options[parquetFile]{Workers: l.workers()}
	for f, err := range exec.Ordered(ctx, each(markKept(files, left)), o, l.openSidecar) {
		if err != nil {
			return err
		}
		b.files = append(b.files, f)
	}
	return nil
}

// sidecarPath places a sidecar (C2): normally a bare name in _sidecars; a path that holds _sidecars/ and an absolute one
// are legal too.
func (l Log) sidecarPath(text string) (string, error) {
	location := storage.ResolvePath(l.Root, text)
	switch p := location.Path; {
	case location.External != "":
		return "", deltaerr.New(deltaerr.Unsupported, "a sidecar of the checkpoint lies outside the table",
			deltaerr.File(location.External))
	case strings.HasPrefix(p, path.Base(sidecarDir)+"/"):
		return logDir + "/" + p, nil
	case strings.Contains(p, "/"):
		return p, nil
	default:
		return sidecarDir + "/" + p, nil
	}
}
