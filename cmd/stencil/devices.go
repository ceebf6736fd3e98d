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
	var asJSON bool
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
			if asJSON {
				r := deviceReport{Devices: []deviceEntry{}, Kernels: llama.CPUFeatures(), Folder: f.libFolder(), Found: append([]string{}, found...)}
				for _, d := range devices {
					r.Devices = append(r.Devices, deviceEntry{d.Name, d.Kind, d.Library, known(d.MemoryFree), known(d.MemoryTotal), d.Description})
				}
				return printJSON(out, r)
			}
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
				fmt.Fprintf(out, "no usable back ends in %s\n", f.libFolder())
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.lib, "lib", "", libHelp)
	group(cmd.Flags(), "Model")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

// deviceReport is the output of --json.
type deviceReport struct {
	Devices []deviceEntry `json:"devices"`
	Kernels string        `json:"cpu_kernels"`
	Folder  string        `json:"folder"`
	Found   []string      `json:"back_ends"`
}

type deviceEntry struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind"`
	Library     string  `json:"library"`
	Free        *uint64 `json:"memory_free"` // bytes; null: unknown
	Total       *uint64 `json:"memory_total"`
	Description string  `json:"description"`
}

func known(n uint64) *uint64 {
	if n == 0 {
		return nil
	}
	return &n
}

// memory formats a size; 0 is unknown.
func memory(n uint64) string {
	if n == 0 {
		return "-"
	}
	return llama.Size(n).String()
}
