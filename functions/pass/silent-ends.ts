import type { ConfigMap, Pod } from '../../manifests/kube-types.ts';
import type { Holder } from '../../reconcile/cluster/know/holder.ts';
import { type Kube, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import type { Shard } from '../../reconcile/stepping/shard.ts';
import { sharing } from '../../reconcile/stepping/sharing.ts';
import type { Log } from '../log.ts';

/**
 * Invocations that ended without a word of their own, as one does that runs out of memory. The next ones put on record
 * which clusters they are about to ask; those on the record of one that ended so are asked last, each alone.
 */

/** On pods of the installation, whatever made them. */
const ours = 'app.kubernetes.io/name=etcd-ratchet';

/** So long after it, others take care. Milliseconds. */
const careMs = 300_000;

/** More are not kept on record: it is a ConfigMap. Those that are left out are asked as ever. */
const mostOnRecord = 1_000;

/** As POSIX has it: with 128 and more, a signal ended the process. It answers SIGTERM with a code of its own. */
function isSilent(exitCode: number): boolean {
  return exitCode > 128 && exitCode !== 143;
}

/** The pods of ended Jobs go after ten minutes; of more of them the records are not looked at. */
const mostEnds = 20;

export interface Care {
  /** Those that were being asked, by their keys; the one that was asked alone longest ago first. */
  readonly suspects: readonly string[];
  /** Resolves once it is on record that this cluster is about to be asked. */
  readonly asking: (cluster: string) => Promise<Disposable>;
  /** Of a suspect that was asked, and nothing ended: the next pass begins with those that are left. */
  readonly clear: (cluster: string) => Promise<void>;
  /** What those before left on record counts no more. */
  readonly forget: () => Promise<void>;
}

export interface CareContext {
  readonly kube: Kube;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly holder: Holder;
  /** The namespace of the installation. */
  readonly home: string;
  readonly shard?: Shard | undefined;
}

/** `undefined`: none ended so of late. Never throws for what the API server says: then the pass goes on as ever. */
export function careAfterSilence(context: CareContext): Promise<Care | undefined> {
  const { kube, log, shard, signal, home } = context;
  return goingOn(log, 'whether an invocation ended without a word is not known', async () => {
    const failed = await failedPods({ kube, home, signal });
    const now = kube.now() ?? new Date();
    const ended = failed
      .filter((pod) => !isOfAnother(pod, shard))
      .flatMap((pod) => silentEnd(pod, now))
      .toSorted((a, b) => b.at - a.at);
    const [last] = ended;
    if (!last) return undefined;
    const left = await recordsOf(context, ended);
    const suspects = left[0] ? onRecord(left[0]) : [];
    log({ pod: last.pod, suspects: suspects.length }, `${last.pod} ended without a word (${last.why}): taking care`);
    return takingCare(context, suspects, left);
  });
}

/** What the API server refuses is only logged. */
async function goingOn<T>(log: Log, without: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, without);
    return undefined;
  }
}

/** Which of several it is that share out a pass, as Kubernetes tells of a pod. */
function indexOf({ metadata }: Pod): number | undefined {
  const index = metadata.labels?.['batch.kubernetes.io/job-completion-index'];
  return index === undefined ? undefined : Number(index);
}

/** What was asked there, others step. */
function isOfAnother(pod: Pod, shard: Shard | undefined): boolean {
  const index = indexOf(pod);
  return shard !== undefined && index !== undefined && index !== shard.index && !shard.missing.includes(index);
}

/** The shards that ended without a word of late: what ended them would end others. @throws {KubeError} */
export async function silentShards({
  kube,
  home,
  signal,
}: Pick<CareContext, 'kube' | 'home' | 'signal'>): Promise<ReadonlySet<number>> {
  const failed = await failedPods({ kube, home, signal });
  const now = kube.now() ?? new Date();
  return new Set(failed.filter((pod) => silentEnd(pod, now).length > 0).flatMap((pod) => indexOf(pod) ?? []));
}

async function failedPods({ kube, home, signal }: Pick<CareContext, 'kube' | 'home' | 'signal'>) {
  const options = { namespace: home, labelSelector: ours, fieldSelector: 'status.phase=Failed', whole: true, signal };
  return (await kube.list<Pod>(resources.pods, options)).items;
}

interface SilentEnd {
  readonly pod: string;
  readonly at: number;
  readonly why: string;
}

function silentEnd({ metadata, status }: Pod, now: Date): SilentEnd[] {
  const ends = (status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated ?? []);
  return ends.flatMap(({ exitCode, reason, finishedAt = '' }) => {
    const at = Date.parse(finishedAt);
    if (!isSilent(exitCode) || !(now.getTime() - at < careMs)) return [];
    return [{ pod: metadata.name, at, why: `${reason ?? 'Error'}, exit code ${exitCode}` }];
  });
}

function recordOf(pod: string): string {
  return `${pod.slice(0, 240)}-asking`;
}

/** What they left on record, the last one's first: one that ended early left none. @throws {KubeError} */
async function recordsOf(
  { kube, home, signal }: CareContext,
  ends: readonly SilentEnd[],
): Promise<readonly ConfigMap[]> {
  const found = await Promise.all(
    ends
      .slice(0, mostEnds)
      .map(({ pod }) => kube.get<ConfigMap>(resources.configMaps, home, recordOf(pod), { signal })),
  );
  return found.filter((one) => one !== undefined);
}

/** Those that it had not asked alone yet come before those that it had just begun to ask. */
function onRecord({ data = {} }: ConfigMap): readonly string[] {
  const [suspects, asking] = [lines(data.suspects), lines(data.asking)];
  return [...new Set([...suspects.filter((one) => !asking.includes(one)), ...asking])];
}

function recordData(suspects: ReadonlySet<string>, asking: ReadonlySet<string> = new Set()) {
  return { suspects: [...suspects].slice(0, mostOnRecord).join('\n'), asking: [...asking].join('\n') };
}

function lines(text = ''): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function takingCare(context: CareContext, suspects: readonly string[], left: readonly ConfigMap[]): Care {
  const { kube, log, signal, home } = context;
  const waiting = new Set(suspects);
  let [last] = left;
  const remove = ({ metadata: { name, uid = '' } }: ConfigMap) =>
    kube.delete(resources.configMaps, home, name, { preconditions: { uid }, signal });
  const asking = new Set<string>();
  const write = recorder(context, () => recordData(waiting, asking));
  return {
    suspects,
    asking: async (cluster) => {
      asking.add(cluster);
      await write();
      return { [Symbol.dispose]: () => void asking.delete(cluster) };
    },
    clear: async (cluster) => {
      waiting.delete(cluster);
      const record = last;
      if (!record) return;
      const data = recordData(waiting);
      const written = await goingOn(log, 'the record of an invocation that ended without a word stays as it is', () =>
        kube.update<ConfigMap>(resources.configMaps, { ...record, data }, { signal }),
      );
      last = written ?? record;
    },
    forget: async () => {
      await goingOn(log, 'the record of an invocation that ended without a word stays', () =>
        Promise.all(left.map(remove)),
      );
    },
  };
}

/** One write at a time; all who come while one is under way share the next. What can't be written is only logged. */
function recorder({ kube, log, signal, home, holder }: CareContext, data: () => Readonly<Record<string, string>>) {
  const pod = holder.pod.split('/').at(-1) ?? '';
  let kept: ConfigMap | undefined;
  return sharing(async () => {
    const wanted = { ...(kept ?? emptyRecord(home, pod, holder.uid)), data: data() };
    const written = await goingOn(log, 'which clusters are about to be asked is not on record', () =>
      kept
        ? kube.update<ConfigMap>(resources.configMaps, wanted, { signal })
        : kube.create<ConfigMap>(resources.configMaps, wanted, { signal }),
    );
    kept = written ?? kept;
  });
}

/** Goes with the pod whose record it is. */
function emptyRecord(namespace: string, pod: string, uid: string): ConfigMap {
  return {
    apiVersion: resources.configMaps.apiVersion,
    kind: resources.configMaps.kind,
    metadata: {
      name: recordOf(pod),
      namespace,
      labels: { 'app.kubernetes.io/name': 'etcd-ratchet' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: pod, uid }],
    },
  };
}
