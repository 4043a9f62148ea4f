package main

import (
	"math/rand"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/component-helpers/scheduling/corev1"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// maxOrders bounds the orders of tied pods tried on one node; beyond it that many are drawn.
const maxOrders = 720

// nodeCandidates is what may be evicted on a node: several answers where pods tie in importance, since the scheduler sorts
// them unstably from a list in no particular order.
type nodeCandidates struct {
	node         string
	alternatives []*extender.Victims
	open         bool
}

// dryRun gives a node's candidates, or what the scheduler says of it when it has none in some order.
func (s *session) dryRun(state fwk.CycleState, node fwk.NodeInfo, pdbs []*policy.PodDisruptionBudget) (nodeCandidates, string) {
	on := nodeCandidates{node: node.Node().Name}
	orders, open := s.orders(node)
	on.open = open
	seen, said := map[string]bool{}, ""
	for _, order := range orders {
		s.preemption.MoreImportantPod = func(a, b *v1.Pod) bool { return order[a.UID] < order[b.UID] }
		found, statuses, err := s.preemption.Evaluator.DryRunPreemption(s.ctx, state, s.asker, []fwk.NodeInfo{node}, pdbs, 0, 1)
		if err != nil {
			said = err.Error()
		} else if len(found) == 0 {
			said = strings.Join(reasons(statuses.Get(on.node)), ", ")
		}
		for _, candidate := range found {
			key := strings.Join(evictions(candidate.Victims()).Victims, " ")
			if !seen[key] {
				seen[key] = true
				on.alternatives = append(on.alternatives, candidate.Victims())
			}
		}
	}
	s.preemption.MoreImportantPod = util.MoreImportantPod
	sort.Slice(on.alternatives, func(i, j int) bool {
		return strings.Join(evictions(on.alternatives[i]).Victims, " ") < strings.Join(evictions(on.alternatives[j]).Victims, " ")
	})
	return on, said
}

// orders ranks the node's pods by importance in every way that their ties allow, and says whether there are still more.
func (s *session) orders(node fwk.NodeInfo) ([]map[types.UID]int, bool) {
	var pods []*v1.Pod
	for _, info := range node.GetPods() {
		if corev1.PodPriority(info.GetPod()) < corev1.PodPriority(s.asker) {
			pods = append(pods, info.GetPod())
		}
	}
	sort.Slice(pods, func(i, j int) bool {
		if util.MoreImportantPod(pods[i], pods[j]) != util.MoreImportantPod(pods[j], pods[i]) {
			return util.MoreImportantPod(pods[i], pods[j])
		}
		return pods[i].UID < pods[j].UID
	})
	groups, count := tied(pods)
	if count > maxOrders {
		return drawn(groups), true
	}
	orders := [][]*v1.Pod{{}}
	for _, group := range groups {
		orders = extended(orders, permutations(group))
	}
	var ranked []map[types.UID]int
	for _, order := range orders {
		ranked = append(ranked, ranks(order))
	}
	return ranked, false
}

// tied splits sorted pods into groups of equal importance, and counts the orders (as far as it matters).
func tied(pods []*v1.Pod) ([][]*v1.Pod, int) {
	var groups [][]*v1.Pod
	count := 1
	for i, pod := range pods {
		if i == 0 || util.MoreImportantPod(pods[i-1], pod) {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], pod)
		if count <= maxOrders {
			count *= len(groups[last])
		}
	}
	return groups, count
}

func permutations(pods []*v1.Pod) [][]*v1.Pod {
	if len(pods) <= 1 {
		return [][]*v1.Pod{pods}
	}
	var all [][]*v1.Pod
	for i, first := range pods {
		rest := append(append([]*v1.Pod{}, pods[:i]...), pods[i+1:]...)
		for _, order := range permutations(rest) {
			all = append(all, append([]*v1.Pod{first}, order...))
		}
	}
	return all
}

func extended(orders, endings [][]*v1.Pod) [][]*v1.Pod {
	var all [][]*v1.Pod
	for _, order := range orders {
		for _, ending := range endings {
			all = append(all, append(append([]*v1.Pod{}, order...), ending...))
		}
	}
	return all
}

func drawn(groups [][]*v1.Pod) []map[types.UID]int {
	random := rand.New(rand.NewSource(1)) // the same every time
	var orders []map[types.UID]int
	for range maxOrders {
		var order []*v1.Pod
		for _, group := range groups {
			random.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
			order = append(order, group...)
		}
		orders = append(orders, ranks(order))
	}
	return orders
}

func ranks(order []*v1.Pod) map[types.UID]int {
	ranked := map[types.UID]int{}
	for rank, pod := range order {
		ranked[pod.UID] = rank
	}
	return ranked
}

func evictions(victims *extender.Victims) Evictions {
	names := []string{}
	for _, pod := range victims.Pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	sort.Strings(names)
	return Evictions{Victims: names, PDBViolations: victims.NumPDBViolations}
}
