import { describe } from '../../gitops/statuses/describe.ts';
import type { CheckedDeletion, CheckProblem, CheckReport } from '../../manifests/api/check-report.ts';
import { longestDescription } from '../../manifests/description.ts';
import { counted } from '../../reconcile/cluster/know/plan/costs.ts';
import { inBrief } from '../../reconcile/fleet/in-brief.ts';
import type { OtherChange } from '../../reconcile/fleet/others.ts';
import { place } from '../../reconcile/fleet/statements.ts';
import type { ForeseenCluster } from './foresee.ts';

interface Facts {
  readonly state: CheckReport['state'];
  readonly problems: readonly CheckProblem[];
  /** What could not be found out. */
  readonly message?: string | undefined;
  readonly clusters: readonly ForeseenCluster[];
  readonly deletions: readonly CheckedDeletion[];
  readonly others?: readonly OtherChange[];
}

/** `orders: 3.5.35→3.6.16, 9 steps; ads: +2 members, 6 steps`, or what is wrong; as long as a status may be. */
export function describeChange({ state, problems, message, clusters, deletions, others = [] }: Facts): string {
  const [first, ...rest] = problems;
  if (first) return withOthers(first, rest.length);
  if (state === 'error') return describe(`could not be checked: ${message ?? 'no reason is known'}`);
  const named = namer([...clusters, ...deletions]);
  const gone = new Set(clusters.flatMap((one) => (one.intent === 'delete' ? [`${one.namespace}/${one.name}`] : [])));
  const said = [
    ...clusters.filter(({ intent }) => intent === 'delete').map((one) => `${named(one)}: deleted`),
    ...clusters.filter(({ intent }) => intent !== 'delete').map((one) => `${named(one)}: ${whatOf(one)}`),
    ...deletions
      .filter((one) => !gone.has(`${one.namespace}/${one.name}`))
      .map((one) => `${named(one)}: ${one.kept === undefined ? 'deleted' : 'no longer listed, kept'}`),
    ...others.map((change) => `${change.name}: ${whatOfOther(change)}`),
  ];
  if (said.length === 0) return 'changes no cluster';
  return fitting(said);
}

function whatOf({ intent, planned, changes = [] }: ForeseenCluster): string {
  if (!planned) return 'not planned';
  const { steps, end } = planned;
  const count = steps.length === 0 ? 'no steps' : counted(steps.length, 'step');
  const ending = end.kind === 'done' ? '' : end.kind === 'refused' ? ', then a person is needed' : ', then it waits';
  return `${[...(intent === 'create' ? ['new'] : []), ...changes, count].join(', ')}${ending}`;
}

const otherWords = {
  EtcdBackup: 'backup',
  EtcdBackupSchedule: 'schedule',
  EtcdRestore: 'restore',
  EtcdNodePolicy: 'node policy',
} as const satisfies Record<OtherChange['kind'], string>;
const intentWords = { create: 'new', update: 'changed', delete: 'deleted' } as const;

function whatOfOther({ kind, intent }: OtherChange): string {
  return `${intentWords[intent]} ${otherWords[kind]}`;
}

/** Names alone, unless two namespaces have the same. */
function namer(all: readonly { readonly namespace: string; readonly name: string }[]) {
  const spaces = Map.groupBy(all, ({ name }) => name);
  return ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
    new Set(spaces.get(name)?.map((one) => one.namespace)).size > 1 ? `${namespace}/${name}` : name;
}

/** As many as there is room for, and the count of the others. */
function fitting(said: readonly string[]): string {
  for (let count = said.length; count > 0; count--) {
    const rest = said.length - count;
    const text = `${said.slice(0, count).join('; ')}${rest > 0 ? `; and ${others(rest)}` : ''}`;
    if (text.length <= longestDescription) return text;
  }
  return describe(`${said.length === 1 ? '' : `${said.length} clusters: `}${said[0]}`);
}

/** Its report has the cure, where there is no room for it here. */
function withOthers(first: CheckProblem, count: number): string {
  const tail = count === 0 ? '' : ` (and ${count} more)`;
  const said = { place: place({ ...first, message: '' }), message: first.message };
  return describe(`${inBrief(said, { pointer: 'see the report', longest: longestDescription - tail.length })}${tail}`);
}

function others(count: number): string {
  return count === 1 ? '1 other' : `${count} others`;
}
