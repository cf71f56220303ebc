package deltatest

import (
	"maps"
	"slices"
)

// must panics on err: the input of this package is the test itself.
func must(err error) {
	if err != nil {
		panic("deltatest: " + err.Error())
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
