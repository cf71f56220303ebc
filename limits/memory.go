package limits

import (
	"fmt"
	"math"
	"strings"
)

// cgroupMemory finds what the process's control group, and those above it, still leave. Each has a limit and a usage of its
// own, so that groups beside that of the process count in those above.
func (p *probe) cgroupMemory(g groups) {
	version, directories := p.directories(g, "memory")
	for _, d := range directories {
		switch version {
		case v1:
			p.memoryV1(d)
		case v2:
			p.headroom(headroomV2(d.path))
		}
	}
}

// place says which files and counters of a directory tell about its memory.
type place struct {
	directory    string
	limit, usage string
	counters     counters
	noCredit     string // why no counters are looked at
}

func headroomV2(directory string) place {
	return place{
		directory: directory, limit: "memory.max", usage: "memory.current",
		counters: counters{"inactive_file", "file_dirty", "file_writeback"},
	}
}

// memoryV1 knows two kinds of directories: those that count what is below them and those that do not, of which only the
// process's own one applies.
func (p *probe) memoryV1(d directory) {
	file := d.path + "/memory.use_hierarchy"
	hierarchical, ok := p.word(file)
	if !d.leaf && hierarchical != "1" {
		if ok {
			p.absent(file, "is %s: the directory does not count the groups below it", quote(hierarchical))
		}
		return
	}
	at := place{directory: d.path, limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes"}
	switch {
	case hierarchical == "1":
		at.counters = counters{"total_inactive_file", "total_dirty", "total_writeback"}
	case hierarchical == "0":
		at.counters = counters{"inactive_file", "dirty", "writeback"}
	case ok:
		at.noCredit = file + " is " + quote(hierarchical)
	default:
		at.noCredit = file + " is not known"
	}
	p.headroom(at)
}

// headroom reads a directory. A limit or a usage that is not known leaves the directory out, and it alone.
func (p *probe) headroom(at place) {
	limit, ok := p.limit(at)
	if !ok {
		return
	}
	usage, ok := p.number(at.directory + "/" + at.usage)
	if !ok {
		return
	}
	credit, note := p.credit(at, usage)
	bytes := func(name Name, n uint64, source, note string) {
		p.found(Signal{Name: name, Value: n, Unit: UnitBytes, Source: source, Note: note})
	}
	bytes(CgroupLimit, limit, at.directory+"/"+at.limit, "")
	bytes(CgroupUsage, usage, at.directory+"/"+at.usage, "")
	bytes(CgroupCredit, credit, at.directory+"/"+statFile, note)
	bytes(CgroupHeadroom, minus(limit, minus(usage, credit)), at.directory, "limit - (usage - credit)")
}

// limit reads a limit that is one.
func (p *probe) limit(at place) (uint64, bool) {
	file := at.directory + "/" + at.limit
	text, ok := p.word(file)
	if !ok {
		return 0, false
	}
	if text == "max" {
		p.absent(file, "there is no limit")
		return 0, false
	}
	limit, err := parseNumber(text)
	switch {
	case err != nil:
		p.absent(file, "%v", err)
	case at.limit != "memory.max" && limit >= p.unlimited():
		p.absent(file, "there is no limit: %d stands for none", limit)
		return 0, false
	}
	return limit, err == nil
}

// unlimited is the lowest number that the first version writes for no limit: all pages that its counter can hold. On machines
// of 32 bits that counts pages, on those of 64 bits it is bytes.
func (p *probe) unlimited() uint64 {
	page := max(p.host.PageSize, 1)
	if math.MaxInt == math.MaxInt32 {
		return math.MaxInt32 * page
	}
	return math.MaxInt64 / page * page
}

const statFile = "memory.stat"

// counters are the names of the three counters of memory.stat that tell how much of the usage is file cache that can be dropped
// at once. Cache that is used, memory files and what was written but is not on disk yet cannot.
type counters struct{ inactive, dirty, writeback string }

// credit is what a usage holds of such cache: 0, with the reason, where any of it is not certain.
func (p *probe) credit(at place, usage uint64) (credit uint64, note string) {
	if at.noCredit != "" {
		return 0, "none: " + at.noCredit
	}
	text, err := p.read(at.directory + "/" + statFile)
	if err == nil {
		credit, err = at.counters.credit(text, usage)
	}
	if err != nil {
		return 0, "none: " + err.Error()
	}
	return credit, fmt.Sprintf("%s - %s - %s", at.counters.inactive, at.counters.dirty, at.counters.writeback)
}

// credit finds the counters, each of which must be there once and at most the usage.
func (c counters) credit(stat string, usage uint64) (uint64, error) {
	var values [3]uint64
	for i, name := range []string{c.inactive, c.dirty, c.writeback} {
		n, err := counter(stat, name)
		if err == nil && n > usage {
			err = fmt.Errorf("%s is %d, above the usage", name, n)
		}
		if err != nil {
			return 0, err
		}
		values[i] = n
	}
	return minus(minus(values[0], values[1]), values[2]), nil
}

func counter(stat, name string) (n uint64, err error) {
	seen := false
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] != name:
			continue
		case seen:
			return 0, fmt.Errorf("%s is there twice", name)
		case len(fields) != 2:
			return 0, fmt.Errorf("%s has no single value", name)
		}
		if n, err = parseNumber(fields[1]); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		seen = true
	}
	if !seen {
		return 0, fmt.Errorf("%s is missing", name)
	}
	return n, nil
}

// minus subtracts, down to zero.
func minus(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}
