package main

import (
	"fmt"
	"runtime/debug"
)

const engineModule = "github.com/benthosdev/benthos/v4"

// versions says which versions of this program and of the engine are in the binary, each on a line.
func versions() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "benthos-delta unknown\n"
	}
	engine := "unknown"
	for _, m := range info.Deps {
		if m.Path != engineModule {
			continue
		}
		if engine = m.Version; m.Replace != nil {
			engine = m.Replace.Path + " " + m.Replace.Version
		}
	}
	return fmt.Sprintf("benthos-delta %s\nbenthos %s\n%s\n", info.Main.Version, engine, info.GoVersion)
}
