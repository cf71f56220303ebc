package limits_test

import (
	"testing"
	"testing/fstest"

	"github.com/benthos-delta/benthos-delta/limits"
)

const (
	fuzzMeminfo    = "MemTotal:       24684092 kB\nMemFree:        19640264 kB\nMemAvailable:   24119704 kB\n"
	fuzzMembership = "0::/app/c\n"
	fuzzMounts     = "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
	fuzzStat       = "inactive_file 4096\nfile_dirty 0\nfile_writeback 0\n"
)

// fuzzed is a host with one file as the fuzzer has it.
func fuzzed(t *testing.T, file, text string) {
	files := fstest.MapFS{}
	for name, data := range map[string]string{
		"proc/meminfo": fuzzMeminfo, "proc/self/cgroup": fuzzMembership, "proc/self/mountinfo": fuzzMounts,
		"sys/fs/cgroup/app/c/memory.max": "1073741824\n", "sys/fs/cgroup/app/c/memory.current": "536870912\n",
		"sys/fs/cgroup/app/c/memory.stat": fuzzStat, "sys/fs/cgroup/app/c/cpu.max": "200000 100000\n", file: text,
	} {
		files[name] = &fstest.MapFile{Data: []byte(data)}
	}
	h := limits.Host{
		Files: files, CPUs: func() int { return 32 }, MaxProcs: func() int { return 32 },
		Descriptors: func() (uint64, error) { return limits.Unlimited, nil }, PageSize: 4096,
	}
	d := h.Signals().Decide(limits.Overrides{})
	if d.Target < 1 || d.Target > 32 {
		t.Errorf("want a target from 1 to 32, got\n%s", explain(d))
	}
	if again := explain(h.Signals().Decide(limits.Overrides{})); again != explain(d) {
		t.Errorf("want the same decision again, got\n%s\nand\n%s", explain(d), again)
	}
}

func FuzzMeminfo(f *testing.F) {
	for _, seed := range []string{fuzzMeminfo, "MemTotal: 18014398509481984 kB\n", "MemAvailable: 1 MB\n", "MemTotal:\n", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzed(t, "proc/meminfo", text) })
}

func FuzzMountinfo(f *testing.F) {
	for _, seed := range []string{
		fuzzMounts, `36 35 0:31 /a\040b /sys/fs/c\134d rw shared:9 - cgroup cgroup rw,memory`,
		"41 31 0:38 /app /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n41 31 0:38 / /x rw - cgroup2 cgroup2 rw\n", `1 2 3 / /x\04 rw - cgroup2 c rw`,
		"1 2 3 /.. / rw - cgroup2 c rw", "- - - -",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzed(t, "proc/self/mountinfo", text) })
}

func FuzzMembership(f *testing.F) {
	for _, seed := range []string{
		fuzzMembership, "4:memory:/a\n1:cpu,cpuacct:/b\n0::/c\n", "0::/../x\n", "0::\n", "4:memory\n", "0::/app (deleted)\n", "9:memory:app\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzed(t, "proc/self/cgroup", text) })
}

func FuzzCgroupNumbers(f *testing.F) {
	for _, seed := range []string{"max", "0", "-1", "18446744073709551615", "18446744073709551616", "1e9", "", "100000 0", "max 100000"} {
		f.Add("memory.max", seed)
		f.Add("cpu.max", seed)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if name != "memory.max" && name != "memory.current" && name != "cpu.max" {
			t.Skip()
		}
		fuzzed(t, "sys/fs/cgroup/app/c/"+name, text)
	})
}

func FuzzMemoryStat(f *testing.F) {
	for _, seed := range []string{fuzzStat, "inactive_file 1\ninactive_file 2\n", "inactive_file\n", "file_dirty 99999999999999999999\n", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzed(t, "sys/fs/cgroup/app/c/memory.stat", text) })
}
