package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Expect is what the scheduler does with the asker, and why.
type Expect struct {
	Outcome string   `json:"outcome"` // fits | preempt | no-candidate | not-eligible
	AnyOf   []Choice `json:"any_of"`  // what it may choose; it breaks ties at random
	// Candidates is what it would evict on each node; CandidatesAnyOf where ties on the node leave several answers.
	Candidates      map[string]Evictions   `json:"candidates,omitempty"`
	CandidatesAnyOf map[string][]Evictions `json:"candidates_any_of,omitempty"`
	FitsOn          []string               `json:"fits_on,omitempty"`
	Message         string                 `json:"message,omitempty"`
	// Why gives for each node the filter that ruled it out, and for one without a candidate what the dry run said.
	Why map[string]Refusal `json:"why,omitempty"`
	// Open lists the nodes with more orders of tied pods than were tried.
	Open []string `json:"open,omitempty"`
}

// Choice is a node with what would be evicted there.
type Choice struct {
	Node string `json:"node"`
	Evictions
}

// Evictions are victims as namespace/name, in the order of their names.
type Evictions struct {
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdb_violations"`
}

// Refusal is a filter's, before and (DryRun) without the pods that may be evicted.
type Refusal struct {
	Plugin  string   `json:"plugin,omitempty"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
	DryRun  string   `json:"dry_run,omitempty"`
}

const notEligible = "preemption: not eligible due to "

func (s *session) decide() (*Expect, error) {
	asked, err := framework.NewPodInfo(s.asker)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	_, err = s.scheduler.SchedulePod(s.ctx, s.profile, state, &framework.QueuedPodInfo{PodInfo: asked})
	if err == nil {
		fitsOn, err := s.fitsOn()
		return &Expect{Outcome: "fits", AnyOf: []Choice{}, FitsOn: fitsOn}, err
	}
	var unfit *framework.FitError
	if !errors.As(err, &unfit) { // no nodes, or a plugin's error: the cycle ends without preemption
		return &Expect{Outcome: "no-candidate", AnyOf: []Choice{}, Message: err.Error()}, nil
	}
	return s.postFilter(state, unfit)
}

// fitsOn lists the nodes that pass every filter, in the order of their names.
func (s *session) fitsOn() ([]string, error) {
	state := framework.NewCycleState()
	only, status, _ := s.profile.RunPreFilterPlugins(s.ctx, state, s.asker)
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	nodes, err := s.profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, err
	}
	var fits []string
	for _, node := range nodes {
		name := node.Node().Name
		if !only.AllNodes() && !only.NodeNames.Has(name) {
			continue
		}
		if s.profile.RunFilterPluginsWithNominatedPods(s.ctx, state, s.asker, node).IsSuccess() {
			fits = append(fits, name)
		}
	}
	sort.Strings(fits)
	return fits, nil
}

// postFilter is the second half of a scheduling cycle. The dry runs come first: the plugin's own run evicts.
func (s *session) postFilter(state fwk.CycleState, unfit *framework.FitError) (*Expect, error) {
	statuses := unfit.Diagnosis.NodeToStatus
	expect := &Expect{AnyOf: []Choice{}}
	if err := s.explain(expect, statuses); err != nil {
		return nil, err
	}
	nominated := statuses.Get(s.asker.Status.NominatedNodeName)
	eligible, _ := s.preemption.PodEligibleToPreemptOthers(s.ctx, s.asker, nominated)
	found := []nodeCandidates{}
	if eligible {
		var err error
		if found, err = s.candidates(state, statuses, expect); err != nil {
			return nil, err
		}
	}
	result, status := s.profile.RunPostFilterPlugins(s.ctx, state, s.asker, statuses)
	if status.IsSuccess() {
		expect.Outcome = "preempt"
		expect.fill(found)
		expect.AnyOf = s.choices(found)
		return expect, expect.confirm(result.NominatedNodeName)
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("candidates, and yet: %s", status.Message())
	}
	expect.Message = status.Message()
	expect.Outcome = "no-candidate"
	if strings.Contains(expect.Message, notEligible) {
		expect.Outcome = "not-eligible"
	}
	return expect, nil
}

func (s *session) explain(expect *Expect, statuses *framework.NodeToStatus) error {
	nodes, err := s.profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return err
	}
	expect.Why = map[string]Refusal{}
	for _, node := range nodes {
		status := statuses.Get(node.Node().Name)
		expect.Why[node.Node().Name] = Refusal{Plugin: status.Plugin(), Code: status.Code().String(), Reasons: reasons(status)}
	}
	return nil
}

// reasons are a status's, in an order that is the same every time: some come from a map.
func reasons(status *fwk.Status) []string {
	return slices.Sorted(slices.Values(status.Reasons()))
}

func (s *session) candidates(state fwk.CycleState, statuses *framework.NodeToStatus, expect *Expect) ([]nodeCandidates, error) {
	nodes, err := statuses.NodesForStatusCode(s.profile.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil {
		return nil, err
	}
	pdbs, err := s.informers.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return nil, err
	}
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Node().Name < nodes[j].Node().Name })
	var found []nodeCandidates
	for _, node := range nodes {
		on, said := s.dryRun(state, node, pdbs)
		if len(on.alternatives) > 0 {
			found = append(found, on)
		}
		if on.open {
			expect.Open = append(expect.Open, on.node)
		}
		refusal := expect.Why[on.node]
		refusal.DryRun = said
		expect.Why[on.node] = refusal
	}
	return found, nil
}

func (expect *Expect) fill(found []nodeCandidates) {
	expect.Candidates, expect.CandidatesAnyOf = map[string]Evictions{}, map[string][]Evictions{}
	for _, on := range found {
		for _, alternative := range on.alternatives {
			if len(on.alternatives) == 1 {
				expect.Candidates[on.node] = evictions(alternative)
			} else {
				expect.CandidatesAnyOf[on.node] = append(expect.CandidatesAnyOf[on.node], evictions(alternative))
			}
		}
	}
}

// confirm holds the choices against the node that the plugin took on its own.
func (expect *Expect) confirm(node string) error {
	for _, choice := range expect.AnyOf {
		if choice.Node == node {
			return nil
		}
	}
	return fmt.Errorf("the scheduler nominated %q, not one of %v", node, expect.AnyOf)
}
