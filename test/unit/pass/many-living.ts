import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { namespace, type World } from '../../support/world/world.ts';

const uids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const hosts = new RegExp(String.raw`\b${namespace}\b`, 'g');
/** Of a pod of the world, and of one of a copy, which has the number of the copy there. */
const addresses = /\b10\.244\.(\d+\.\d+)\b/g;
const copied = /\b10\.(\d)\.(\d+\.\d+)\b/g;

export interface Living {
  readonly kube: FakeKube;
  readonly etcd: EtcdAdmin;
}

/**
 * So many like the one of the world, each in a namespace of its own, and all of their members answer. What becomes of a
 * first step is not played.
 */
export function manyLiving(world: World, many: number): Living {
  const kube = createFakeKube({ clock: () => new Date(world.now()) });
  for (const resource of Object.values(resources).filter((one) => !('clusterScoped' in one)))
    for (let n = 0; n < many; n += 1)
      kube.seed(resource, ...world.kube.stored<KubeObject>(resource).map((one) => asOf(n, one)));
  return { kube: withController(kube), etcd: answeringForAll(etcdOf(world.state)) };
}

/** Each StatefulSet that is changed is seen by its controller at once, which makes no pod anew. */
export function withController(kube: FakeKube): FakeKube {
  const update: FakeKube['update'] = async (resource, object, options) => {
    const written = await kube.update(resource, object, options);
    if (resource.plural !== resources.statefulSets.plural) return written;
    const { generation: observedGeneration = 0 } = written.metadata;
    const seen = { observedGeneration, updateRevision: `of generation ${observedGeneration}` };
    const before = written as KubeObject & { readonly status?: object };
    return (await kube.updateStatus(resource, {
      ...before,
      status: { ...before.status, ...seen },
    })) as KubeObject as typeof written;
  };
  return { ...kube, update };
}

function asOf<T>(n: number, value: T): T {
  return mapped(value, (text) =>
    text
      .replace(uids, (uid) => `${n + 1}${uid.slice(1)}`)
      .replace(hosts, `team-${n}`)
      .replace(addresses, `10.${n}.$1`),
  );
}

/** Asked at the address of a copy, as its member would answer. */
function answeringForAll(etcd: EtcdAdmin): EtcdAdmin {
  const calls = Object.entries(etcd).map(([name, call]) => [
    name,
    async (asked: unknown, ...rest: readonly unknown[]) => {
      let n = 0;
      const original = mapped(asked, (text) =>
        text.replace(copied, (_, of, host) => {
          n = Number(of);
          return `10.244.${host}`;
        }),
      );
      return asOf(n, await (call as (...args: readonly unknown[]) => Promise<unknown>)(original, ...rest));
    },
  ]);
  return Object.fromEntries(calls) as EtcdAdmin;
}

function mapped<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((one) => mapped(one, change)) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [mapped(key, change), mapped(one, change)])) as T;
}
