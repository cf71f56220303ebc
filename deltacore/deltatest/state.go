package deltatest

import (
	"cmp"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

// state is what the commits of a table add up to: what a checkpoint holds.
type state struct {
	protocol action.Protocol
	metadata action.Metadata
	adds     map[fileKey]action.Add
	removes  map[fileKey]action.Remove
	txns     map[string]action.Txn
	domains  map[string]action.DomainMetadata
}

// fileKey is the logical file of protocol R2. Paths are compared as written: a builder spells a path one way.
type fileKey struct{ path, vector string }

func keyOf(path string, v *action.DeletionVector) fileKey {
	if v == nil {
		return fileKey{path: path}
	}
	return fileKey{path, v.StorageType + v.PathOrInlineDv}
}

// apply takes the actions of one commit: removes before adds (protocol A6).
func (s *state) apply(actions []Action) {
	for _, a := range actions {
		switch v := a.value.(type) {
		case action.Protocol:
			s.protocol = v
		case action.Metadata:
			s.metadata = v
		case action.Remove:
			key := keyOf(v.Path, v.DeletionVector)
			delete(s.adds, key)
			put(&s.removes, key, v)
		case action.Txn:
			put(&s.txns, v.AppID, v)
		case action.DomainMetadata:
			put(&s.domains, v.Domain, v)
		}
	}
	for _, a := range actions {
		if v, ok := a.value.(action.Add); ok {
			key := keyOf(v.Path, v.DeletionVector)
			delete(s.removes, key)
			put(&s.adds, key, v)
		}
	}
}

func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

func (s *state) active() []action.Add {
	var list []action.Add
	for _, a := range s.adds {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b action.Add) int {
		return cmp.Or(
			cmp.Compare(a.ModificationTime, b.ModificationTime), cmp.Compare(a.Path, b.Path),
			cmp.Compare(keyOf("", a.DeletionVector).vector, keyOf("", b.DeletionVector).vector),
		)
	})
	return list
}

// actions lists everything a checkpoint of this state holds, in a fixed order.
func (s *state) actions() []Action {
	list := []Action{Protocol(s.protocol), Metadata(s.metadata)}
	for _, id := range sortedKeys(s.txns) {
		list = append(list, Txn(s.txns[id]))
	}
	for _, domain := range sortedKeys(s.domains) {
		list = append(list, DomainMetadata(s.domains[domain]))
	}
	list = append(list, each(Add, s.active())...)
	tombstones := make([]action.Remove, 0, len(s.removes))
	for _, r := range s.removes {
		tombstones = append(tombstones, r)
	}
	slices.SortFunc(tombstones, func(a, b action.Remove) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path),
			cmp.Compare(keyOf("", a.DeletionVector).vector, keyOf("", b.DeletionVector).vector))
	})
	for _, r := range tombstones {
		list = append(list, RemoveOf(r))
	}
	return list
}
