// Package plugin makes the input delta_lake known to Benthos. It answers which engine has the input and what a process
// that runs it ends with; what the input does is left to the package input.
//
// Importing the package registers the input with the global environment, which every other environment inherits, as
// Benthos' own component packages do. So a custom binary needs one line:
//
//	import _ "github.com/benthos-delta/benthos-delta/plugin"
//
// A main calls [RunCLI] in the place of service.RunCLI, for a status that tells of a failed or a stopped run.
package plugin

import (
	"fmt"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/input"
)

func init() {
	if err := registerLint(); err != nil {
		panic(fmt.Sprintf("registering the lint functions of %s: %v", configspec.Component, err))
	}
	if err := registerInput(); err != nil {
		panic(fmt.Sprintf("registering %s: %v", configspec.Component, err))
	}
}

func registerInput() error {
	return service.RegisterBatchInput(configspec.Component, input.Spec(),
		func(conf *service.ParsedConfig, res *service.Resources) (service.BatchInput, error) {
			return input.New(conf, res, input.Deps{Failed: setFailure, Unfinished: addUnfinished})
		})
}
