import { randomBytes } from 'node:crypto';
import { after, afterEach, before } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import { type ForgeServer, startForge } from '../../support/git/forge.ts';
import type { Repository } from '../../support/git/repository.ts';
import { type GitServer, startGitServer } from '../../support/git/server.ts';
import { type Access, accessTo, lookUpAccess } from './client.ts';
import { environment } from './environment.ts';
import { fleetObject, furnishNamespace, releaseFinalizers } from './furniture.ts';
import { watchOver } from './shop.ts';
import { clusterYaml } from './specs.ts';
import { assertMade, type TickResult, tick } from './tick.ts';
import { type Found, type Look, type Patience, until } from './until.ts';
import { createWarmTicks, type Ended } from './warm-ticks.ts';

/** One scenario's part of the shared cluster: its own namespace, repository, forge and fleet. */
export interface Scene {
  readonly namespace: string;
  readonly kube: Kube;
  readonly kubectl: Kubectl;
  readonly git: GitServer;
  readonly repository: Repository & { readonly url: string };
  readonly forge: ForgeServer;
  /** Commits these files as the whole tree, as a `git push` would; the SHA. */
  push(files: Readonly<Record<string, string>>): Promise<string>;
  /** The same, of this one cluster as the whole tree. */
  pushCluster(name: string, fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /**
   * One invocation, for this scene's namespace only, in a process that stays (warm-ticks.ts).
   *
   * @throws {AssertionError} when it ends with another code than what it was asked may end with.
   */
  tick(...args: string[]): Promise<Ended>;
  /** The same as a process of its own, of the bundle: where a test is about how a process ends, or its time. */
  coldTick(...args: string[]): Promise<TickResult>;
  /** Ticks until the named cluster satisfies `check`. @throws with its status when it does not in time. */
  tickUntil(name: string, check: (cluster: EtcdCluster) => boolean, within?: number): Promise<EtcdCluster>;
  /** Like `tickUntil`, of invocations that leave every other cluster alone. */
  stepUntil(name: string, check: (cluster: EtcdCluster) => boolean, within?: number): Promise<EtcdCluster>;
  /** The same, until `look` gives something, where what is waited for is not one cluster. */
  ticksUntil<T>(what: string, look: Look<T>, patience?: Patience): Promise<Found<T>>;
  cluster(name: string): Promise<EtcdCluster>;
  /** How an application reaches its etcd. */
  access(name: string): Promise<Access>;
  /** The same for one who looks again and again: nothing is awaited. */
  accessNow(name: string): Promise<Access>;
  fleet(): Promise<EtcdFleet>;
  get<T extends KubeObject>(resource: Resource, name: string): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource): Promise<readonly T[]>;
}

export interface SceneOptions {
  /** Merged into the fleet's spec; `false`: no fleet, clusters are applied with kubectl. */
  readonly fleet?: Readonly<Record<string, unknown>> | false;
  /** Where Git server and forge listen; default 127.0.0.1, which pods don't reach. */
  readonly host?: string;
  /** The kubeconfig of its invocations, where they are to have fewer rights than the test itself. */
  readonly ticksAs?: string;
  /**
   * No test of the file's top level needs what another one made: when one has passed, its members go. They would take a
   * third of the processors from the tests that run.
   */
  readonly clearedBetween?: boolean;
  /** What else its tests find there. Not a hook of its own: those of a file's top level don't wait for each other. */
  readonly furnish?: (scene: Scene) => Promise<void>;
}

/** How long one look of many waits by watch: a pass that finds nothing new costs as much as one that acts. */
const waitSeconds = 2;
/** Seconds that a cluster has to become what is expected: a birth of three takes a tenth of that on a quiet machine. */
const usualPatience = 120;

/** Sets a scene up before the tests of a file, and takes it down after them, also when they fail. */
export function scene(options: SceneOptions = {}): () => Scene {
  let opened: (Scene & { close(): Promise<void> }) | undefined;
  before(async () => {
    opened = await openScene(options);
    await options.furnish?.(opened);
  });
  if (options.clearedBetween) {
    afterEach(async (t) => {
      // The hook also runs after the tests within a test, which share what their test made.
      const whole = 'passed' in t && t.fullName === t.name;
      if (opened && whole && t.passed) await removeClusters(opened);
    });
  }
  after(async () => opened?.close());
  return () => {
    if (!opened) throw new Error('the scene is only there while its tests run');
    return opened;
  };
}

/** Without their finalizers, so that no tick has to see to it. The garbage collector takes the pods. */
async function removeClusters({ kube, namespace, list }: Scene): Promise<void> {
  for (const resource of [resources.clusters, resources.peers]) {
    const found = await list(resource);
    await Promise.all(found.map(({ metadata }) => releaseFinalizers(kube, resource, namespace, metadata.name)));
  }
  for (const resource of [resources.clusters, resources.peers, resources.statefulSets]) {
    const found = await list(resource);
    await Promise.all(
      found.map(({ metadata: { name, uid = '' } }) =>
        kube.delete(resource, namespace, name, { preconditions: { uid }, propagation: 'Background' }),
      ),
    );
  }
}

export async function openScene({
  fleet = {},
  host,
  ticksAs,
}: SceneOptions = {}): Promise<Scene & { close(): Promise<void> }> {
  const namespace = `e2e-${randomBytes(4).toString('hex')}`;
  const { kubeconfig, kubectl } = environment();
  const kube = await connectKube({ userAgent: 'e2e/0', kubeconfig });
  await using opening = new AsyncDisposableStack();
  opening.defer(() => kube.close());
  const git = opening.use(await startGitServer({ ...(host && { host }) }));
  const forge = opening.use(await startForge({ ...(host && { host }) }));
  const ofTicks = { KUBECONFIG: ticksAs ?? kubeconfig };
  const warm = opening.use(createWarmTicks(ofTicks));
  const repository = await git.createRepository('platform/etcd');
  const { uid } = await furnishNamespace(kube, namespace);
  if (fleet !== false) {
    const object = fleetObject(namespace, repository.url, forge.url, fleet);
    // As kubectl does: a test that applies it again owns what it owns here.
    await kube.apply(resources.fleets, object, { fieldManager: 'kubectl' });
  }

  const get = <T extends KubeObject>(resource: Resource, name: string) => kube.get<T>(resource, namespace, name);
  const access = (name: string) => accessTo(kube, namespace, name);
  const cluster = async (name: string) => {
    const found = await get<EtcdCluster>(resources.clusters, name);
    if (!found) throw new Error(`there is no EtcdCluster ${namespace}/${name}`);
    return found;
  };
  const undisturbed = await watchOver(kube);
  // From here on nothing can fail: what was opened is closed with the scene.
  const opened = opening.move();
  const coldTick = async (...args: string[]) => {
    const ended = await tick({ args: ['--namespace', namespace, ...args], env: ofTicks });
    assertMade(args, ended);
    return ended;
  };

  /** It waits by watch, and returns when it has acted: that costs less than to look at everything again and again. */
  const looking = (...args: string[]) => warm.tick(...args, `--wait=${waitSeconds}`);
  const warmUntil = (
    args: readonly string[],
    name: string,
    check: (cluster: EtcdCluster) => boolean,
    within = usualPatience,
  ) => {
    let seen = '';
    const look = async () => {
      const { stderr, stdout } = await looking(...args);
      const found = await get<EtcdCluster>(resources.clusters, name);
      seen = JSON.stringify(found?.status?.lastDecision ?? `${stdout}${stderr}`.slice(-600));
      return found && check(found) ? found : undefined;
    };
    return until(`${name} as expected`, look, { within, last: () => seen });
  };

  return {
    namespace,
    kube,
    kubectl,
    git,
    repository,
    forge,
    get,
    cluster,
    access,
    accessNow: (name) => lookUpAccess(kube, namespace, name),
    push: (files) => repository.commit(files),
    pushCluster: (name, fields) =>
      repository.commit({ [`clusters/${name}.yaml`]: clusterYaml(name, namespace, fields) }),
    tick: (...args) => warm.tick('--namespace', namespace, ...args),
    coldTick,
    list: async (resource) => (await kube.list<never>(resource, { namespace })).items,
    fleet: async () => {
      const found = await get<EtcdFleet>(resources.fleets, 'fleet');
      if (!found) throw new Error(`there is no EtcdFleet ${namespace}/fleet`);
      return found;
    },
    tickUntil: (name, check, within) => warmUntil(['--namespace', namespace], name, check, within),
    stepUntil: (name, check, within) => warmUntil(['--cluster', `${namespace}/${name}`], name, check, within),
    ticksUntil: (what, look, patience) =>
      until(
        what,
        async () => {
          await looking('--namespace', namespace);
          return look();
        },
        patience,
      ),
    async close() {
      // Not waited for: a namespace takes half a minute to go, and the whole cluster goes with the run.
      await using _ = opened;
      await kube.delete(resources.namespaces, undefined, namespace, { preconditions: { uid } });
      await undisturbed();
    },
  };
}
