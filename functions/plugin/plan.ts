import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { printable } from '../../manifests/printable.ts';
import { type ClusterPlan, type Intent, planClusters } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import { states } from '../../reconcile/fleet/states.ts';
import { isReason, resources } from '../../reconcile/interfaces/kube.ts';
import type { ShownCluster } from '../page/check-report.ts';
import { isOutOfReach, nothingUnread, notingEtcd, notingKube, type Unread } from '../page/unread.ts';
import { clusterPlanText } from '../tick/plan-output.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { reachThrough } from './members/through.ts';
import { waysOrWhyNot } from './members/ways.ts';
import { clusterNamed, dataText, nextCommand } from './objects.ts';
import { planInCluster } from './plan-in-cluster.ts';
import type { Installation } from './reconcile.ts';
import { clusterInFile } from './spec-file.ts';
import { kubectlLog } from './support-bundle.ts';

interface Where {
  /** By a Job of the installation, where members can be reached. */
  readonly inCluster: boolean;
  readonly installation: Installation;
}

interface PlanOptions extends Where {
  /** A YAML file with the spec that is planned; `-`: stdin. Absent: the spec in the cluster. */
  readonly file?: string;
  readonly exitCode: boolean;
}

/** Milliseconds for all of it. */
const patience = 60_000;

/**
 * What etcd-ratchet would do, by the same code, with the person's rights: for the spec in the cluster, or in a file.
 * @throws {Refusal} when no plan can be made, neither from here nor by a Job that reaches the members.
 */
export async function plan(name: string, asked: Asked, options: PlanOptions): Promise<ExitCode> {
  const { file, exitCode, inCluster } = options;
  if (inCluster && file !== undefined)
    throw new Refusal('--in-cluster plans the spec in the cluster: leave --file out');
  const { made, unread } = await foreseenFor(name, asked, options);
  show(made, { ...made, unread: dataOf(unread) }, asked);
  tell(unread, asked);
  return exitCode ? codeOf(made) : 0;
}

/**
 * Looks at a cluster now, by the rules of a step.
 * @returns 0: nothing is to be done; 3: a person is needed; 4: steps are to be taken, or something is awaited
 */
export async function check(name: string, asked: Asked, where: Where): Promise<ExitCode> {
  const { made, unread } = await foreseenFor(name, asked, where);
  const { steps = [], end } = made.planned ?? {};
  const next = steps[0] ?? end;
  const code = codeOf(made);
  const { word } = states[({ 0: 'Current', 3: 'Failed', 4: 'InProgress' } as const)[code]];
  const { reason, message } = next ?? {};
  const cure = steps.length === 0 && end?.kind === 'refused' ? end.cure : undefined;
  if (asked.output === 'text')
    asked.out(
      `${asked.namespace}/${name}: ${word}\n  ${printable(`${reason}: ${message}`)}\n${cure === undefined ? '' : `  to go on: ${printable(cure)}\n`}`,
    );
  else
    asked.out(
      dataText(
        { namespace: asked.namespace, name, state: word, reason, message, cure, unread: dataOf(unread) },
        asked.output,
      ),
    );
  tell(unread, asked);
  return code;
}

/** From here; where no member can be asked from here, by a Job of the installation, if this person may make one. */
async function foreseenFor(
  name: string,
  asked: Asked,
  { file, inCluster, installation }: Where & { readonly file?: string },
): Promise<{ readonly made: ShownCluster; readonly unread: Unread }> {
  const elsewhere = async () => {
    const made = await planInCluster(name, asked, { installation, readLog: kubectlLog });
    if (!made.planned) throw new Refusal(`no plan can be made: ${made.problem ?? 'nothing was found'}`);
    return { made, unread: nothingUnread() };
  };
  if (inCluster) return elsewhere();
  const intent = await intentFor(name, asked, file);
  try {
    return await foresee(intent, asked);
  } catch (error) {
    if (!(error instanceof OutOfReach) || intent.kind === 'create') throw error;
    const led = await foreseeThrough(intent, asked);
    if (led.kind === 'led') return led.foreseen;
    // A Job knows only the spec that is in the cluster.
    if (intent.kind !== 'keep')
      throw new Refusal(`${error.message}. By kubectl port-forward: ${led.why}`, { cause: error });
    asked.err(`${printable(error.message)}. A Job of the installation is asked to look\n`);
    return await elsewhere().catch((second: unknown) => {
      if (!(second instanceof Refusal || isReason(second, 'Forbidden'))) throw second;
      throw new Refusal(`${second.message}; or see: ${nextCommand(asked, `why ${name}`)}`, { cause: second });
    });
  }
}

type Foreseen = Awaited<ReturnType<typeof foresee>>;

/** By ways to every member: with some of them only, those that run well would seem to be silent. */
async function foreseeThrough(
  intent: Exclude<Intent, { kind: 'create' }>,
  asked: Asked,
): Promise<{ readonly kind: 'led'; readonly foreseen: Foreseen } | { readonly kind: 'none'; readonly why: string }> {
  const made = await waysOrWhyNot(intent.cluster, asked);
  if (made instanceof Refusal) return { kind: 'none', why: made.message };
  await using ways = made;
  if (ways.lost.length > 0) return { kind: 'none', why: ways.lost.join('; ') };
  try {
    return { kind: 'led', foreseen: await foresee(intent, { ...asked, reach: reachThrough(asked, ways) }) };
  } catch (error) {
    if (!(error instanceof OutOfReach)) throw error;
    return { kind: 'none', why: error.message };
  }
}

/** What would be said from here would be wrong. */
class OutOfReach extends Refusal {}

export async function intentFor(name: string, asked: Asked, file: string | undefined): Promise<Intent> {
  const { kube, namespace, stop } = asked;
  if (file === undefined) return { kind: 'keep', cluster: await clusterNamed(name, asked) };
  const desired = await clusterInFile(file, { namespace, name });
  const live = await kube.get<EtcdCluster>(resources.clusters, namespace, name, { signal: stop });
  if (!live) return { kind: 'create', cluster: desired };
  const isSame = isDeepStrictEqual(live.spec, desired.spec);
  return isSame ? { kind: 'keep', cluster: live } : { kind: 'update', cluster: live, desired };
}

/** @param approved it goes on as if another person had approved */
export async function foresee(
  intent: Intent,
  asked: Asked,
  { approved = false }: { readonly approved?: boolean } = {},
): Promise<{ readonly made: ClusterPlan; readonly unread: Unread }> {
  const { kube, reach, namespace, stop } = asked;
  const unread = nothingUnread();
  const context = {
    kube: notingKube(kube, unread),
    etcd: async (...tls: Parameters<typeof reach.etcd>) => notingEtcd(await reach.etcd(...tls), unread),
    wire: reach.wire,
    holder: { pod: 'kubectl-ratchet/plan', uid: 'plan' },
    nonce: () => randomBytes(16).toString('hex'),
    signal: abortAfter(patience, stop),
    approved,
  };
  const [made] = await planClusters(context, { namespace, intents: [intent] });
  if (!made?.planned) throw new Refusal(`no plan can be made: ${made?.problem ?? 'nothing was found'}`);
  const [[endpoint, cause] = []] = unread.silent;
  if (intent.kind !== 'create' && isOutOfReach(intent.cluster, unread)) {
    throw new OutOfReach(
      endpoint === undefined
        ? `${blind(unread)}, so no member can be asked, and what is said from here would be wrong`
        : `etcd-ratchet reaches the members, and this machine does not (${endpoint}: ${cause}): what is said from here would be wrong`,
    );
  }
  return { made, unread };
}

function blind({ forbidden }: Unread): string {
  return forbidden.size === 0 ? 'no member was asked' : `you may not read ${[...forbidden].join(', ')}`;
}

export function dataOf({ forbidden, silent }: Unread) {
  return { forbidden: [...forbidden], silent: [...silent].map(([endpoint, cause]) => ({ endpoint, cause })) };
}

export function tell({ forbidden, silent }: Unread, { err }: Asked): void {
  if (forbidden.size > 0) err(`you may not read ${[...forbidden].join(', ')}: what depends on them is unknown here\n`);
  for (const [endpoint, cause] of silent) err(`${endpoint} did not answer: ${printable(cause)}\n`);
}

function show(made: ShownCluster, data: object, { out, output }: Asked): void {
  if (output === 'text') out(`${clusterPlanText(made).split('\n').map(printable).join('\n')}\n`);
  else out(dataText(data, output));
}

export function codeOf({ planned }: ShownCluster): 0 | 3 | 4 {
  if (planned?.end.kind === 'refused' || planned?.end.kind === 'circles') return 3;
  return planned?.end.kind === 'done' && planned.steps.length === 0 ? 0 : 4;
}
