import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { repositoryFiles } from '../../manifests/documentation.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { toldBeside } from '../page/attention.ts';
import { byUrgency, clusterState, fleetState } from '../page/state.ts';
import { clusterScreen } from './cluster-screen.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { firstProblemText, type Problem, problemsAmong } from './first-problem.ts';
import { dataText, refuseMissing } from './objects.ts';
import { passesSeen } from './passes.ts';
import { listPermitted } from './permitted.ts';
import type { Installation } from './reconcile.ts';
import { table } from './table.ts';
import { inShort, since, stateCell } from './words.ts';

interface StatusOptions {
  readonly allNamespaces: boolean;
  readonly exitCode: boolean;
  readonly installation: Installation;
}

/**
 * All clusters, those that need a person first; the fleets that are not well: why a commit is not applied; and the
 * whole first problem, which is that no pass runs, where that is so. Of one cluster: all on a screen.
 */
export async function status(name: string | undefined, asked: Asked, options: StatusOptions): Promise<ExitCode> {
  const { allNamespaces, exitCode, installation } = options;
  if (name !== undefined) {
    if (allNamespaces) throw new Refusal('a cluster has one namespace: name it by -n, without -A');
    return (await clusterScreen(name, asked)) && exitCode ? 3 : 0;
  }
  const { kube, out, output, colours, stop } = asked;
  const namespace = allNamespaces ? undefined : asked.namespace;
  const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace, signal: stop });
  if (namespace !== undefined && items.length === 0) await refuseMissing({ kube, namespace, stop });
  const clusters = byUrgency(items, clusterState);
  const fleets = byUrgency(await fleetsIn(namespace, asked), fleetState);
  const { last, problem } = await passesSeen({ fleets, clusters }, installation, asked);
  const problems = problemsAmong({ fleets, clusters }, problem, asked.now());
  const code = exitCode && problems.length > 0 ? 3 : 0;
  if (output !== 'text') {
    const passes = { last, problem: problem && factsOfProblem(problem) };
    const lists = { clusters: clusters.map(facts), fleets: fleets.map(factsOfFleet) };
    out(dataText({ ...lists, passes, problems: problems.map(factsOfProblem) }, output));
    return code;
  }
  if (clusters.length === 0) asked.err(`there is no EtcdCluster in ${where(namespace)}\n`);
  const heads = ['NAMESPACE', 'NAME', 'STATE', 'READY', 'VERSION', 'LEADER', 'AGE', 'MESSAGE'];
  const rows = clusters.map((cluster) => row(cluster, asked.now()));
  const shown = allNamespaces ? rows : rows.map((one) => one.slice(1));
  const unwell = fleets.filter((fleet) => fleetState(fleet).tone !== 'good');
  const blocks = [
    rows.length > 0 ? table(allNamespaces ? heads : heads.slice(1), shown, colours) : '',
    unwell.length > 0 ? table(['FLEET', 'STATE', 'MESSAGE'], unwell.map(rowOfFleet), colours) : '',
    firstProblemText(problems, colours),
  ];
  out(blocks.filter((block) => block !== '').join('\n'));
  return code;
}

function factsOfProblem({ about, reason, message }: Problem) {
  return { about, reason, message };
}

/** A person may be allowed to see the clusters of a namespace, and not its fleets. */
function fleetsIn(namespace: string | undefined, asked: Asked): Promise<readonly EtcdFleet[]> {
  return listPermitted(asked, resources.fleets, { namespace }, new Set());
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
  return namespace === undefined
    ? `any namespace; the first one: ${repositoryFiles}/docs/tutorials/first-cluster.md`
    : `namespace ${namespace}; look into all of them with -A`;
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
    inShort(toldBeside(cluster)?.message ?? ''),
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
