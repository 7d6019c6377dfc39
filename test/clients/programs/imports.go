// What generated clients import, so that `.ci/run` has it at hand before a test builds one.
package main

import (
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/oapi-codegen/runtime/types"
)

func main() {}
