import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { resources } from '../../reconcile/kube.ts';
import { byUrgency, clusterState } from '../page/state.ts';
import type { Asked, ExitCode } from './command.ts';
import { dataText } from './objects.ts';
import { table } from './table.ts';
import { inShort, since, stateCell } from './words.ts';

interface StatusOptions {
  readonly allNamespaces: boolean;
  readonly exitCode: boolean;
}

/** All clusters at a glance, those that need a person first. */
export async function status(asked: Asked, { allNamespaces, exitCode }: StatusOptions): Promise<ExitCode> {
  const { kube, out, output, colours, stop } = asked;
  const namespace = allNamespaces ? undefined : asked.namespace;
  const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace, signal: stop });
  const clusters = byUrgency(items, clusterState);
  if (output !== 'text') out(dataText({ clusters: clusters.map(facts) }, output));
  else if (clusters.length === 0) asked.err(`there is no EtcdCluster in ${where(namespace)}\n`);
  else {
    const heads = ['NAMESPACE', 'NAME', 'STATE', 'READY', 'VERSION', 'LEADER', 'AGE', 'MESSAGE'];
    const rows = clusters.map((cluster) => row(cluster, asked.now()));
    out(table(allNamespaces ? heads : heads.slice(1), allNamespaces ? rows : rows.map((one) => one.slice(1)), colours));
  }
  return exitCode && clusters.some((cluster) => clusterState(cluster).tone === 'bad') ? 3 : 0;
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
