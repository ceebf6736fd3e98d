package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/backend/llama"
)

func newDevicesCommand() *cobra.Command {
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that models can run on",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := llama.LoadBackends(f.libFolder())
			if err != nil {
				return err
			}
			devices, err := llama.Devices()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tKIND\tLIBRARY\tFREE\tTOTAL\tDESCRIPTION")
			for _, d := range devices {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Kind, d.Library, memory(d.MemoryFree), memory(d.MemoryTotal), d.Description)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintf(out, "\nCPU kernels: %s\n", llama.CPUFeatures())
			if len(found) > 0 {
				fmt.Fprintf(out, "back ends found in %s: %s\n", f.libFolder(), strings.Join(found, ", "))
			} else {
				fmt.Fprintf(out, "no back ends found in %s\n", f.libFolder())
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.lib, "lib", "", libHelp)
	group(cmd.Flags(), "Model")
	return cmd
}

// memory prints a size; 0 is unknown.
func memory(n uint64) string {
	if n == 0 {
		return "-"
	}
	return llama.Size(n).String()
}
