// Recorder decides cases with the code of the real kube-scheduler.
//
// It reads cases from standard input, one JSON object a line, and writes for each, in order, what the scheduler of this
// module's Kubernetes does with the asker: its default profile, its own cache, queue and plugins, without an API server.
// All nodes are considered. A case that cannot be read gets {"error": ...}, and the others go on.
//
// With -admission it writes instead what an API server would refuse of each case's objects. With -unqueued, pods nominated to nodes are known to the queue's nominator alone and wait in no queue.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"log"
	"os"

	"k8s.io/klog/v2"
)

var admission = flag.Bool("admission", false, "say what an API server would refuse, and decide nothing")
var unqueued = flag.Bool("unqueued", false, "take nominated pods out of the scheduling queue")

func main() {
	flag.Parse()
	quiet()
	if err := answer(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// quiet keeps the scheduler's log out of standard error: what it says of a case is in the answer.
func quiet() {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			log.Fatal(err)
		}
	}
	klog.SetOutput(io.Discard)
}

func answer(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	written := bufio.NewWriter(out)
	defer written.Flush()
	encoder := json.NewEncoder(written)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			if err := encoder.Encode(decided(line)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func decided(line []byte) any {
	expected, err := answered(line)
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	return expected
}

func answered(line []byte) (any, error) {
	if *admission {
		return refused(line)
	}
	return decideLine(line)
}

func decideLine(line []byte) (*Expect, error) {
	read, err := readCase(line)
	if err != nil {
		return nil, err
	}
	session, err := newSession(read)
	if err != nil {
		return nil, err
	}
	defer session.close()
	return session.decide()
}
