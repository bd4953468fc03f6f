// The HPA controller of Kubernetes as a filter: scenarios in, what it decides out, a line of JSON each.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Of Kubernetes; set by the build.
var version = ""

func main() {
	makeMapper()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	outw := bufio.NewWriter(os.Stdout)
	defer outw.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			data, e := json.Marshal(run(line))
			if e != nil {
				fmt.Fprintln(os.Stderr, e)
			}
			outw.Write(data)
			outw.WriteByte('\n')
		}
		if err != nil {
			return
		}
	}
}
