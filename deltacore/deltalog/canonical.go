package deltalog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// sort brings the files into canonical order: by modification time, then the bytes of the path as in the log.
//
// Many files have one time, those of a large commit, and comparing their paths is what sorting costs. So directories are
// compared once, and names only among the files of one time and directory.
func (a *ActiveFiles) sort(n int) {
	ranks, ranked := a.dirRanks()
	s := sorter{files: a, ranked: ranked, entries: make([]sortEntry, n)}
	for i := range s.entries {
		r := a.record(uint32(i))
		s.entries[i] = sortEntry{modified: r.modified, file: uint32(i)}
		if ranked {
			s.entries[i].dir = ranks[r.dir]
		}
	}
	slices.SortFunc(s.entries, sortEntry.compare)
	for from := 0; from < len(s.entries); {
		to := from + 1
		for to < len(s.entries) && s.entries[to].compare(s.entries[from]) == 0 {
			to++
		}
		s.sortNames(s.entries[from:to])
		from = to
	}
	a.order = make([]uint32, n)
	for i, e := range s.entries {
		a.order[i] = e.file
	}
}

// dirRanks orders the directories as they order the paths in them. They do not when one is the beginning of another, or
// when directories are not kept.
func (a *ActiveFiles) dirRanks() (ranks []uint32, ok bool) {
	used := make([]bool, len(a.dirs))
	for _, chunk := range a.records {
		for i := range chunk {
			if chunk[i].dir == derivedDir {
				return nil, false
			}
			used[chunk[i].dir] = true
		}
	}
	var sorted []uint32
	for dir, is := range used {
		if is {
			sorted = append(sorted, uint32(dir))
		}
	}
	slices.SortFunc(sorted, func(x, y uint32) int { return strings.Compare(a.dirs[x], a.dirs[y]) })
	ranks = make([]uint32, len(a.dirs))
	for i, dir := range sorted {
		if i > 0 && strings.HasPrefix(a.dirs[dir], a.dirs[sorted[i-1]]) {
			return nil, false
		}
		ranks[dir] = uint32(i)
	}
	return ranks, true
}

type sorter struct {
	files   *ActiveFiles
	ranked  bool
	entries []sortEntry
	x, y    []byte
}

type sortEntry struct {
	modified  int64
	dir, file uint32
	name      uint64 // a few bytes of it, once files are sorted by name
}

// sortNames sorts files of one time and directory. The bytes after what all their names begin with decide nearly always:
// they are taken out of the arena once, not at each comparison.
func (s *sorter) sortNames(run []sortEntry) {
	if len(run) < 2 {
		return
	}
	if s.ranked {
		common := s.commonPrefix(run)
		for i := range run {
			var next [8]byte // shorter names come first: no path holds a zero byte
			copy(next[:], s.name(run[i])[common:])
			run[i].name = binary.BigEndian.Uint64(next[:])
		}
	}
	slices.SortFunc(run, func(x, y sortEntry) int {
		if x.name != y.name {
			return cmp.Compare(x.name, y.name)
		}
		return s.compareNames(x, y)
	})
}

func (s *sorter) commonPrefix(run []sortEntry) int {
	first := s.name(run[0])
	n := len(first)
	for _, e := range run[1:] {
		name := s.name(e)
		for i := 0; i < n; i++ {
			if i == len(name) || name[i] != first[i] {
				n = i
			}
		}
	}
	return n
}

func (s *sorter) name(e sortEntry) []byte {
	name, _ := cutSized(s.files.details.at(s.files.record(e.file).place))
	return name
}

func (e sortEntry) compare(other sortEntry) int {
	if e.modified != other.modified {
		return cmp.Compare(e.modified, other.modified)
	}
	return cmp.Compare(e.dir, other.dir)
}

// compareNames compares the paths of files, or what of them the directories' ranks leave.
func (s *sorter) compareNames(x, y sortEntry) int {
	a := s.files
	rx, ry := a.record(x.file), a.record(y.file)
	if s.ranked {
		return bytes.Compare(s.name(x), s.name(y))
	}
	s.x, s.y = a.appendPath(s.x[:0], rx), a.appendPath(s.y[:0], ry)
	return bytes.Compare(s.x, s.y)
}

// fileHashes finds a file that is live twice, whatever else its two adds say. Two vectors of one file cannot be live at
// once (A5): the writer forgot one of the removes, and rows would be read twice. It holds 8 bytes a file.
type fileHashes struct {
	seed   maphash.Seed
	chunks [][]uint64 // of recordChunk
}

func newFileHashes() fileHashes { return fileHashes{seed: maphash.MakeSeed()} }

func (s *fileHashes) add(f ActiveFile) {
	n := len(s.chunks)
	if n == 0 || len(s.chunks[n-1]) == recordChunk {
		s.chunks = append(s.chunks, nil)
		n++
	}
	s.chunks[n-1] = append(s.chunks[n-1], maphash.String(s.seed, f.Location.Key()))
}

func (s *fileHashes) checkUnique(a *ActiveFiles) error {
	sorted := slices.Concat(s.chunks...)
	slices.Sort(sorted)
	repeated := map[uint64][]ActiveFile{}
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			repeated[sorted[i]] = nil
		}
	}
	if len(repeated) == 0 {
		return nil
	}
	return s.compare(a, repeated)
}

// compare looks at the files whose hashes are there more than once.
func (s *fileHashes) compare(a *ActiveFiles, repeated map[uint64][]ActiveFile) error {
	for i, chunk := range s.chunks {
		for j, hash := range chunk {
			others, is := repeated[hash]
			if !is {
				continue
			}
			f := a.file(uint32(i*recordChunk + j))
			for _, o := range others {
				if f.Location == o.Location {
					return repeatedFile(f, o)
				}
			}
			repeated[hash] = append(others, f)
		}
	}
	return nil
}

func repeatedFile(f, other ActiveFile) error {
	msg := "the log lists the file twice"
	if f.Add.DeletionVector.UniqueID() != other.Add.DeletionVector.UniqueID() {
		msg = "the file is live under two deletion vectors at once: its rows would be read twice"
	}
	return deltaerr.New(deltaerr.Corrupt, msg, deltaerr.File(f.Location.Key()))
}
