package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// openedVariable is the environment variable that names the file to which a recording process appends what it opens.
const openedVariable = "DELTA_LAKE_TEST_OPENED"

// recordingMain is main with a delta_lake whose store notes the objects that it opens or reads, a line each.
func recordingMain() {
	err := service.RegisterBatchInput(configspec.Component, input.Spec(),
		func(conf *service.ParsedConfig, res *service.Resources) (service.BatchInput, error) {
			return input.New(conf, res, input.Deps{Open: openRecorded})
		})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitFailed)
	}
	main()
}

func openRecorded(ctx context.Context, c feed.Config) (feed.Source, error) {
	uri, err := storage.ParseURI(c.URI)
	if err != nil {
		return nil, err
	}
	store, err := storage.NewLocal(uri)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(os.Getenv(openedVariable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	c.Open.Store = recorder{store, file}
	return feed.Open(ctx, c)
}

// recorder notes each path before it is opened: a process that is killed has noted all that it read.
type recorder struct {
	storage.Store
	file *os.File
}

func (r recorder) note(path string) error {
	_, err := r.file.WriteString(path + "\n")
	return err
}

func (r recorder) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	if err := r.note(path); err != nil {
		return 0, err
	}
	return r.Store.ReadAt(ctx, path, buf, off)
}

func (r recorder) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := r.note(path); err != nil {
		return nil, err
	}
	return r.Store.Get(ctx, path)
}

func (r recorder) Open(ctx context.Context, path string) (storage.Object, error) {
	if err := r.note(path); err != nil {
		return nil, err
	}
	return storage.OpenObject(ctx, r.Store, path)
}
