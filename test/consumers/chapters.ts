import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../manifests/render/names.ts';
import { condition, isConverged, isReady, isWhole, isWholeOf } from '../e2e/support/conditions.ts';
import { runsOn } from '../e2e/support/life.ts';
import type { Scene } from '../e2e/support/scene.ts';
import { until } from '../e2e/support/until.ts';

/** What happens to a cluster while a real program uses it. */
export interface Chapter {
  readonly what: string;
  happens(): Promise<unknown>;
}

export interface Consumed {
  readonly stage: () => Scene;
  readonly name: string;
  /** Besides what all chapters ask for. */
  readonly tls?: Readonly<Record<string, unknown>>;
  /** Gives the program the certificates that are written down by now. Called again and again while CAs change. */
  renew(): Promise<void>;
  /** What the program says of itself, for an error. */
  words(): string;
}

const healing = { podGracePeriod: '5s', memberGracePeriod: '10s' };

/** Resolves once it is there, of three members. */
export async function born({ stage, name, tls }: Pick<Consumed, 'stage' | 'name' | 'tls'>): Promise<void> {
  await push({ stage, name, ...(tls && { tls }) });
  await stage().tickUntil(name, isConverged);
}

/** In this order. */
export function chaptersOf(consumed: Consumed): readonly Chapter[] {
  const { stage, name, renew, words } = consumed;
  const etcd = { snapshotCount: 5000 };
  return [
    { what: 'born', happens: async () => {} },
    {
      what: 'to 5',
      happens: async () => {
        await push(consumed, { replicas: 5 });
        await stage().tickUntil(name, isWholeOf(5));
      },
    },
    {
      what: 'to 3, with other options',
      happens: async () => {
        await push(consumed, { etcd });
        await stage().tickUntil(name, (found) => isWhole(found) && found.spec.etcd?.snapshotCount === 5000, 240);
      },
    },
    {
      what: 'to 3.7',
      happens: async () => {
        await push(consumed, { etcd, version: '3.7.3' });
        await stage().tickUntil(name, runsOn('3.7.3'), 240);
      },
    },
    {
      what: 'its CAs are rotated',
      happens: async () => {
        const { kubectl, namespace, tickUntil } = stage();
        await kubectl(['-n', namespace, 'annotate', 'etcdcluster', name, `${annotations.rotateCertificates}=now`]);
        let last: EtcdCluster | undefined;
        const follows = async () => {
          await renew();
          last = await tickUntil(name, () => true);
          const rotated = last.status?.certificates?.rotation === 'now';
          return rotated && isReady(last) && condition(last, 'CertificatesReady')?.status === 'True';
        };
        const seen = () => JSON.stringify([last?.status?.lastDecision, words()]);
        await until('only the new CAs are trusted', follows, { within: 240, last: seen });
      },
    },
    {
      what: 'its leader is lost',
      happens: async () => {
        const { kubectl, namespace, tickUntil, cluster } = stage();
        const lost = (await cluster(name)).status?.leader ?? assert.fail('it has no leader');
        await kubectl(['-n', namespace, 'delete', 'pvc', lost, '--wait=false']);
        await kubectl(['-n', namespace, 'delete', 'pod', `${lost}-0`, '--grace-period=1']);
        const isGone = (found: EtcdCluster) => !found.status?.members?.some((one) => one.name === lost);
        await tickUntil(name, (found) => isWhole(found) && isGone(found), 240);
      },
    },
  ];
}

async function push(
  { stage, name, tls }: Pick<Consumed, 'stage' | 'name' | 'tls'>,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await stage().pushCluster(name, { healing, tls: { mode: 'Managed', rotationOverlap: '10s', ...tls }, ...fields });
}
