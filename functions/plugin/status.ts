import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { isReason, resources } from '../../reconcile/interfaces/kube.ts';
import { byUrgency, clusterState, fleetState } from '../page/state.ts';
import type { Asked, ExitCode } from './command.ts';
import { dataText, refuseMissing } from './objects.ts';
import { table } from './table.ts';
import { inShort, since, stateCell } from './words.ts';

interface StatusOptions {
  readonly allNamespaces: boolean;
  readonly exitCode: boolean;
}

/** All clusters, those that need a person first, and the fleets that are not well: why a commit is not applied. */
export async function status(asked: Asked, { allNamespaces, exitCode }: StatusOptions): Promise<ExitCode> {
  const { kube, out, output, colours, stop } = asked;
  const namespace = allNamespaces ? undefined : asked.namespace;
  const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace, signal: stop });
  if (namespace !== undefined && items.length === 0) await refuseMissing({ kube, namespace, stop });
  const clusters = byUrgency(items, clusterState);
  const fleets = byUrgency(await fleetsIn(namespace, asked), fleetState);
  if (output !== 'text') out(dataText({ clusters: clusters.map(facts), fleets: fleets.map(factsOfFleet) }, output));
  else if (clusters.length === 0) asked.err(`there is no EtcdCluster in ${where(namespace)}\n`);
  else {
    const heads = ['NAMESPACE', 'NAME', 'STATE', 'READY', 'VERSION', 'LEADER', 'AGE', 'MESSAGE'];
    const rows = clusters.map((cluster) => row(cluster, asked.now()));
    out(table(allNamespaces ? heads : heads.slice(1), allNamespaces ? rows : rows.map((one) => one.slice(1)), colours));
  }
  const unwell = fleets.filter((fleet) => fleetState(fleet).tone !== 'good');
  if (output === 'text' && unwell.length > 0)
    out(`${clusters.length > 0 ? '\n' : ''}${table(['FLEET', 'STATE', 'MESSAGE'], unwell.map(rowOfFleet), colours)}`);
  const states = [...clusters.map(clusterState), ...fleets.map(fleetState)];
  return exitCode && states.some(({ tone }) => tone === 'bad') ? 3 : 0;
}

/** A person may be allowed to see the clusters of a namespace, and not its fleets. */
async function fleetsIn(namespace: string | undefined, { kube, stop }: Asked): Promise<readonly EtcdFleet[]> {
  try {
    return (await kube.list<EtcdFleet>(resources.fleets, { namespace, signal: stop })).items;
  } catch (error) {
    if (isReason(error, 'Forbidden')) return [];
    throw error;
  }
}

function rowOfFleet(fleet: EtcdFleet) {
  const state = fleetState(fleet);
  return [`${fleet.metadata.namespace}/${fleet.metadata.name}`, stateCell(state), inShort(state.message)];
}

function factsOfFleet(fleet: EtcdFleet) {
  const { word, reason, message } = fleetState(fleet);
  return { namespace: fleet.metadata.namespace, name: fleet.metadata.name, state: word, reason, message };
}

function where(namespace: string | undefined): string {
  return namespace === undefined ? 'any namespace' : `namespace ${namespace}; look into all of them with -A`;
}

function row(cluster: EtcdCluster, now: Date) {
  const { metadata, spec, status: told } = cluster;
  const state = clusterState(cluster);
  const asked = spec.version.replace(/^v/, '');
  const version = told?.version === undefined || told.version === asked ? asked : `${told.version} -> ${asked}`;
  return [
    metadata.namespace ?? '',
    metadata.name,
    stateCell(state),
    `${told?.readyReplicas ?? 0}/${spec.replicas}`,
    version,
    told?.leader ?? '-',
    since(metadata.creationTimestamp, now),
    state.tone === 'good' ? '' : inShort(state.message),
  ];
}

function facts(cluster: EtcdCluster) {
  const { metadata, spec, status: told } = cluster;
  const { word, reason, message } = clusterState(cluster);
  return {
    ...{ namespace: metadata.namespace, name: metadata.name, state: word, reason, message },
    ...{
      replicas: spec.replicas,
      readyReplicas: told?.readyReplicas ?? 0,
      version: told?.version,
      leader: told?.leader,
    },
  };
}
