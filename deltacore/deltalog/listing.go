package deltalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// listing is what the names in the log say, whatever order they came in (L3).
type listing struct {
	commits     []File       // ascending, one a version
	checkpoints []Checkpoint // complete ones, the most wanted first
	compactions []Compaction // the longest first
	checksums   map[int64]File
	unusable    []unusable // ascending
}

// list reads the names of the log from a version on.
func (l Log) list(ctx context.Context, from int64) (listing, error) {
	startAfter := ""
	if from > 0 {
		startAfter = fmt.Sprintf("%020d", from) // less than every name of the version: those go on with a dot
	}
	byName := map[string]File{}
	for e, err := range l.Store.List(ctx, logDir, startAfter) {
		if err != nil {
			return listing{}, deltaerr.Annotate(err, deltaerr.Phase("listing %s", logDir))
		}
		name := strings.TrimPrefix(e.Path, logDir+"/")
		if n, ok := parseName(name); ok && n.version >= from {
			byName[name] = File{Name: name, Version: n.version, Size: e.Size, ModTime: e.ModTime}
		}
	}
	return newListing(byName), nil
}

func newListing(files map[string]File) listing {
	s := listing{checksums: map[int64]File{}}
	sets := map[[2]int64]partSet{}
	for name, f := range files {
		n, ok := parseName(name)
		switch {
		case !ok:
		case n.kind == commitName:
			s.commits = append(s.commits, f)
		case n.kind == checksumName:
			s.checksums[f.Version] = f
		case n.kind == compactionName:
			s.compactions = appendCompaction(s.compactions, n, f)
		case f.Size == 0: // L9
			s.unusable = append(s.unusable, unusable{f.Version, f.path() + " has 0 bytes"})
		case n.kind == partName:
			addPart(sets, n, f)
		case n.kind == classicName:
			s.checkpoints = append(s.checkpoints, Checkpoint{f.Version, Classic, []File{f}})
		case n.kind == uuidName:
			s.checkpoints = append(s.checkpoints, Checkpoint{f.Version, UUID, []File{f}})
		}
	}
	s.addMultiPart(sets)
	slices.SortFunc(s.commits, func(a, b File) int { return cmp.Compare(a.Version, b.Version) })
	slices.SortFunc(s.unusable, func(a, b unusable) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.reason, b.reason))
	})
	newestFirst(s.checkpoints)
	longestFirst(s.compactions)
	return s
}

func addPart(sets map[[2]int64]partSet, n logName, f File) {
	id := [2]int64{n.version, n.parts}
	if _, ok := sets[id]; !ok {
		sets[id] = partSet{version: n.version, parts: n.parts, files: map[int64]File{}}
	}
	sets[id].files[n.part] = f
}

func (s *listing) addMultiPart(sets map[[2]int64]partSet) {
	for _, set := range sets {
		if c, bad := set.checkpoint(); bad != nil {
			s.unusable = append(s.unusable, *bad)
		} else {
			s.checkpoints = append(s.checkpoints, c)
		}
	}
}

// latest is the highest version of any commit or complete checkpoint (L4).
func (s listing) latest() (version int64, ok bool) {
	if n := len(s.commits); n > 0 {
		version, ok = s.commits[n-1].Version, true
	}
	if len(s.checkpoints) > 0 {
		version, ok = max(version, s.checkpoints[0].Version), true
	}
	return version, ok
}

// base is the most wanted complete checkpoint at or below a version (L7).
func (s listing) base(target int64) *Checkpoint {
	for _, c := range s.checkpoints {
		if c.Version <= target {
			return &c
		}
	}
	return nil
}

// commit returns the commit of a version, or nil.
func (s listing) commit(version int64) *File {
	if found := s.commitsFrom(version); len(found) > 0 && found[0].Version == version {
		return &found[0]
	}
	return nil
}

// checksum returns the .crc file of a version, or nil.
func (s listing) checksum(version int64) *File {
	if f, ok := s.checksums[version]; ok {
		return &f
	}
	return nil
}

// commitsFrom returns the commits of version from and above.
func (s listing) commitsFrom(from int64) []File {
	i := sort.Search(len(s.commits), func(i int) bool { return s.commits[i].Version >= from })
	return s.commits[i:]
}

// without leaves out checkpoints by the name of their first file.
func (s listing) without(broken []string) listing {
	s.checkpoints = slices.DeleteFunc(slices.Clone(s.checkpoints), func(c Checkpoint) bool {
		return slices.Contains(broken, c.Files[0].Name)
	})
	return s
}

// span is a run of versions that can be rebuilt.
type span struct{ first, last int64 }

// readable lists the versions that can be rebuilt, as far as the names tell (T1).
func (s listing) readable() []span {
	var starts []int64
	for _, c := range slices.Backward(s.checkpoints) {
		starts = append(starts, c.Version)
	}
	if len(s.commits) > 0 && s.commits[0].Version == 0 {
		starts = append([]int64{0}, starts...)
	}
	var spans []span
	for _, first := range starts {
		n := len(spans)
		last := s.runsTo(first)
		switch {
		case n > 0 && first <= spans[n-1].last+1:
			spans[n-1].last = max(spans[n-1].last, last)
		default:
			spans = append(spans, span{first, last})
		}
	}
	return spans
}

// runsTo returns the last version of the contiguous commits that follow first.
func (s listing) runsTo(first int64) int64 {
	last := first
	for _, f := range s.commitsFrom(first + 1) {
		if f.Version != last+1 {
			break
		}
		last = f.Version
	}
	return last
}
