import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { logJob } from '../../../manifests/render/log-job.ts';
import {
  labels,
  labelsOf,
  podName,
  recoveryJobName,
  recoveryPodLabels,
  restoreJobName,
  restorePodLabels,
} from '../../../manifests/render/names.ts';
import type { NewLife } from '../../../manifests/render/new-life.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { restoreJob } from '../../../manifests/render/restore-job.ts';
import { wishOf } from '../../../manifests/render/snapshot-id.ts';
import {
  askQuorum,
  askRemains,
  askWhatRuns,
  seeWhereTheyRun,
} from '../../../reconcile/cluster/act/requests/before-recovery.ts';
import { livePeer } from '../../../reconcile/cluster/act/requests/objects.ts';
import {
  askRestoresEnded,
  createLogJob,
  createRecoveryJob,
  createRestoreJob,
  deleteJob,
  readAttempt,
} from '../../../reconcile/cluster/act/requests/recovery.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Contracts, type Difference, othersAct } from './contract.ts';
import type { Doing } from './doing.ts';
import { type MemberStart, member } from './members.ts';
import { anew, bereft, name, onEachMinor, silent, steady } from './running.ts';
import { clusterName, type Scene } from './scene.ts';

const id = '0123456789ab';
const recoveryPod = `${recoveryJobName(name)}-x`;
const job = { object: 'job', name: recoveryJobName(name) } as const satisfies Pick<Doing, 'object' | 'name'>;

interface RecoveryStart {
  /** Of the Job that there is, if any. */
  readonly attempt?: number;
  /** It makes a new life. */
  readonly begins?: true;
  /** Of somebody else, or of an earlier peer, though it says the same. */
  readonly owner?: 'none' | 'earlier';
  readonly pod?: 'ready' | 'not ready';
}

/** A volume that the cluster is to go on from, and its peer. */
const recovering =
  ({ attempt, owner, pod, begins }: RecoveryStart = {}) =>
  async (scene: Scene) => {
    const recovery = { id, attempt: 1, lastSeenOn: {} };
    await member(scene, { upTo: 'peer', record: { state: 'recovering', recovery } });
    if (attempt !== undefined) await jobOf(scene, attempt, { ...(owner && { owner }), ...(begins && { begins }) });
    if (pod === undefined) return;
    const of = { ...recoveryPodLabels(clusterName), 'batch.kubernetes.io/job-name': job.name };
    await podNamed(scene, recoveryPod, of, { isReady: pod === 'ready' });
  };

const newLife = { token: 'another', bump: 1000 };

async function jobOf(scene: Scene, attempt: number, { owner, begins }: RecoveryStart): Promise<void> {
  const order = { image: 'ratchet', id, attempt, withoutCopy: false, ...(begins && { begins: newLife }) };
  const made = recoveryJob(await scene.read<EtcdPeer>('peer', name), order, {});
  const earlier = (made.metadata.ownerReferences ?? []).map((one) => ({ ...one, uid: 'earlier' }));
  const ownerReferences = owner === 'earlier' ? earlier : [];
  await scene.make<Job>(resources.jobs, owner ? { ...made, metadata: { ...made.metadata, ownerReferences } } : made);
}

async function podNamed(
  scene: Scene,
  called: string,
  of: Readonly<Record<string, string>>,
  { node, isReady = false, phase = 'Running', job }: NamedPod = {},
): Promise<void> {
  const spec = { containers: [{ name: 'etcd', image: 'etcd' }], ...(node !== undefined && { nodeName: node }) };
  const conditions = isReady ? [{ type: 'Ready', status: 'True' }] : [];
  const ownerReferences = job && [
    { apiVersion: 'batch/v1', kind: 'Job', name: job.name, uid: job.uid, controller: true },
  ];
  const object = { metadata: { name: called, labels: of, ...(ownerReferences && { ownerReferences }) }, spec } as Pod;
  await scene.makeWithStatus<Pod>(resources.pods, object, { phase, conditions });
}

interface NamedPod {
  readonly node?: string;
  readonly isReady?: boolean;
  readonly phase?: 'Running' | 'Succeeded' | 'Failed';
  /** Controls it. */
  readonly job?: { readonly name: string; readonly uid: string };
}

const on = (node: string, ordinal = 0): MemberStart => ({ ordinal, pod: { node } });

async function two(scene: Scene): Promise<void> {
  await member(scene, on('node-0'));
  await member(scene, on('node-1', 1));
}

/** A person has given a member's label to a pod of another name, which comes after the member's own. */
async function twice(scene: Scene): Promise<void> {
  await member(scene, on('node-0'));
  await podNamed(scene, 'z-debug', { ...labelsOf(clusterName), [labels.peer]: name }, { node: 'node-9' });
}

async function unlabelled(scene: Scene): Promise<void> {
  await member(scene, on('node-0'));
  const pod = await scene.read<Pod>('pod', name);
  await scene.kube.update(resources.pods, { ...pod, metadata: { ...pod.metadata, labels: {} } });
  const found = await scene.read<EtcdCluster>('cluster', clusterName);
  const status = { observedGeneration: 1, members: [{ name, healthy: true }] } as never;
  await scene.kube.updateStatus<EtcdCluster>(resources.clusters, { ...found, status });
}

function* created(attempt = 1, begins?: NewLife) {
  const { readAt: peer } = yield* livePeer(name);
  yield* othersAct();
  return yield* createRecoveryJob({ peer, id, attempt, withoutCopy: false, begins });
}

const sealed = (scene: Scene) => member(scene, { pod: { node: 'node-0' } });

const readIn = (situation: string) => async (scene: Scene) => {
  await sealed(scene);
  await scene.make<Job>(
    resources.jobs,
    logJob(await scene.read<EtcdPeer>('peer', name), { image: 'ratchet', situation }),
  );
};

function* logRead() {
  const { readAt: peer } = yield* livePeer(name);
  yield* othersAct();
  return yield* createLogJob({ peer, situation: '0123456789' });
}

const snapshot = { object: 'gs://backups/orders/a.db' };
const wish = wishOf(snapshot);

interface RestoreStart {
  /** Of the Job that there is, if any. */
  readonly attempt?: number;
  readonly state?: 'Complete' | 'Failed';
  readonly object?: string;
  readonly trial?: true;
}

/** A volume that a snapshot is to be restored to, its peer, and a spec that names it. */
const restoring =
  ({ attempt, state, object = snapshot.object, trial }: RestoreStart = {}) =>
  async (scene: Scene) => {
    await member(scene, {
      upTo: 'peer',
      record: { state: 'restoring', recovery: { id: wish, attempt: 1, lastSeenOn: {} } },
    });
    const cluster = await scene.read<EtcdCluster>('cluster', clusterName);
    const spec = { ...cluster.spec, bootstrap: { snapshot: { object } } };
    await scene.kube.update<EtcdCluster>(resources.clusters, { ...cluster, spec });
    if (attempt === undefined) return;
    const order = { image: 'ratchet', snapshot, id: wish, attempt, token: 'token', bump: 1000, trial };
    const made = restoreJob(await scene.read<EtcdPeer>('peer', name), order, {});
    const now = new Date().toISOString();
    const conditions = state ? [{ type: state, status: 'True' as const, lastTransitionTime: now }] : [];
    await scene.makeWithStatus<Job>(resources.jobs, made, { conditions });
  };

function* restoreCreated(attempt = 1, trial?: true) {
  const { readAt: peer } = yield* livePeer(name);
  yield* othersAct();
  return yield* createRestoreJob({ peer, id: wish, attempt, token: 'token', bump: 1000, trial });
}

const restorePod = `${restoreJobName(name)}-x`;
const readRestore = () => readAttempt({ name, pod: restorePod, work: 'restore' });

const restoredIn = (phase: NonNullable<NamedPod['phase']>) => async (scene: Scene) => {
  await restoring({ attempt: 1 })(scene);
  const { metadata } = await scene.read<Job>('job', restoreJobName(name));
  const job = { name: metadata.name, uid: metadata.uid ?? '' };
  await podNamed(scene, restorePod, restorePodLabels(clusterName), { phase, job });
};

function* restoreDeleted() {
  const found = yield* readRestore();
  if (!found.job) throw moved('there is no Job');
  return yield* deleteJob({ name, uid: found.job.uid, work: 'restore' });
}

function* deleted() {
  const found = yield* readAttempt({ name, pod: recoveryPod });
  if (!found.job) throw moved('there is no Job');
  yield* othersAct();
  return yield* deleteJob({ name, uid: found.job.uid });
}

const read = () => readAttempt({ name, pod: recoveryPod });

const logsGrow: Difference = {
  because: 'every question behind a barrier adds an entry',
  not: ['answer.logs.*.raftIndex'],
};
const namesOnly: Difference = { because: 'an observation does not tell whose Job it is', model: 'well' };

export const recovery = {
  askQuorum: onEachMinor((version) => [
    { when: 'all answer', start: steady(version), asks: () => askQuorum({}) },
    { when: 'one of two is left', start: bereft(version), asks: () => askQuorum({}) },
    { when: 'none answers', start: silent, asks: () => askQuorum({}) },
    { when: 'none runs', asks: () => askQuorum({}) },
  ]),
  askRemains: onEachMinor((version) => [
    { when: 'all answer', start: steady(version), asks: () => askRemains({}), differs: logsGrow },
    { when: 'one of two is left', start: bereft(version), asks: () => askRemains({}) },
    { when: 'one of two is left, and was started anew', start: anew(version), asks: () => askRemains({}) },
    { when: 'none answers', start: silent, asks: () => askRemains({}) },
    { when: 'none runs', asks: () => askRemains({}) },
  ]),
  seeWhereTheyRun: [
    { when: 'two run', start: two, asks: () => seeWhereTheyRun({ known: {} }) },
    { when: 'one is known', start: two, asks: () => seeWhereTheyRun({ known: { [name]: ['node-0'] } }) },
    { when: 'one was elsewhere', start: two, asks: () => seeWhereTheyRun({ known: { [name]: ['node-7'] } }) },
    { when: 'one has no node yet', asks: () => seeWhereTheyRun({ known: {} }) },
    { when: 'one has lost its labels', start: unlabelled, asks: () => seeWhereTheyRun({ known: {} }) },
    {
      when: 'a pod of another name bears its label',
      start: twice,
      asks: () => seeWhereTheyRun({ known: { [name]: ['node-9'] } }),
    },
    {
      when: 'the pod of a recovery runs',
      start: recovering({ pod: 'ready' }),
      asks: () => seeWhereTheyRun({ known: {} }),
    },
  ],
  askWhatRuns: [
    { when: 'it runs', asks: () => askWhatRuns({ name }) },
    {
      when: 'a pod may be made at any moment',
      start: (scene) => member(scene, { upTo: 'statefulSet' }),
      asks: () => askWhatRuns({ name }),
    },
    {
      when: 'its pod goes on by itself',
      start: (scene) => podNamed(scene, podName(name), labelsOf(clusterName)),
      asks: () => askWhatRuns({ name }),
    },
    { when: 'nothing does', start: (scene) => member(scene, { upTo: 'configMap' }), asks: () => askWhatRuns({ name }) },
  ],
  askRestoresEnded: [
    { when: 'there is no pod', start: restoring({ attempt: 1 }), asks: () => askRestoresEnded({ name }) },
    ...(['Running', 'Succeeded', 'Failed'] as const).map((phase) => ({
      when: `its pod is ${phase}`,
      start: restoredIn(phase),
      asks: () => askRestoresEnded({ name }),
    })),
    {
      when: 'a pod of an earlier attempt runs beside it',
      start: async (scene: Scene) => {
        await restoredIn('Succeeded')(scene);
        await podNamed(scene, `${restorePod}-earlier`, restorePodLabels(clusterName));
      },
      asks: () => askRestoresEnded({ name }),
    },
  ],
  readAttempt: [
    { when: 'the pod of a restore has succeeded', start: restoredIn('Succeeded'), asks: readRestore },
    { when: 'its pod is ready', start: recovering({ attempt: 1, pod: 'ready' }), asks: read },
    { when: 'its pod is not ready', start: recovering({ attempt: 1, pod: 'not ready' }), asks: read },
    { when: 'it has no pod yet', start: recovering({ attempt: 2 }), asks: read },
    { when: 'its Job is gone, and its pod stays', start: recovering({ pod: 'ready' }), asks: read },
    { when: 'there is nothing', start: recovering(), asks: read },
    { when: 'no volume is recovered', asks: read },
    { when: 'its Job makes a new life', start: recovering({ attempt: 1, begins: true }), asks: read },
    { when: 'the Job of a restore runs', start: restoring({ attempt: 1 }), asks: readRestore },
    { when: 'the Job of a restore has a trial', start: restoring({ attempt: 1, trial: true }), asks: readRestore },
    { when: 'a restore asks, and the Job is of a recovery', start: recovering({ attempt: 1 }), asks: readRestore },
  ],
  createRecoveryJob: [
    { when: 'there is none', start: recovering(), asks: () => created() },
    { when: 'there is none, and it makes a new life', start: recovering(), asks: () => created(1, newLife) },
    { when: 'that of this attempt is there', start: recovering({ attempt: 1 }), asks: () => created() },
    {
      when: 'that of another attempt is there',
      start: recovering({ attempt: 1 }),
      asks: () => created(2),
      refused: 'terminal NameTaken',
    },
    {
      when: 'that of an earlier peer is there',
      start: recovering({ attempt: 1, owner: 'earlier' }),
      asks: () => created(),
      refused: 'terminal NameTaken',
      differs: namesOnly,
    },
    {
      when: 'it is of nothing of ours',
      start: recovering({ attempt: 7, owner: 'none' }),
      asks: () => created(),
      refused: 'terminal NameTaken',
    },
    {
      when: 'its peer goes meanwhile',
      start: recovering(),
      others: [{ does: 'deletes', object: 'peer', name }],
      asks: () => created(),
    },
  ],
  createLogJob: [
    { when: 'there is none', start: sealed, asks: () => logRead() },
    { when: 'that of this situation is there', start: readIn('0123456789'), asks: () => logRead() },
    { when: 'that of another situation is there', start: readIn('abcdefabcd'), asks: () => logRead() },
    {
      when: 'another one has its name',
      start: readIn('0123450000'),
      asks: () => logRead(),
      refused: 'terminal NameTaken',
      differs: namesOnly,
    },
    {
      when: 'its peer goes meanwhile',
      start: sealed,
      others: [{ does: 'deletes', object: 'peer', name }],
      asks: () => logRead(),
    },
  ],
  createRestoreJob: [
    { when: 'there is none', start: restoring(), asks: () => restoreCreated() },
    { when: 'there is none, and it has a trial', start: restoring(), asks: () => restoreCreated(1, true) },
    { when: 'that of this attempt is there', start: restoring({ attempt: 1 }), asks: () => restoreCreated() },
    {
      when: 'that of another attempt is there',
      start: restoring({ attempt: 1 }),
      asks: () => restoreCreated(2),
      refused: 'terminal NameTaken',
    },
    {
      when: 'its peer goes meanwhile',
      start: restoring(),
      others: [{ does: 'deletes', object: 'peer', name }],
      asks: () => restoreCreated(),
    },
  ],
  deleteJob: [
    { when: 'it is of a restore', start: restoring({ attempt: 1 }), asks: restoreDeleted },
    { when: 'it is there', start: recovering({ attempt: 1 }), asks: deleted },
    { when: 'its pod is there', start: recovering({ attempt: 1, pod: 'ready' }), asks: deleted },
    {
      when: 'others wrote to it since it was read',
      start: recovering({ attempt: 1 }),
      others: [{ does: 'writes to', ...job }],
      asks: deleted,
    },
    {
      when: 'it is gone by then',
      start: recovering({ attempt: 1 }),
      others: [{ does: 'deletes', ...job }],
      asks: deleted,
    },
    {
      when: 'it is another one of that name',
      start: recovering({ attempt: 1 }),
      asks: () => deleteJob({ name, uid: 'another' }),
      refused: 'precondition Conflict',
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
