// Package limits answers how many partitions of a scan this host can decode at once, and why.
//
// [Host.Signals] finds what the host allows: the CPUs that the process may use, the descriptor limit in force, and the memory
// that is left to the process, on Linux with the limits of its control groups. [Signals.Decide] makes the partition target of
// them. Nothing but local files of the system is asked, never the network. A signal that is absent, malformed or vanishes while
// it is read leaves its cap out; it never fails a scan, and [Signals.Absent] says why. Systems other than Linux have no memory
// hint. What a partition is, and keeping to the memory that it may take, is left to others: the target reserves nothing.
package limits

import (
	"fmt"
	"strconv"
	"strings"
)

// What one partition is reckoned to need, unless Overrides say otherwise.
const (
	DefaultDescriptorsPerPartition = 16
	DefaultMemoryPerPartition      = 256 << 20
)

// Overrides are what the user knows better. Zero leaves a value to this package; negative ones are refused by [Overrides.Validate].
type Overrides struct {
	Target                  int64 // bypasses every cap and probe
	DescriptorsPerPartition int64
	MemoryPerPartition      int64 // bytes
}

// Validate refuses negative numbers.
func (o Overrides) Validate() error {
	for _, value := range []struct {
		name string
		n    int64
	}{
		{"the partition target", o.Target},
		{"the descriptors per partition", o.DescriptorsPerPartition},
		{"the memory per partition", o.MemoryPerPartition},
	} {
		if value.n < 0 {
			return fmt.Errorf("%s must be at least 1, got %d", value.name, value.n)
		}
	}
	return nil
}

// Cap is an upper bound of the target. Every cap is at least 1.
type Cap struct {
	Name   string `json:"name"` // cpus, descriptors, memory
	Value  uint64 `json:"value"`
	Reason string `json:"reason"`
}

// Decision is the partition target with everything that led to it.
type Decision struct {
	Signals []Signal  `json:"signals"`
	Absent  []Absence `json:"absent"`
	Caps    []Cap     `json:"caps"`
	Target  int       `json:"target"` // at least 1
	Reason  string    `json:"reason"`
}

// Decide probes the host, unless the target is given, and decides.
func Decide(h Host, o Overrides) (Decision, error) {
	if err := o.Validate(); err != nil {
		return Decision{}, err
	}
	if o.Target > 0 {
		return given(o.Target), nil
	}
	return h.Signals().Decide(o), nil
}

// given is the decision for an explicit target, which asks nothing.
func given(target int64) Decision {
	return Decision{
		Signals: []Signal{}, Absent: []Absence{}, Caps: []Cap{}, Target: clamp(uint64(target)),
		Reason: "the target is set: no cap counts and nothing is looked up",
	}
}

// Decide makes the target of signals: the lowest of the caps that are known. The overrides must be valid.
func (s Signals) Decide(o Overrides) Decision {
	if o.Target > 0 {
		return given(o.Target)
	}
	caps := []Cap{s.cpus()}
	if c, ok := s.descriptors(orDefault(o.DescriptorsPerPartition, DefaultDescriptorsPerPartition)); ok {
		caps = append(caps, c)
	}
	if c, ok := s.memory(orDefault(o.MemoryPerPartition, DefaultMemoryPerPartition)); ok {
		caps = append(caps, c)
	}
	lowest := caps[0]
	for _, c := range caps[1:] {
		if c.Value < lowest.Value {
			lowest = c
		}
	}
	return Decision{
		Signals: append([]Signal{}, s.Found...), Absent: append([]Absence{}, s.Absent...), Caps: caps, Target: clamp(lowest.Value),
		Reason: lowest.Name + ": " + lowest.Reason,
	}
}

// cpus is the base: what is available, 1 where nothing is known.
func (s Signals) cpus() Cap {
	lowest, ok := s.lowest(CPUs, MaxProcs, CPUQuota)
	if !ok {
		return Cap{Name: "cpus", Value: 1, Reason: "the number of CPUs is not known"}
	}
	return Cap{Name: "cpus", Value: max(lowest.Value, 1), Reason: fmt.Sprintf("%d by %s", lowest.Value, lowest.Source)}
}

func (s Signals) descriptors(each uint64) (Cap, bool) {
	limit, ok := s.lowest(Descriptors)
	reason := fmt.Sprintf("%d descriptors by %s, %d a partition", limit.Value, limit.Source, each)
	return Cap{Name: "descriptors", Value: max(limit.Value/each, 1), Reason: reason}, ok
}

func (s Signals) memory(each uint64) (Cap, bool) {
	left, ok := s.lowest(MemoryAvailable, CgroupHeadroom)
	reason := fmt.Sprintf("%s are left by %s, %s a partition", sizeText(left.Value), left.Source, sizeText(each))
	return Cap{Name: "memory", Value: max(left.Value/each, 1), Reason: reason}, ok
}

func orDefault(n, otherwise int64) uint64 {
	if n > 0 {
		return uint64(n)
	}
	return uint64(otherwise)
}

func clamp(n uint64) int { return int(min(n, 1<<31-1)) }

// String is the decision in a line.
func (d Decision) String() string {
	if len(d.Caps) == 0 {
		return fmt.Sprintf("%d partitions: %s", d.Target, d.Reason)
	}
	caps := make([]string, len(d.Caps))
	for i, c := range d.Caps {
		caps[i] = fmt.Sprintf("%s %d (%s)", c.Name, c.Value, c.Reason)
	}
	return fmt.Sprintf("%d partitions, the lowest of %s", d.Target, strings.Join(caps, ", "))
}

// sizeText writes a size in the largest unit of 1024 that it fills, rounded down to a tenth.
func sizeText(n uint64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	u, unit := 0, uint64(1)
	for u < len(units)-1 && n/unit >= 1024 {
		u, unit = u+1, unit*1024
	}
	text := strconv.FormatUint(n/unit, 10)
	if tenths := n % unit * 10 / max(unit, 1); unit < 1<<60 && tenths > 0 {
		text += "." + strconv.FormatUint(tenths, 10)
	}
	return text + " " + units[u]
}
