package deltalog

import (
	"crypto/sha256"
	"hash/maphash"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// key identifies a path, or a logical file (R2), in 16 bytes instead of the hundred that its text takes.
//
// It is the first half of a SHA-256. Two of n keys are equal by chance with a probability below n²/2¹²⁹: for a billion
// references less than 2 in 10²¹, far below the rate of memory errors. A cryptographic hash, because the paths come
// from the log: with a weaker one a writer could choose two that collide, and one file would hide another.
type key [sha256.Size / 2]byte

type keySet map[key]struct{}

func (s keySet) has(k key) bool {
	_, ok := s[k]
	return ok
}

// insert says whether k was not there.
func (s keySet) insert(k key) bool {
	if s.has(k) {
		return false
	}
	s[k] = struct{}{}
	return true
}

// fileSet is a set of logical files. Most of what it is asked for is not in it, so it looks for a quick hash of the path
// first: a key costs more than all else about a file of a checkpoint.
type fileSet struct {
	paths   map[uint64]struct{}
	keys    keySet
	vectors map[key]vectorShape // of the files that have a vector
}

func newFileSet() fileSet {
	return fileSet{paths: map[uint64]struct{}{}, keys: keySet{}, vectors: map[key]vectorShape{}}
}

func (s fileSet) insert(f fileRef) {
	s.paths[f.path] = struct{}{}
	s.keys.insert(f.key)
	if f.vector != (vectorShape{}) {
		s.vectors[f.key] = f.vector
	}
}

// agrees says whether a vector of a file in the set is described as it was when the file came in. One vector has one size
// and one cardinality: where two actions differ, one of them is damaged (D5).
func (s fileSet) agrees(f fileAction) bool {
	known, ok := s.vectors[f.fileKey]
	return !ok || known == shapeOf(f.vector)
}

// vectorShape is what descriptors say about a vector beside its identity. Its zero value is that of no vector.
type vectorShape struct{ size, cardinality int64 }

func shapeOf(v *action.DeletionVector) vectorShape {
	if v == nil {
		return vectorShape{}
	}
	return vectorShape{v.SizeInBytes, v.Cardinality}
}

// has says whether the file of a location and a vector is in the set.
func (s fileSet) has(l storage.Location, v *action.DeletionVector) bool {
	if len(s.paths) == 0 {
		return false
	}
	_, known := s.paths[quickHash(l)]
	return known && s.keys.has(fileKey(l, v.UniqueID()))
}

// fileRef is what a [fileSet] knows of a file.
type fileRef struct {
	path   uint64 // quickHash
	key    key
	vector vectorShape
}

var quickSeed = maphash.MakeSeed()

func quickHash(l storage.Location) uint64 { return maphash.String(quickSeed, l.Key()) }

// pathKey is the key of a file without a vector, and of a path whatever its vector.
func pathKey(l storage.Location) key {
	return keyOf(l.Key())
}

// fileKey is the key of the logical file: canonical path and identity of the vector, "" when there is none (R2, R4).
func fileKey(l storage.Location, vector string) key {
	if vector == "" {
		return pathKey(l)
	}
	return keyOf(l.Key() + "\x00" + vector)
}

func keyOf(text string) key {
	sum := sha256.Sum256([]byte(text))
	return key(sum[:len(key{})])
}
