import type { PushedLabels, PushedName } from '../../manifests/monitoring/pushed.ts';
import { isWithoutStep } from '../../reconcile/cluster/result.ts';
import { kinds, type Results } from '../../reconcile/kinds.ts';
import type { Shown } from '../../reconcile/stepping/kind.ts';
import type { StepResult } from '../../reconcile/stepping/result.ts';
import type { Recording } from '../../reconcile/stepping/traced.ts';
import type { PassResult } from '../pass/pass-context.ts';

export type Measure = {
  [Name in PushedName]: { readonly name: Name; readonly labels: PushedLabels<Name>; readonly value: number };
}[PushedName];

/** What a pass came to. `undefined`: nothing was to be done, or it could not be made. */
type Passed = Pick<PassResult, 'results' | 'fleets' | 'leftOut'>;

export interface Measured {
  readonly trigger: string;
  readonly seconds: number;
  readonly outcome: 'passed' | 'nothing' | 'failed';
  readonly result?: Passed | undefined;
  readonly requests: Recording['requests'];
  readonly now: Date;
}

/** A monorepo may have thousands of schedules; a collector need not. */
const mostSchedules = 500;

export function measuresOf({ trigger, seconds, outcome, result, requests, now }: Measured): readonly Measure[] {
  return [
    { name: 'etcd_ratchet_pass_duration_seconds', labels: { trigger, outcome }, value: seconds },
    ...Object.entries(requests).map(
      ([to, value]): Measure => ({ name: 'etcd_ratchet_pass_requests', labels: { to }, value }),
    ),
    ...(result ? ofResult(result, now) : []),
  ];
}

/** Of every kind that is shown. */
function stepsOf(results: Results): readonly { kind: string; action: string; outcome: string }[] {
  return Object.entries(kinds).flatMap(([name, kind]) => {
    if (!('shown' in kind)) return [];
    const { metric, action }: Shown<StepResult> = kind.shown;
    const all: readonly StepResult[] = results[name as keyof Results] ?? [];
    return all.map((one) => ({ kind: metric, action: action?.(one) ?? 'none', outcome: one.outcome }));
  });
}

function ofResult({ results, fleets, leftOut }: Passed, now: Date): Measure[] {
  const { cluster: clusters = [], schedule: schedules = [] } = results;
  return [
    ...counted(stepsOf(results)).map(
      ([labels, value]): Measure => ({ name: 'etcd_ratchet_pass_steps', labels, value }),
    ),
    ...decisions.map(
      (decision): Measure => ({
        name: 'etcd_ratchet_pass_clusters',
        labels: { decision },
        value: clusters.filter((one) => one.decision.kind === decision).length,
      }),
    ),
    {
      name: 'etcd_ratchet_pass_clusters_without_step',
      labels: {},
      value: clusters.filter(isWithoutStep).length,
    },
    ...counted(fleets.map(({ result }) => ({ reading: readingOf(result) }))).map(
      ([labels, value]): Measure => ({ name: 'etcd_ratchet_pass_fleets', labels, value }),
    ),
    { name: 'etcd_ratchet_pass_namespaces_left_out', labels: {}, value: leftOut.size },
    ...schedules.slice(0, mostSchedules).flatMap(({ schedule: { metadata, spec, status } }): Measure[] => {
      const taken = Date.parse(status?.lastGood?.takenAt ?? '');
      if (Number.isNaN(taken)) return [];
      const { namespace = '', name: schedule } = metadata;
      const labels = { namespace, schedule, cluster: spec.template.clusterName ?? '' };
      const value = Math.max(0, (now.getTime() - taken) / 1000);
      return [{ name: 'etcd_ratchet_pass_backup_age_seconds', labels, value }];
    }),
  ];
}

/** All of them, also where there are none: a series that ends looks like one that stays as it was. */
const decisions = ['act', 'wait', 'refuse', 'done'] as const;

function readingOf(result: PassResult['fleets'][number]['result']): string {
  return result.kind === 'left' ? 'left' : result.outcome.reading.kind;
}

function counted<T extends object>(all: readonly T[]): [T, number][] {
  const groups = Map.groupBy(all, (one) => JSON.stringify(one));
  return [...groups.values()].map((group) => [group[0] as T, group.length]);
}
