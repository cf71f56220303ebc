package limits_test

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/limits"
)

// untouchable is a host that fails the test when it is asked anything.
type untouchable struct{ t *testing.T }

func (u untouchable) Open(name string) (fs.File, error) {
	u.t.Errorf("want nothing to be read, got %s", name)
	return nil, fs.ErrNotExist
}

func TestAnExplicitTargetAsksNothing(t *testing.T) {
	asked := func() int { t.Error("want nothing to be asked"); return 1 }
	h := limits.Host{
		Files: untouchable{t}, CPUs: asked, MaxProcs: asked,
		Descriptors: func() (uint64, error) { asked(); return 1, nil },
	}
	d, err := limits.Decide(h, limits.Overrides{Target: 1000})
	if err != nil || d.Target != 1000 || len(d.Caps) != 0 || len(d.Signals) != 0 {
		t.Errorf("want 1000 partitions without signals and caps, got %+v, %v", d, err)
	}
	if want := "1000 partitions: the target is set: no cap counts and nothing is looked up"; d.String() != want {
		t.Errorf("want %q, got %q", want, d)
	}
}

func TestNegativeOverridesAreRefused(t *testing.T) {
	for want, o := range map[string]limits.Overrides{
		"the partition target must be at least 1, got -1":          {Target: -1},
		"the descriptors per partition must be at least 1, got -2": {DescriptorsPerPartition: -2},
		"the memory per partition must be at least 1, got -3":      {MemoryPerPartition: -3},
	} {
		if _, err := limits.Decide(limits.Host{}, o); err == nil || err.Error() != want {
			t.Errorf("%+v: want %q, got %v", o, want, err)
		}
	}
}

func TestAHostThatSaysNothingHasATargetOfOne(t *testing.T) {
	zero := func() int { return 0 }
	h := limits.Host{
		Files: fstest.MapFS{}, CPUs: zero, MaxProcs: zero,
		Descriptors: func() (uint64, error) { return 0, errors.New("not known") },
	}
	d, err := limits.Decide(h, limits.Overrides{})
	if err != nil || d.Target != 1 || len(d.Caps) != 1 {
		t.Errorf("want 1 partition by one cap, got %s, %v", explain(d), err)
	}
}

func TestTheDecisionIsToldInALine(t *testing.T) {
	tree := loadTree(t, "v2_worked_example")
	const want = "2 partitions, the lowest of cpus 32 (32 by runtime.NumCPU), descriptors 256 (4096 descriptors by " +
		"getrlimit(RLIMIT_NOFILE), 16 a partition), memory 2 (512 MiB are left by /sys/fs/cgroup/app, 256 MiB a partition)"
	if got := tree.host.Signals().Decide(limits.Overrides{}).String(); got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

func TestDecisionsAreJSONWithoutNulls(t *testing.T) {
	for _, d := range []limits.Decision{limits.Signals{}.Decide(limits.Overrides{}), limits.Signals{}.Decide(limits.Overrides{Target: 3})} {
		text, err := json.Marshal(d)
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("want no null, got %s, %v", text, err)
		}
	}
}

func signals() *rapid.Generator[limits.Signals] {
	names := []limits.Name{
		limits.CPUs, limits.MaxProcs, limits.CPUQuota, limits.Descriptors, limits.MemoryTotal, limits.MemoryAvailable, limits.CgroupHeadroom,
	}
	return rapid.Custom(func(t *rapid.T) limits.Signals {
		return limits.Signals{Found: rapid.SliceOf(rapid.Custom(func(t *rapid.T) limits.Signal {
			return limits.Signal{Name: rapid.SampledFrom(names).Draw(t, "name"), Value: rapid.Uint64().Draw(t, "value")}
		})).Draw(t, "found")}
	})
}

func TestTheTargetIsTheLowestCapAndFallsWithEachSignal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := signals().Draw(t, "signals")
		o := limits.Overrides{
			DescriptorsPerPartition: rapid.Int64Min(0).Draw(t, "descriptors"), MemoryPerPartition: rapid.Int64Min(0).Draw(t, "memory"),
		}
		d := s.Decide(o)
		if d.Target < 1 {
			t.Fatalf("want a target of at least 1, got %d", d.Target)
		}
		for _, c := range d.Caps {
			if c.Value < uint64(d.Target) {
				t.Fatalf("want a target within %+v, got %d", c, d.Target)
			}
		}
		if len(s.Found) == 0 {
			return
		}
		i := rapid.IntRange(0, len(s.Found)-1).Draw(t, "which")
		s.Found[i].Value = rapid.Uint64Range(0, s.Found[i].Value).Draw(t, "lower")
		if got := s.Decide(o).Target; got > d.Target {
			t.Fatalf("want at most %d after a signal fell, got %d", d.Target, got)
		}
	})
}

func TestThisHostHasATarget(t *testing.T) {
	d, err := limits.Decide(limits.ThisHost(), limits.Overrides{})
	if err != nil || d.Target < 1 || d.Target > runtime.NumCPU() {
		t.Fatalf("want a target from 1 to the number of CPUs, got %s, %v", explain(d), err)
	}
	t.Logf("\n%s", explain(d))
	if runtime.GOOS != "linux" {
		return
	}
	for _, name := range []limits.Name{limits.CPUs, limits.MaxProcs, limits.MemoryTotal, limits.MemoryAvailable} {
		found := false
		for _, s := range d.Signals {
			found = found || s.Name == name && s.Value > 0
		}
		if !found {
			t.Errorf("want the signal %s, got\n%s", name, explain(d))
		}
	}
}
