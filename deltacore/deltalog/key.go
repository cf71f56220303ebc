package deltalog

import (
	"crypto/sha256"

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
