package limits

import (
	"fmt"
	"strings"
)

// cpuQuota finds how much CPU time the process's control group, and those above it, allow. The runtime keeps GOMAXPROCS to it by
// itself unless that is set, but never below 2.
func (p *probe) cpuQuota(g groups) {
	version, directories := p.directories(g, "cpu")
	for _, d := range directories {
		switch version {
		case v1:
			p.quotaV1(d.path)
		case v2:
			p.quotaV2(d.path)
		}
	}
}

func (p *probe) quotaV2(directory string) {
	file := directory + "/cpu.max"
	text, ok := p.word(file)
	if !ok {
		return
	}
	quota, period, both := strings.Cut(text, " ")
	if !both {
		p.absent(file, "%s is not a quota and a period", quote(text))
		return
	}
	p.quota(file, quota, period)
}

func (p *probe) quotaV1(directory string) {
	quotaFile, periodFile := directory+"/cpu.cfs_quota_us", directory+"/cpu.cfs_period_us"
	quota, ok := p.word(quotaFile)
	if !ok {
		return
	}
	if quota == "-1" {
		quota = "max"
	}
	period, ok := p.word(periodFile)
	if !ok {
		return
	}
	p.quota(quotaFile, quota, period)
}

// quota notes how many CPUs a quota of microseconds in each period is worth. A part of a CPU counts as one: one more partition
// can use it.
func (p *probe) quota(file, quota, period string) {
	if quota == "max" {
		p.absent(file, "there is no limit")
		return
	}
	us, err := parsePositive(quota)
	if err != nil {
		p.absent(file, "the quota %v", err)
		return
	}
	each, err := parsePositive(period)
	if err != nil {
		p.absent(file, "the period %v", err)
		return
	}
	cpus := us / each
	if us%each != 0 {
		cpus++
	}
	p.found(Signal{Name: CPUQuota, Value: cpus, Unit: UnitCPUs, Source: file, Note: fmt.Sprintf("%d of each %d µs", us, each)})
}

func parsePositive(text string) (uint64, error) {
	n, err := parseNumber(text)
	if err == nil && n == 0 {
		err = fmt.Errorf("is 0")
	}
	return n, err
}
