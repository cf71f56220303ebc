package input

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"sync"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/ack"
)

// CheckpointCache is a cache resource of the engine as the place of positions.
type CheckpointCache struct {
	resources *service.Resources
	label     string
}

// NewCheckpointCache returns the cache resource with a label. That there is none is a deltaerr Config.
func NewCheckpointCache(resources *service.Resources, label string) (CheckpointCache, error) {
	if !resources.HasCache(label) {
		return CheckpointCache{}, deltaerr.New(deltaerr.Config, "there is no cache resource with the label "+label,
			deltaerr.Phase("looking for %s.checkpoint_cache", configspec.Component), deltaerr.Hint("add it to cache_resources"))
	}
	return CheckpointCache{resources: resources, label: label}, nil
}

// Get returns the value of a key, or ack.ErrAbsent.
func (c CheckpointCache) Get(ctx context.Context, key string) (value []byte, err error) {
	accessErr := c.resources.AccessCache(ctx, c.label, func(cache service.Cache) { value, err = cache.Get(ctx, key) })
	if errors.Is(err, service.ErrKeyNotFound) {
		err = ack.ErrAbsent
	}
	return value, errors.Join(accessErr, err)
}

// Set replaces the value of a key, for as long as the cache keeps it.
func (c CheckpointCache) Set(ctx context.Context, key string, value []byte) (err error) {
	accessErr := c.resources.AccessCache(ctx, c.label, func(cache service.Cache) { err = cache.Set(ctx, key, value, nil) })
	return errors.Join(accessErr, err)
}

var notInKeys = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// CheckpointKey is the key under which an input with this label keeps its position: the configured one, else one made of the
// label and a hash of the location. It holds neither '/' nor ':' then, since the file cache takes it for a path.
func CheckpointKey(c configspec.Config, label string) (string, error) {
	if c.Checkpoint.Key != "" {
		return c.Checkpoint.Key, nil
	}
	uri, err := storage.ParseURI(c.URI)
	if err != nil {
		return "", err
	}
	key := configspec.Component + "_"
	if label != "" {
		key += notInKeys.ReplaceAllString(label, "_") + "_"
	}
	sum := sha256.Sum256([]byte(uri.String()))
	return key + hex.EncodeToString(sum[:8]), nil
}

// claims holds the keys of this process' inputs, since two of them on one key would overwrite each other's positions.
var claims struct {
	sync.Mutex
	held map[[2]string]bool
}

// claimKey takes a key of a cache for one input until it is released. That another input has it is a deltaerr Config.
func claimKey(cache, key string) (release func(), err error) {
	claims.Lock()
	defer claims.Unlock()
	claim := [2]string{cache, key}
	if claims.held[claim] {
		return nil, deltaerr.New(deltaerr.Config, "another input keeps its position under the key "+key+" of the cache "+cache,
			deltaerr.Hint("give one of them a label or a %s.checkpoint_cache_key of its own", configspec.Component))
	}
	if claims.held == nil {
		claims.held = map[[2]string]bool{}
	}
	claims.held[claim] = true
	return sync.OnceFunc(func() {
		claims.Lock()
		defer claims.Unlock()
		delete(claims.held, claim)
	}), nil
}
