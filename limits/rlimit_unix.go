//go:build unix

package limits

import (
	"fmt"
	"syscall"
)

// descriptorLimit is the soft limit. The runtime raises it to the hard one at start, so that this is what is in force.
func descriptorLimit() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("asking for the descriptor limit: %w", err)
	}
	return unlimitedOr(uint64(limit.Cur)), nil //nolint:unconvert // it is signed on some systems
}

// unlimitedOr knows the two ways of systems to write that there is no limit.
func unlimitedOr(n uint64) uint64 {
	const signed = 1<<63 - 1
	if n >= signed {
		return Unlimited
	}
	return n
}
