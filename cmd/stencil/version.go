package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/backend/llama"
)

// release is the version when the build does not know one; a release sets it
// with -ldflags "-X main.release=1.2.3".
var release = "dev"

// version returns the version of this build.
func version() string {
	if release != "dev" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + "-" + s.Value[:12]
		}
	}
	return release
}

func newVersionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of what it is built from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Stencil  string `json:"stencil"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
					Llama    string `json:"llama_cpp"` // "": not built in
					Kernels  string `json:"cpu_kernels"`
				}{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, llama.Version(), llama.CPUFeatures()})
			}
			return printVersion(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

func printVersion(out io.Writer) error {
	fmt.Fprintf(out, "stencil   %s\n", version())
	fmt.Fprintf(out, "go        %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if !llama.Built {
		_, err := fmt.Fprintln(out, "llama.cpp not built in: run `make build`")
		return err
	}
	kernels := llama.CPUFeatures()
	if kernels == "" {
		kernels = "none; the libraries are missing"
	}
	_, err := fmt.Fprintf(out, "llama.cpp %s; CPU kernels: %s\n", llama.Version(), kernels)
	return err
}
