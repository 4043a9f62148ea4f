package main

import (
	extender "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// draws is how often two candidates are held against each other before the one that never won is taken for the worse: of
// two that tie the scheduler takes the first of a map, and Go favours one of them seven to one.
const draws = 200

// named is a candidate of any name, so that two of one node can be compared.
type named struct {
	name    string
	victims *extender.Victims
}

func (n named) Name() string               { return n.name }
func (n named) Victims() *extender.Victims { return n.victims }

// choices are the candidates that the scheduler may take: no worse than, on each other node, one of its alternatives.
func (s *session) choices(found []nodeCandidates) []Choice {
	choices := []Choice{}
	worst := make([]*extender.Victims, len(found))
	for i, on := range found {
		worst[i] = on.alternatives[0]
		for _, alternative := range on.alternatives[1:] {
			if s.better(worst[i], alternative) == worst[i] {
				worst[i] = alternative
			}
		}
	}
	for i, on := range found {
		rival := s.best(worst, i)
		for _, alternative := range on.alternatives {
			if rival == nil || s.mayWin(alternative, rival) {
				choices = append(choices, Choice{Node: on.node, Evictions: evictions(alternative)})
			}
		}
	}
	return choices
}

func (s *session) best(worst []*extender.Victims, without int) *extender.Victims {
	var best *extender.Victims
	for i, victims := range worst {
		if i == without {
			continue
		}
		if best == nil {
			best = victims
		} else {
			best = s.better(best, victims)
		}
	}
	return best
}

func (s *session) mayWin(victims, rival *extender.Victims) bool {
	for range draws {
		if s.better(victims, rival) == victims {
			return true
		}
	}
	return false
}

// better asks the scheduler which of the two it takes.
func (s *session) better(a, b *extender.Victims) *extender.Victims {
	pair := []preemption.Candidate{named{"a", a}, named{"b", b}}
	return s.preemption.Evaluator.SelectCandidate(s.ctx, pair).Victims()
}
