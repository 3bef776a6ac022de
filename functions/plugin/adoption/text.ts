import { stringify } from 'yaml';
import type { ExistingCluster } from '../../../manifests/api/existing-cluster.ts';
import { printable } from '../../../manifests/printable.ts';
import { kubectlRatchet } from '../../../manifests/render/kubectl.ts';
import type { ShownCluster } from '../../page/check-report.ts';
import { clusterPlanText } from '../../tick/plan-output.ts';
import { table } from '../table.ts';
import { forKubectl } from '../yaml.ts';
import type { FoundPod } from './found.ts';

export function podsText(found: readonly FoundPod[], colours: boolean): string {
  if (found.length === 0) return 'no pod of others has the podLabels of spec.bootstrap.existing\n';
  const rows = found.map((pod) => [
    pod.name,
    pod.memberID ?? 'unknown',
    pod.role ?? '',
    pod.version ?? '',
    pod.managedBy.join(', of ') || 'nothing',
  ]);
  return table(['POD', 'MEMBER', 'ROLE', 'ETCD', 'MANAGED BY'], rows, colours);
}

/** What a person must know of these pods, and the plan does not say. */
export function warningsOf(found: readonly FoundPod[]): readonly string[] {
  const bare = found.filter(({ keepsNothing }) => keepsNothing).map(({ name }) => name);
  const operators = [...new Set(found.flatMap(({ operator }) => operator ?? []))];
  return [
    ...found.flatMap(({ name, silent }) => (silent === undefined ? [] : `${name} does not answer: ${silent}`)),
    ...(bare.length === 0
      ? []
      : [
          `${bare.join(', ')} keep nothing when they end (no PVC): scale their workload to 0 as soon as their members have left, or each begins an empty cluster behind the old Service`,
        ]),
    ...new Set(found.flatMap(({ warns }) => warns ?? [])),
    ...operators.map((name) => `${name} manages them, and adds members again: stop it before you approve`),
  ];
}

export function existingText(existing: ExistingCluster): string {
  return stringify({ bootstrap: { existing } }, forKubectl);
}

export function planText(
  made: ShownCluster,
  { clusterID, memberIDs }: ExistingCluster,
  {
    found,
    differs,
    approvalBefore,
  }: {
    readonly found: readonly FoundPod[];
    readonly differs: readonly string[];
    readonly approvalBefore: number | undefined;
  },
  colours: boolean,
): string {
  const { namespace, name } = made;
  return [
    `takes over etcd cluster ${clusterID}, of members ${memberIDs.join(', ')}:`,
    podsText(found, colours),
    ...[...differs, ...warningsOf(found)].map((line) => `! ${printable(line)}`),
    `leaves as they are: these pods, what manages them, their PVCs, Services and Secrets. None of them is restarted.`,
    `makes: the objects of EtcdCluster ${namespace}/${name}, whose members join as learners and then vote.`,
    '',
    ...clusterPlanText(made).split('\n').map(printable),
    ...(approvalBefore === undefined
      ? []
      : [
          '',
          `Before step ${approvalBefore} it waits for you: stop what manages the pods (docs/how-to/adopt.md#what-to-stop-first), move the clients to ${name}.${namespace}.svc, then: ${kubectlRatchet(namespace, `approve ${name}`)}`,
        ]),
    '',
  ].join('\n');
}
