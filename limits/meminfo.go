package limits

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

const meminfoFile = "/proc/meminfo"

// meminfo finds the memory of the host.
func (p *probe) meminfo() {
	text, err := p.read(meminfoFile)
	if err != nil {
		p.absent(meminfoFile, "%v", err)
		return
	}
	total, available, err := parseMeminfo(text)
	if err != nil {
		p.absent(meminfoFile, "%v", err)
		return
	}
	p.memory(MemoryTotal, "MemTotal", total)
	p.memory(MemoryAvailable, "MemAvailable", available)
}

func (p *probe) memory(name Name, line string, bytes *uint64) {
	if bytes == nil {
		p.absent(meminfoFile, "has no line %s", line)
		return
	}
	p.found(Signal{Name: name, Value: *bytes, Unit: UnitBytes, Source: meminfoFile})
}

// parseMeminfo finds the two numbers, in bytes; nil: there is no such line. One that is malformed spoils both.
func parseMeminfo(text string) (total, available *uint64, err error) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		var into **uint64
		switch name {
		case "MemTotal":
			into = &total
		case "MemAvailable":
			into = &available
		default:
			continue
		}
		bytes, err := parseKilobytes(value)
		if err == nil && *into != nil {
			err = errors.New("is there twice")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("line %s: %w", name, err)
		}
		*into = &bytes
	}
	return total, available, nil
}

func parseKilobytes(text string) (uint64, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 || fields[1] != "kB" {
		return 0, fmt.Errorf("%s is not a number of kB", quote(strings.TrimSpace(text)))
	}
	n, err := parseNumber(fields[0])
	if err != nil {
		return 0, err
	}
	high, bytes := bits.Mul64(n, 1024)
	if high != 0 {
		return 0, fmt.Errorf("%s kB are too many", fields[0])
	}
	return bytes, nil
}
