package limits_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/limits"
)

// probeVariable makes the test binary print its decision instead of running tests.
const probeVariable = "LIMITS_TEST_PROBE"

func TestMain(m *testing.M) {
	if os.Getenv(probeVariable) == "" {
		os.Exit(m.Run())
	}
	decision, err := limits.Decide(limits.ThisHost(), limits.Overrides{})
	if err == nil {
		err = json.MarshalWrite(os.Stdout, decision)
	}
	if err != nil {
		panic(err)
	}
}

// newGroup makes a group of 1 GiB directly below the root of the second version of control groups, or skips the test where the
// machine does not allow it.
func newGroup(t *testing.T) (group string) {
	t.Helper()
	root := rootOfGroups(t)
	controllers, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control"))
	if err != nil || !strings.Contains(" "+strings.TrimSpace(string(controllers))+" ", " memory ") {
		t.Skipf("%s does not give the memory controller to groups below it: %q, %v", root, controllers, err)
	}
	group = filepath.Join(root, "limits-test")
	if err := os.Mkdir(group, 0o700); err != nil {
		t.Skipf("no group can be made: %v", err)
	}
	t.Cleanup(func() { os.Remove(group) })
	if err := os.WriteFile(filepath.Join(group, "memory.max"), []byte("1073741824"), 0o600); err != nil {
		t.Skipf("the group's limit cannot be set: %v", err)
	}
	return group
}

func rootOfGroups(t *testing.T) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(root, "cgroup.subtree_control")); err == nil {
			return root
		}
	}
	t.Skip("the second version of control groups is not mounted where it is looked for")
	return ""
}

func TestAProcessInAGroupOfOneGibibyteIsBoundByIt(t *testing.T) {
	group := newGroup(t)
	directory, err := os.Open(group)
	if err != nil {
		t.Fatal(err)
	}
	defer directory.Close()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), probeVariable+"=1", "GOMAXPROCS=32")
	child.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(directory.Fd())}
	out, err := child.Output()
	if err != nil {
		t.Skipf("no process can be started in the group: %v", err)
	}
	var d limits.Decision
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	headroom := uint64(0)
	for _, s := range d.Signals {
		if s.Name == limits.CgroupHeadroom && s.Source == group {
			headroom = s.Value
		}
	}
	if headroom == 0 || headroom > 1<<30 || d.Target > 4 || d.Target > max(1, int(headroom/(256<<20))) {
		t.Errorf("want the headroom of %s to bound the target, got\n%s", group, explain(d))
	}
}
