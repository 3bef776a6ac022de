import assert from 'node:assert/strict';
import type { PersistentVolumeClaim, Pod } from '../../../../manifests/kube-types.ts';
import { annotations, labels } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import type { Kubectl } from '../../../support/cluster/kubectl.ts';
import { readKey, writeKey } from '../keys.ts';
import type { Scene } from '../scene.ts';
import { until } from '../until.ts';
import { born, type Fields, within } from './story.ts';

/** What the stories of a recovery have in common: a cluster of two, one of which is lost. */

export const ofTwo = { replicas: 2, healing: { podGracePeriod: '5s', memberGracePeriod: '15s' } };

/** Two members with a key; the one that does not lead, which is to be lost. */
export async function serving(scene: Scene, name: string, fields: Fields = {}): Promise<string> {
  const { status } = await born(scene, name, { ...ofTwo, ...fields });
  await writeKey(await scene.access(name), 'precious', 'of both');
  return otherThan(status?.leader ?? assert.fail('no leader'));
}

export async function isKept(scene: Scene, name: string): Promise<void> {
  assert.equal(await readKey(await scene.access(name), 'precious'), 'of both');
}

/** The member from whose data the cluster goes on. */
export async function chosenOf(scene: Scene, name: string): Promise<string> {
  return (await markedIn(scene, name)) ?? assert.fail('no PVC is being recovered');
}

async function markedIn(scene: Scene, name: string): Promise<string | undefined> {
  const claims = await scene.list<PersistentVolumeClaim>(resources.volumeClaims);
  const found = claims.find(
    ({ metadata }) =>
      metadata.labels?.[labels.cluster] === name && metadata.annotations?.[annotations.volumeState] === 'recovering',
  );
  return found?.metadata.name;
}

/**
 * The first step of an approved recovery, and no other: its PVCs are marked, and all members run. Each pass takes one
 * step at the most; on a busy machine the first one may not see yet what it needs to begin.
 */
async function marked(scene: Scene, name: string): Promise<void> {
  await scene.ticksUntil('the PVCs are marked', () => markedIn(scene, name));
}

/** The PVC that a recovery goes on from is deleted after its first step. */
export async function loseMarked(scene: Scene, name: string): Promise<void> {
  await marked(scene, name);
  await loseChosen(scene, name);
}

/** Its pod keeps it for now. */
export async function loseChosen(scene: Scene, name: string): Promise<void> {
  await within(scene, 'delete', 'pvc', await chosenOf(scene, name), '--wait=false');
}

const deadNode = 'example.com/dead-node';

/** As a node that is dead leaves it: its pod is to end, and nothing carries that out. */
export async function hang(scene: Scene, member: string): Promise<void> {
  await setFinalizers(scene, `${member}-0`, [deadNode]);
  await within(scene, 'delete', 'pod', `${member}-0`, '--grace-period=1', '--wait=false');
  await until('etcd has ended in it', async () => {
    const pod = await scene.get<Pod>(resources.pods, `${member}-0`);
    return pod?.status?.containerStatuses?.every(({ state }) => state?.terminated);
  });
}

/** Of two members the one that does not lead. */
export async function hangOne(scene: Scene, name: string): Promise<undefined> {
  await hang(scene, await serving(scene, name));
  return undefined;
}

/** Its node has come back. */
export async function comeBack(scene: Scene): Promise<void> {
  const pods = await scene.list<Pod>(resources.pods);
  for (const { metadata } of pods)
    if (metadata.finalizers?.includes(deadNode)) await setFinalizers(scene, metadata.name, null);
}

async function setFinalizers(scene: Scene, pod: string, finalizers: readonly string[] | null): Promise<void> {
  await within(scene, 'patch', 'pod', pod, '-p', JSON.stringify({ metadata: { finalizers } }));
}

/** The lost member is back after the first step of a recovery, and a quorum answers. */
export async function returned(scene: Scene, name: string): Promise<void> {
  await marked(scene, name);
  await comeBack(scene);
  await until('a quorum answers', async () => (await readKey(await scene.accessNow(name), 'precious')) === 'of both');
}

export async function bothOf(scene: Scene, name: string) {
  const chosen = await chosenOf(scene, name);
  return { MEMBER: chosen, OTHERS: otherThan(chosen) };
}

/** Of the two that were born. */
export function otherThan(member: string): string {
  return member.replace(/[01]$/, (ordinal) => (ordinal === '0' ? '1' : '0'));
}

/** Pods of other stories are on the other nodes: these may be lost. */
const apart = { key: 'apart', operator: 'Exists' } as const;
const toldSoon = {
  key: 'node.kubernetes.io/unreachable',
  effect: 'NoExecute',
  operator: 'Exists',
  tolerationSeconds: 2,
};
export const onNodesApart = {
  podTemplate: {
    spec: { nodeSelector: { apart: 'yes' }, tolerations: [apart, toldSoon], terminationGracePeriodSeconds: 5 },
  },
};

export async function setNodesApart(kubectl: Kubectl): Promise<void> {
  await kubectl(['label', 'nodes', 'node-3', 'node-4', 'apart=yes']);
  await kubectl(['taint', 'nodes', 'node-3', 'node-4', 'apart=yes:NoSchedule']);
}
