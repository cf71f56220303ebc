package rowfilter

// integers is a set: a bitmap where the values lie close together, else a map.
type integers struct {
	low    int64
	span   uint64 // of the highest from the lowest
	dense  []uint64
	sparse map[int64]struct{}
}

// denseSpan is up to which distance of the ends a set is a bitmap, of 8 KiB at most.
const denseSpan = 1 << 16

// newIntegers makes a set of values that ascend.
func newIntegers(values []int64) integers {
	s := integers{low: values[0], span: uint64(values[len(values)-1]) - uint64(values[0])}
	if s.span >= denseSpan {
		s.sparse = setOf(values)
		return s
	}
	s.dense = make([]uint64, s.span/64+1)
	for _, v := range values {
		at := uint64(v) - uint64(s.low)
		s.dense[at/64] |= 1 << (at % 64)
	}
	return s
}

func (s integers) has(v int64) bool {
	at := uint64(v) - uint64(s.low)
	if at > s.span {
		return false
	}
	if s.dense != nil {
		return s.dense[at/64]>>(at%64)&1 != 0
	}
	_, found := s.sparse[v]
	return found
}

func setOf[T comparable](values []T) map[T]struct{} {
	set := make(map[T]struct{}, len(values))
	for _, v := range values {
		set[v] = struct{}{}
	}
	return set
}
