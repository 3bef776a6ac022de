import type { EtcdNodePolicy, EtcdNodePolicySpec } from '../../../manifests/api/etcd-node-policy.ts';
import type { Job, Node, Pod } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import {
  type Kube,
  KubeError,
  type KubeObject,
  type LeftOut,
  type ListOptions,
  type Resource,
  resources,
} from '../../../reconcile/interfaces/kube.ts';
import { isOver } from '../../../reconcile/jobs/job-end.ts';
import { carryOutOrder } from '../../../reconcile/nodes/agent/agent.ts';
import { stepNodePolicies } from '../../../reconcile/nodes/pass.ts';
import type { NodePolicyResult } from '../../../reconcile/nodes/step.ts';
import { bornWith } from './born.ts';
import { etcdOf } from './etcd.ts';
import { asInvocation, type Faults } from './invocation.ts';
import { hasQuorum } from './quorum.ts';
import { put } from './state.ts';
import { wireOf } from './wire.ts';
import type { World } from './world.ts';

/** Nodes under the world's pods: each member at home on one of them, with a volume that can't leave it. */

const rebootsIn = 'etcd-ratchet-reboots';
const nodeNames = ['node-1', 'node-2', 'node-3'] as const;

export interface NodesWorld {
  readonly world: World;
  /** How often each node has rebooted. */
  readonly reboots: ReadonlyMap<string, number>;
  /** One invocation's step for the node policies; `undefined`: it died on the way. */
  step(faults?: Faults, dryRun?: boolean): Promise<readonly NodePolicyResult[] | undefined>;
  /** The clusters' steps, the agents, the kubelets and all controllers, and five seconds. */
  pass(agentFaults?: Faults): Promise<void>;
  ask(node: string, why?: string): void;
  withdraw(node: string): void;
  annotate(node: string, changes: Readonly<Record<string, string | undefined>>): void;
  /** It does not come back from its next reboot, until this is called with `false`. */
  break(node: string, broken: boolean): void;
  /** Agents on it do nothing. */
  stun(node: string): void;
  /** Its host does not reboot when it is told: it refuses, or only says that it will. */
  deafen(node: string, how: 'refuses' | 'agrees'): void;
  /** What a look on it finds; `fails`: its Job comes to nothing. */
  sentinel(node: string, found: 'needed' | 'old' | 'none' | 'fails'): void;
  /** Lists over all namespaces lack this one from now on. */
  leaveOut(namespace: string): void;
  /** What Prometheus answers. */
  alerts(answer: () => string): void;
  node(name: string): Node;
  policy(): EtcdNodePolicy;
  seedPod(pod: Pod): void;
}

/** A cluster of three at rest, on three nodes. */
export async function nodesWorld(spec: Partial<EtcdNodePolicySpec> = {}, replicas = 3): Promise<NodesWorld> {
  const world = await bornWith({ replicas });
  const { state } = world;
  const { kube } = state;
  const reboots = new Map<string, number>();
  const down = new Map<string, number>();
  const broken = new Set<string>();
  const stunned = new Set<string>();
  const deaf = new Map<string, 'refuses' | 'agrees'>();
  const sentinels = new Map<string, string>();
  const answers = new Map<string, string>();
  const leftOut = new Map<string, LeftOut>();
  let prometheus = () => '';
  let invocations = 0;
  const homeOf = ({ metadata }: Pod) => nodeNames[Number(/-(\d+)-0$/.exec(metadata.name)?.[1] ?? 0) % 3] ?? 'node-1';
  for (const name of nodeNames) {
    const node: Node = { metadata: { name, uid: `uid-${name}` }, spec: {}, status: statusOf(true, `${name}-boot-0`) };
    kube.seed(resources.nodes, node);
  }
  for (const pod of kube.stored<Pod>(resources.pods))
    kube.seed(resources.pods, { ...pod, spec: { ...pod.spec, nodeName: homeOf(pod) } });
  state.room.home = homeOf;
  state.room.for = (pod) => {
    const { spec, status } = node(homeOf(pod));
    return spec?.unschedulable !== true && status?.conditions?.[0]?.status === 'True';
  };
  const policySpec = { nodeSelector: {}, ...spec };
  const about = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy', metadata: { name: 'all' } } as const;
  await kube.create<EtcdNodePolicy>(resources.nodePolicies, { ...about, spec: policySpec });

  function node(name: string): Node {
    const found = kube.stored<Node>(resources.nodes).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`there is no node ${name}`);
    return found;
  }

  function annotate(name: string, changes: Readonly<Record<string, string | undefined>>): void {
    const found = node(name);
    const all = Object.entries({ ...found.metadata.annotations, ...changes });
    const kept = Object.fromEntries(all.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
    kube.seed(resources.nodes, { ...found, metadata: { ...found.metadata, annotations: kept } });
  }

  /** Down for two rounds, then back with another boot: its containers start anew. */
  function goDown(name: string): void {
    reboots.set(name, (reboots.get(name) ?? 0) + 1);
    const [other] = [...down.keys()].filter((one) => one !== name);
    if (sentinels.get(name) === 'needed') sentinels.delete(name);
    if (other !== undefined) throw new Error(`${name} goes down while ${other} is`);
    down.set(name, broken.has(name) ? Number.POSITIVE_INFINITY : 2);
    for (const pod of kube.stored<Pod>(resources.pods))
      if (pod.spec.nodeName === name) state.processes.delete(pod.metadata.uid ?? '');
    state.deadNodes.add(name);
    put(state, resources.nodes, node(name), { ...node(name), status: statusOf(false, bootOf(node(name))) });
  }

  function comeBack(): void {
    for (const [name, rounds] of down) {
      if (rounds > 0) {
        down.set(name, rounds - 1);
        continue;
      }
      down.delete(name);
      state.deadNodes.delete(name);
      kube.seed(resources.nodes, { ...node(name), status: statusOf(true, `${name}-boot-${reboots.get(name)}`) });
      state.changes += 1;
    }
  }

  async function listed(mine: Kube): Promise<readonly EtcdNodePolicy[]> {
    return (await mine.list<EtcdNodePolicy>(resources.nodePolicies, {})).items;
  }

  /** What its pod was given. */
  function grantIn({ spec }: Job): { readonly id: string; readonly bootID: string } {
    const env = spec.template.spec.containers[0]?.env ?? [];
    const envOf = (name: string) => env.find((one) => one.name === name)?.value ?? '';
    return { id: envOf('RATCHET_GRANT'), bootID: envOf('RATCHET_BOOT_ID') };
  }

  /** Each Job has one pod, which runs once: it ends, or waits for its order until the next round. */
  async function runAgents(faults: Faults): Promise<void> {
    for (const job of kube.stored<Job>(resources.jobs)) {
      const { metadata, spec } = job;
      const name = spec.template.spec.nodeName ?? '';
      if (metadata.namespace !== rebootsIn || isOver(job) || down.has(name) || stunned.has(name)) continue;
      if (metadata.name.startsWith('look-')) {
        runLook(job, sentinels.get(name) ?? 'none');
        continue;
      }
      let waits = false;
      const pause = async () => {
        waits = true;
        return false;
      };
      const reboot = async () => (deaf.has(name) ? tellDeaf(deaf.get(name)) : goDown(name));
      const signal = AbortSignal.timeout(10_000);
      const about = { node: name, job: metadata.uid ?? '', grant: grantIn(job), signal, reboot, pause };
      const end = await carryOutOrder({ ...about, kube: asInvocation(kube, faults) }).then(
        () => 'Complete',
        (error: unknown) => {
          if (!(error instanceof KubeError) && !/killed|refuses/.test(String(error))) throw error;
          return 'Failed';
        },
      );
      if (waits) continue;
      put(state, resources.jobs, job, { ...job, status: { conditions: [{ type: end, status: 'True' }] } });
    }
  }

  function runLook(job: Job, found: string): void {
    const type = found === 'fails' ? 'Failed' : 'Complete';
    const { name } = job.metadata;
    answers.set(name, found);
    put(state, resources.jobs, job, { ...job, status: { conditions: [{ type, status: 'True' }] } });
  }

  /** The world's kubelets run members only, so the ended pods of looks are there while a step looks at them. */
  async function withLookPods<T>(look: () => Promise<T>): Promise<T> {
    const pods = kube
      .stored<Job>(resources.jobs)
      .flatMap((job) =>
        answers.has(job.metadata.name) ? [endedPodOf(job, answers.get(job.metadata.name) ?? '')] : [],
      );
    kube.seed(resources.pods, ...pods);
    try {
      return await look();
    } finally {
      for (const { metadata } of pods) kube.remove(resources.pods, metadata.namespace, metadata.name);
    }
  }

  return {
    world,
    reboots,
    sentinel: (name, found) => sentinels.set(name, found),
    leaveOut: (namespace) => leftOut.set(namespace, { bytes: 2, plural: 'configmaps', mostBytes: 1 }),
    alerts: (answer) => {
      prometheus = answer;
    },
    node,
    annotate,
    policy: () => {
      const [found] = kube.stored<EtcdNodePolicy>(resources.nodePolicies);
      if (!found) throw new Error('the policy is gone');
      return found;
    },
    ask: (name, why = 'kernel') => annotate(name, { [annotations.rebootNeeded]: why }),
    withdraw: (name) => annotate(name, { [annotations.rebootNeeded]: undefined }),
    stun: (name) => stunned.add(name),
    deafen: (name, how) => deaf.set(name, how),
    break: (name, isBroken) => {
      if (isBroken) broken.add(name);
      else if (broken.delete(name)) down.set(name, 0);
    },
    seedPod: (pod) => kube.seed(resources.pods, pod),
    async step(faults = {}, dryRun = false) {
      invocations += 1;
      const id = `nodes-${invocations}`;
      const mine = { ...asInvocation(leavingOut(kube, leftOut), faults), leftOut: () => leftOut };
      try {
        return await withLookPods(async () =>
          stepNodePolicies(await listed(mine), {
            kube: mine,
            etcd: async (tls) => mine.etcd(etcdOf(state, tls)),
            wire: wireOf(state),
            holder: { pod: `etcd-ratchet/${id}`, uid: id },
            nonce: () => String(invocations).padStart(32, '0').split('').reverse().join(''),
            log: (fields, message) => world.logged.push(`${message} ${JSON.stringify(fields)}`),
            dryRun,
            rebootsIn,
            askAlerts: async () => prometheus(),
            signal: AbortSignal.timeout(60_000),
          }),
        );
      } catch (error) {
        if (error instanceof KubeError || /killed/.test(String(error))) return undefined;
        throw error;
      }
    },
    async pass(agentFaults = {}) {
      await runAgents(agentFaults);
      world.settle();
      await world.tick();
      comeBack();
      world.settle();
      for (const [clusterId, formation] of state.formations)
        if (formation.members.length >= 3 && !hasQuorum(state, clusterId)) throw new Error('the quorum is lost');
      world.advance(5);
    },
  };
}

/** Its lists, as those of the real one are. */
function leavingOut(kube: Kube, leftOut: ReadonlyMap<string, LeftOut>): Kube {
  return {
    ...kube,
    list: async <T extends KubeObject>(resource: Resource, options: ListOptions) => {
      const { items, resourceVersion } = await kube.list<T>(resource, options);
      const isSeen = ({ metadata }: KubeObject) => !leftOut.has(metadata.namespace ?? '');
      const isWhole = options.namespace !== undefined || options.whole === true;
      return { items: isWhole ? items : items.filter(isSeen), resourceVersion };
    },
  };
}

function tellDeaf(how: 'refuses' | 'agrees' | undefined): void {
  if (how === 'refuses') throw new Error('the host refuses');
}

function statusOf(ready: boolean, bootID: string): NonNullable<Node['status']> {
  return { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }], nodeInfo: { bootID } };
}

function bootOf({ status }: Node): string {
  return status?.nodeInfo?.bootID ?? '';
}

function endedPodOf({ metadata: { name, namespace = '', uid = '' } }: Job, message: string): Pod {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
  const state = { terminated: { exitCode: 0, message } };
  const labels = { 'batch.kubernetes.io/job-name': name };
  return {
    metadata: { name: `${name}-x`, namespace, uid: `pod-of-${uid}`, labels, ownerReferences: [owner] },
    spec: { containers: [] },
    status: { phase: 'Succeeded', containerStatuses: [{ name: 'look', ready: false, restartCount: 0, state }] },
  };
}
