package limits

import "testing"

func TestUnescapeKnowsWhatTheKernelWrites(t *testing.T) {
	for field, want := range map[string]string{
		"/plain": "/plain", `/a\040b`: "/a b", `\011\012\134`: "\t\n\\", `/\134040`: `/\040`, "": "",
	} {
		if got, ok := unescape(field); !ok || got != want {
			t.Errorf("%s: want %q, got %q, %v", field, want, got, ok)
		}
	}
	for _, field := range []string{`\`, `\0`, `\04`, `\041`, `\x20`, `\\`, `a\04`, `\400`} {
		if got, ok := unescape(field); ok {
			t.Errorf("%s: want it to be refused, got %q", field, got)
		}
	}
}

func TestBytesAreToldInTheLargestUnit(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 bytes", 1: "1 bytes", 1023: "1023 bytes", 1024: "1 KiB", 1025: "1 KiB", 1 << 30: "1 GiB", 1 << 50: "1 PiB",
		300 << 20: "300 MiB", 1536 << 20: "1.5 GiB", 2<<30 - 1: "1.9 GiB", 1<<64 - 1: "15 EiB",
	} {
		if got := sizeText(n); got != want {
			t.Errorf("%d: want %s, got %s", n, want, got)
		}
	}
}
