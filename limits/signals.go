package limits

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Name says what a signal is about.
type Name string

// The signals. Those of control groups come once for each directory that counts.
const (
	CPUs            Name = "cpus"         // that the process may run on
	MaxProcs        Name = "gomaxprocs"   // that the runtime uses at once
	CPUQuota        Name = "cpu_quota"    // of a control group, in CPUs, a part of one counted as one
	Descriptors     Name = "descriptors"  // the limit in force
	MemoryTotal     Name = "memory_total" // of the host; informs only
	MemoryAvailable Name = "memory_available"
	CgroupLimit     Name = "cgroup_memory_limit"
	CgroupUsage     Name = "cgroup_memory_usage"
	CgroupCredit    Name = "cgroup_memory_credit" // of the usage, file cache that can be dropped at once
	CgroupHeadroom  Name = "cgroup_memory_headroom"
)

// Unit is the unit of a signal.
type Unit string

// The units.
const (
	UnitCPUs        Unit = "cpus"
	UnitBytes       Unit = "bytes"
	UnitDescriptors Unit = "descriptors"
)

// Signal is something the host says.
type Signal struct {
	Name   Name   `json:"name"`
	Value  uint64 `json:"value"`
	Unit   Unit   `json:"unit"`
	Source string `json:"source"`        // the file, the directory of a control group, or the call
	Note   string `json:"note,omitzero"` // how the value came about, where that is not plain
}

// Absence is a signal that was looked for.
type Absence struct {
	Source string `json:"source"`
	Why    string `json:"why"`
}

// Signals are what a host says, in the order in which it was asked.
type Signals struct {
	Found  []Signal
	Absent []Absence
}

// lowest finds the lowest of the signals of some names; the first one of equals.
func (s Signals) lowest(names ...Name) (lowest Signal, found bool) {
	for _, name := range names {
		for _, signal := range s.Found {
			if signal.Name == name && (!found || signal.Value < lowest.Value) {
				lowest, found = signal, true
			}
		}
	}
	return lowest, found
}

// Host is where signals come from.
type Host struct {
	Files       fs.FS                            // rooted at "/"
	CPUs        func() int                       // that the process may run on; below 1: not known
	MaxProcs    func() int                       // GOMAXPROCS
	Descriptors func() (limit uint64, err error) // the soft limit in force; unlimited is [Unlimited]
	PageSize    uint64                           // bytes; the first version of control groups calls a limit of all pages none
}

// Unlimited is the descriptor limit where there is none.
const Unlimited = 1<<64 - 1

// ThisHost is the host that the process runs on.
func ThisHost() Host {
	return Host{
		Files: os.DirFS("/"), CPUs: runtime.NumCPU, MaxProcs: func() int { return runtime.GOMAXPROCS(0) },
		Descriptors: descriptorLimit, PageSize: uint64(max(os.Getpagesize(), 1)),
	}
}

// Signals asks the host. It reads a few dozen small files.
func (h Host) Signals() Signals {
	p := &probe{host: h}
	p.count(CPUs, h.CPUs(), "runtime.NumCPU")
	p.count(MaxProcs, h.MaxProcs(), "GOMAXPROCS")
	groups := p.groups()
	p.cpuQuota(groups)
	p.descriptors()
	p.meminfo()
	p.cgroupMemory(groups)
	return p.signals
}

// probe collects signals.
type probe struct {
	host    Host
	signals Signals
}

func (p *probe) found(s Signal) { p.signals.Found = append(p.signals.Found, s) }

func (p *probe) absent(source, format string, args ...any) {
	p.signals.Absent = append(p.signals.Absent, Absence{source, fmt.Sprintf(format, args...)})
}

func (p *probe) count(name Name, n int, source string) {
	if n < 1 {
		p.absent(source, "is %d", n)
		return
	}
	p.found(Signal{Name: name, Value: uint64(n), Unit: UnitCPUs, Source: source})
}

func (p *probe) descriptors() {
	const source = "getrlimit(RLIMIT_NOFILE)"
	switch limit, err := p.host.Descriptors(); {
	case err != nil:
		p.absent(source, "%v", err)
	case limit == Unlimited:
		p.absent(source, "there is no limit")
	default:
		p.found(Signal{Name: Descriptors, Value: limit, Unit: UnitDescriptors, Source: source})
	}
}

// fileLimit is far above what any of the files holds; mountinfo of a host with thousands of containers is the largest.
const fileLimit = 4 << 20

// read returns the text of the file at an absolute path. A file that vanished is like one that was never there.
func (p *probe) read(path string) (string, error) {
	f, err := p.host.Files.Open(strings.TrimPrefix(path, "/"))
	if err != nil {
		return "", unreadable(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	switch {
	case err != nil:
		return "", unreadable(err)
	case len(text) > fileLimit:
		return "", fmt.Errorf("is larger than %s", sizeText(fileLimit))
	}
	return string(text), nil
}

func unreadable(err error) error {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("is not there")
	case errors.As(err, &at):
		err = at.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// word reads a file of one word.
func (p *probe) word(path string) (string, bool) {
	text, err := p.read(path)
	if err != nil {
		p.absent(path, "%v", err)
		return "", false
	}
	return strings.TrimSpace(text), true
}

// number reads a file of one number.
func (p *probe) number(path string) (uint64, bool) {
	text, ok := p.word(path)
	if !ok {
		return 0, false
	}
	n, err := parseNumber(text)
	if err != nil {
		p.absent(path, "%v", err)
	}
	return n, err == nil
}

// parseNumber reads decimal digits.
func parseNumber(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is too large", quote(text))
	case err != nil:
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	return n, nil
}

// quote keeps what a message says of a file short.
func quote(text string) string {
	const most = 40
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.Quote(text)
}
