import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { compareVersions, isVersion, parseVersion } from '../../../manifests/api/version.ts';
import { podName } from '../../../manifests/build/names.ts';
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { EtcdError } from '../../etcd.ts';
import { resources } from '../../kube.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { podView, slotsOf } from '../slots.ts';
import { hasRunHigher, mayGoBackTo } from '../versions-run.ts';
import { type ActContext, listOursAnd } from './context.ts';
import { noteRan } from './note-versions.ts';

/**
 * Guards I6, just before a member is given, or started on, a version: its pod did not run a higher minor; or another member
 * never did, nor can come up on it meanwhile, and nobody who answers says that the cluster version has moved. Then the volume is told
 * what ran: the pod that shows it goes.
 *
 * @throws {StepError} otherwise.
 */
export async function clearToRun(
  pod: Pod | undefined,
  peer: EtcdPeer,
  version: string,
  context: ActContext,
): Promise<void> {
  const seen = pod && podView(pod, undefined);
  const ran = seen?.version;
  if (ran === undefined || !hasRunHigher(seen, version)) return;
  const { name } = peer.metadata;
  const no = () => moved(`${name} has run etcd ${ran}, and may not go back to ${version}`);
  const { cluster } = context;
  const slots = slotsOf({ cluster, configMaps: [], ...(await liveObjects(context)) });
  if (!mayGoBackTo(version, { cluster, slots })) throw no();
  if ((await clusterVersions(context)).some((found) => isAbove(found, version))) throw no();
  await noteRan(name, ran, context);
}

async function liveObjects(context: ActContext) {
  const names = (context.cluster.status?.members ?? []).map(({ name }) => name);
  const [peers, volumeClaims, statefulSets, pods] = await Promise.all([
    listOursAnd<EtcdPeer>(context, resources.peers, names),
    listOursAnd<PersistentVolumeClaim>(context, resources.volumeClaims, names),
    listOursAnd<StatefulSet>(context, resources.statefulSets, names),
    listOursAnd<Pod>(context, resources.pods, names.map(podName)),
  ]);
  return { peers, volumeClaims, statefulSets, pods };
}

/** As every member that answers knows it: one that lags may not know yet that it moved. */
async function clusterVersions({ etcd: way, signal }: ActContext): Promise<readonly string[]> {
  if (way.endpoints.size === 0) return [];
  return withEtcd(way, async (etcd, endpoints) => {
    const answers = endpoints.map(async (endpoint) => {
      try {
        return [(await etcd.version(endpoint, { signal })).cluster];
      } catch (error) {
        if (error instanceof EtcdError) return [];
        throw error;
      }
    });
    return (await Promise.all(answers)).flat();
  });
}

function isAbove(clusterVersion: string, version: string): boolean {
  if (!isVersion(clusterVersion)) return false;
  const { major, minor } = parseVersion(version);
  return compareVersions(parseVersion(clusterVersion), { major, minor, patch: 0 }) > 0;
}
