import { type FleetContext, type FleetResult, passFleet } from '../../../functions/pass/fleet-pass.ts';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import { createReader } from '../../../functions/read/reader.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';
import { type GitServer, startGitServer } from '../../support/git/server.ts';
import type { Capability } from '../../support/git/traits.ts';

export interface Scene extends AsyncDisposable {
  readonly fake: FakeKube;
  /** The fake with field ownership of a POST as a real API server, after `inherit`, has it. */
  readonly kube: Kube;
  readonly git: GitServer;
  readonly repository: Awaited<ReturnType<GitServer['createRepository']>>;
  /** Puts a fleet of this repository there. */
  addFleet(
    name: string,
    spec?: Partial<EtcdFleet['spec']> & { readonly path?: string; readonly ref?: string },
  ): EtcdFleet;
  fleet(name?: string): EtcdFleet;
  cluster(name: string): EtcdCluster | undefined;
  clusters(): readonly EtcdCluster[];
  /** One fleet's part of a pass, with its report. */
  pass(name?: string, overrides?: Partial<FleetContext>): Promise<FleetResult>;
  /** The same, of an invocation that ends before its report. */
  passThatDies(name?: string): Promise<FleetResult>;
  /** As a person would: spec, labels or annotations. */
  edit(name: string, change: (cluster: EtcdCluster) => EtcdCluster): Promise<void>;
  annotateFleet(name: string, key: string, value: string): Promise<void>;
}

/** A tick has less, and the next one goes on. Stories of one pass are about time only where they say so. */
const patienceMs = 60_000;

/** A fake API server and a real Git server, and the fleet's part of a pass between them. */
export async function setScene(options: FakeKubeOptions = {}, needs: readonly Capability[] = []): Promise<Scene> {
  const fake = createFakeKube(options);
  const kube = withAppliedCreates(fake);
  const git = await startGitServer({ needs });
  const repository = await git.createRepository('etcd');

  function fleet(name = 'production'): EtcdFleet {
    const found = fake.stored<EtcdFleet>(resources.fleets).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`there is no fleet ${name}`);
    return found;
  }

  async function pass(
    name = 'production',
    overrides: Partial<FleetContext> = {},
    reports = true,
  ): Promise<FleetResult> {
    const log = () => {};
    using reader = createReader();
    const context: FleetContext = {
      kube,
      reader,
      dryRun: false,
      followUp: false,
      log,
      signal: AbortSignal.timeout(2 * patienceMs),
      gitMs: patienceMs,
      ...overrides,
    };
    const [fleets, clusters] = await Promise.all([
      context.kube.list<EtcdFleet>(resources.fleets, {}),
      context.kube.list<EtcdCluster>(resources.clusters, {}),
    ]);
    const mine = fleets.items.find(({ metadata }) => metadata.name === name);
    if (!mine) throw new Error(`there is no fleet ${name}`);
    const result = await passFleet(mine, { fleets: fleets.items, clusters: clusters.items }, context);
    if (result.kind === 'left' || context.dryRun || !reports) return result;
    const { items } = await kube.list<EtcdCluster>(resources.clusters, {});
    const { signal } = context;
    const told = {
      kube: context.kube,
      log,
      signal,
      forgeDeadline: Date.now() + patienceMs,
      always: true,
      fleets: fleets.items,
    };
    await reportFleet(result, items, told);
    return result;
  }

  return {
    fake,
    kube,
    git,
    repository,
    fleet,
    pass: (name, overrides) => pass(name, overrides),
    passThatDies: (name) => pass(name, {}, false),
    addFleet: (name, { path = '.', ref = 'main', ...spec } = {}) => {
      fake.seed(resources.fleets, {
        apiVersion: 'etcd.ratchet.dev/v1alpha1',
        kind: 'EtcdFleet',
        metadata: { name, namespace: 'platform', generation: 1 },
        spec: { git: { url: repository.url, ref, path }, serviceAccountName: 'fleet', prune: false, ...spec },
        status: { observedGeneration: -1 },
      } satisfies EtcdFleet);
      return fleet(name);
    },
    cluster: (name) => fake.stored<EtcdCluster>(resources.clusters).find(({ metadata }) => metadata.name === name),
    clusters: () => fake.stored<EtcdCluster>(resources.clusters),
    edit: async (name, change) => {
      const live = await fake.get<EtcdCluster>(resources.clusters, 'payments', name);
      if (live) await fake.update(resources.clusters, change(live));
    },
    annotateFleet: async (name, key, value) => {
      const live = fleet(name);
      const metadata = { ...live.metadata, annotations: { ...live.metadata.annotations, [key]: value } };
      await fake.update(resources.fleets, { ...live, metadata });
    },
    [Symbol.asyncDispose]: () => git.stop(),
  };
}

/** One spec as people write it. */
export function clusterYaml(
  name: string,
  { replicas = 3, extra = '' }: { replicas?: number; extra?: string } = {},
): string {
  return `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdCluster
metadata: {name: ${name}, namespace: payments}
spec: {replicas: ${replicas}, version: 3.6.16, storage: {size: 1Gi}, tls: {mode: Disabled}${extra}}
`;
}

/**
 * The fake keeps no managedFields, so what a POST owns can't be handed to the fleet's manager later, as `inherit` does
 * on a real API server (test/integration/fleet/ownership.test.ts). Here it owns it from the start.
 */
function withAppliedCreates(fake: FakeKube): Kube {
  return {
    ...fake,
    as: (account) => {
      const kube = fake.as(account);
      return {
        ...kube,
        create: async (resource, object, callOptions = {}) => {
          const { namespace, name } = object.metadata;
          if (await fake.get(resource, namespace, name)) {
            throw new KubeError(`${name} exists`, { class: 'precondition', status: 409, reason: 'AlreadyExists' });
          }
          const [fleetNamespace, fleetName] = (object.metadata.annotations?.[annotations.fleetName] ?? '/').split('/');
          return kube.apply(resource, object, {
            ...callOptions,
            fieldManager: `etcd-ratchet-fleet-${fleetNamespace}-${fleetName}`,
          });
        },
      };
    },
  };
}
