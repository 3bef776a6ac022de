import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import { compareVersions, isVersion, parseVersion } from '../../../../manifests/api/version.ts';
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../../manifests/kube-types.ts';
import { podName } from '../../../../manifests/render/names.ts';
import { EtcdError } from '../../../interfaces/etcd.ts';
import { resources } from '../../../interfaces/kube.ts';
import { mayGoBackTo } from '../../know/versions/versions-run.ts';
import { slotsOf } from '../../observe/slots.ts';
import { listOursAnd } from '../actions/context.ts';
import type { Live } from './live.ts';
import { defineRequest } from './request.ts';

/**
 * Whether a member that ran a higher minor may start on this version: another member never ran the higher one, nor can
 * come up on it meanwhile, and no member that answers says that the cluster version has moved.
 */
export const askMayGoBackTo = defineRequest('askMayGoBackTo', {
  words: ({ version }: { readonly version: string }) => `sees whether the cluster may go back to ${version}`,
  live: async ({ version }, live): Promise<boolean> => {
    const { cluster } = live;
    const slots = slotsOf({ cluster, configMaps: [], ...(await liveObjects(live)) });
    if (!mayGoBackTo(version, { cluster, slots })) return false;
    return !(await clusterVersions(live)).some((found) => isAbove(found, version));
  },
  model: (state, { version }, host) => {
    const told = host.etcd.version(state);
    const moved = told !== undefined && isAbove(told, version);
    return { state, answer: !moved && mayGoBackTo(version, host.looked(state)) };
  },
});

async function liveObjects(live: Live) {
  const names = (live.cluster.status?.members ?? []).map(({ name }) => name);
  const [peers, volumeClaims, statefulSets, pods] = await Promise.all([
    listOursAnd<EtcdPeer>(live, resources.peers, names),
    listOursAnd<PersistentVolumeClaim>(live, resources.volumeClaims, names),
    listOursAnd<StatefulSet>(live, resources.statefulSets, names),
    listOursAnd<Pod>(live, resources.pods, names.map(podName)),
  ]);
  return { peers, volumeClaims, statefulSets, pods };
}

/** As every member that answers knows it: one that lags may not know yet that it moved. */
async function clusterVersions({ etcd: { endpoints: ways }, etcdNow, signal }: Live): Promise<readonly string[]> {
  if (ways.size === 0) return [];
  const { etcd, endpoints } = await etcdNow();
  const answers = endpoints.map(async (endpoint) => {
    try {
      return [(await etcd.version(endpoint, { signal })).cluster];
    } catch (error) {
      if (error instanceof EtcdError) return [];
      throw error;
    }
  });
  return (await Promise.all(answers)).flat();
}

function isAbove(clusterVersion: string, version: string): boolean {
  if (!isVersion(clusterVersion)) return false;
  const { major, minor } = parseVersion(version);
  return compareVersions(parseVersion(clusterVersion), { major, minor, patch: 0 }) > 0;
}
