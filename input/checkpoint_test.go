package input

import (
	"errors"
	"strings"
	"testing"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

func TestCheckpointCacheIsThatOfTheEngine(t *testing.T) {
	resources := service.MockResources(service.MockResourcesOptAddCache("positions"))
	cache, err := NewCheckpointCache(resources, "positions")
	check(t, err)
	if _, err := cache.Get(t.Context(), "k"); !errors.Is(err, ack.ErrAbsent) {
		t.Fatalf("want nothing there, got %v", err)
	}
	want := feed.Position{TableID: "t", Version: 3, Phase: feed.PhaseTail, Part: feed.PartAdd, Row: -1}
	writer := ack.NewWriter(ack.NewStore(cache, "k", nil), ack.WriterOptions{})
	_, _, err = writer.Load(t.Context())
	check(t, err)
	check(t, writer.Begin(t.Context(), want))
	check(t, writer.Close(t.Context()))
	got, found, err := ack.NewStore(cache, "k", nil).Load(t.Context())
	if err != nil || !found || got.Position != want {
		t.Fatalf("want %v, got %v, %v, %v", want, got, found, err)
	}
	check(t, resources.AccessCache(t.Context(), "positions", func(c service.Cache) {
		text, err := c.Get(t.Context(), "k_a")
		if err != nil || !strings.Contains(string(text), `"version":3,`) {
			t.Errorf("want the position under k_a, got %q and %v", text, err)
		}
	}))
}

func TestCheckpointCacheThatIsNotThere(t *testing.T) {
	_, err := NewCheckpointCache(service.MockResources(), "positions")
	if deltaerr.KindOf(err) != deltaerr.Config || !strings.Contains(err.Error(), "positions") {
		t.Errorf("want a config error that names the label, got %v", err)
	}
	if _, err := (CheckpointCache{service.MockResources(), "positions"}).Get(t.Context(), "k"); err == nil || errors.Is(err, ack.ErrAbsent) {
		t.Errorf("want a cache that is gone to be no empty cache, got %v", err)
	}
}

func TestCheckpointKeyIsMadeOfLabelAndPlace(t *testing.T) {
	key := func(uri, label string) string {
		t.Helper()
		key, err := CheckpointKey(configspec.Config{URI: uri}, label)
		check(t, err)
		return key
	}
	const want = "delta_lake_orders_9587a88f80891f85" // changing it would lose every stored position
	if got := key("s3://lake/orders", "orders"); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	for _, same := range []string{"s3a://lake/orders/", "s3n://lake/orders"} {
		if got := key(same, "orders"); got != want {
			t.Errorf("%s: want the key of the same place, got %s", same, got)
		}
	}
	if key("/data/t", "") != key("file:///data/./t/", "") || key("/data/t", "") == key("/data/u", "") {
		t.Error("want one key for one place")
	}
	if got := key("/data/t", "a/b:c.d"); !strings.HasPrefix(got, "delta_lake_a_b_c_d_") || strings.ContainsAny(got, "/:.") {
		t.Errorf("want a key that is no path, got %s", got)
	}
	own, err := CheckpointKey(configspec.Config{URI: "/t", Checkpoint: configspec.Checkpoint{Key: "mine"}}, "x")
	if err != nil || own != "mine" {
		t.Errorf("want the configured key, got %s, %v", own, err)
	}
}

func TestOneKeyIsForOneInput(t *testing.T) {
	release, err := claimKey("positions", "k")
	check(t, err)
	if _, err := claimKey("positions", "k"); deltaerr.KindOf(err) != deltaerr.Config {
		t.Errorf("want a config error for the second, got %v", err)
	}
	other, err := claimKey("others", "k")
	check(t, err)
	other()
	release()
	release()
	again, err := claimKey("positions", "k")
	check(t, err)
	again()
}
