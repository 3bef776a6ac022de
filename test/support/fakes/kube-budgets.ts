import type { Target } from '../../../reconcile/clients/kube-address.ts';
import { refusal } from '../../../reconcile/clients/kube-errors.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { matchesLabels } from './kube-selectors.ts';
import type { Fields, Shelf, Stored } from './kube-shelf.ts';

/**
 * Takes one disruption from every budget that selects the pod. A budget whose status no controller has written allows
 * none; a pod that does not run yet, or any more, needs none.
 *
 * @throws {KubeError} `TooManyRequests`
 */
export function takeDisruption(target: Target, pod: Stored, shelf: Shelf): void {
  const { phase } = (pod.status ?? {}) as { phase?: string };
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined || ['Pending', 'Succeeded', 'Failed'].includes(phase ?? '')) return;
  for (const budget of shelf.all(resources.disruptionBudgets)) {
    if (!selects(budget, pod)) continue;
    const status = (budget.status ?? {}) as Fields & { disruptionsAllowed?: number };
    const left = (status.disruptionsAllowed ?? 0) - 1;
    if (left < 0) {
      const causes = ['DisruptionBudget'];
      const message = `the disruption budget ${budget.metadata.name} needs this pod`;
      throw refusal(target, { code: 429, reason: 'TooManyRequests', message, name: target.name, causes });
    }
    shelf.put(resources.disruptionBudgets, { ...budget, status: { ...status, disruptionsAllowed: left } } as Stored);
  }
}

function selects(budget: Stored, pod: Stored): boolean {
  if (budget.metadata.namespace !== pod.metadata.namespace) return false;
  const { selector } = (budget.spec ?? {}) as { selector?: { matchLabels?: Record<string, string> } };
  const terms = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  return matchesLabels(pod, terms.join(','));
}
