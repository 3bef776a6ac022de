import assert from 'node:assert/strict';
import { type ChecksOutcome, checkFleet } from '../../../functions/checks/check-fleet.ts';
import { withChecks } from '../../../functions/checks/check-pass.ts';
import { createReader } from '../../../functions/read/reader.ts';
import type { CheckReport } from '../../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../../manifests/api/etcd-fleet-status.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKubeOptions } from '../../support/fakes/kube.ts';
import type { Desk, ForgeServer, OpenedRequest } from '../../support/git/forge.ts';
import type { Repository } from '../../support/git/repository.ts';
import { besideForge } from './forge-scene.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

/** The commit status of production's checks. */
export const context = 'etcd-ratchet/production/plan';

/** A fleet of two clusters, a forge, and requests that people open there. */
export interface Stage extends AsyncDisposable {
  readonly scene: Scene;
  readonly forge: ForgeServer;
  readonly repository: Repository;
  /** Pushes the files to a branch that parts from main now, and opens a request for it. */
  open(
    number: number,
    files: Readonly<Record<string, string | undefined>>,
    told?: Pick<OpenedRequest, 'fork' | 'author' | 'labels'>,
  ): Promise<string>;
  check(options?: CheckOptions): Promise<Checks>;
  reports(): readonly { readonly name: string; readonly report: CheckReport; readonly markdown: string }[];
}

interface CheckOptions {
  readonly seconds?: number;
  /** As where the component node-reboots is installed. */
  readonly rebootsIn?: string;
  /** Receives the checks that are recorded while it goes on. */
  readonly recorded?: (checks: readonly RequestCheck[]) => void;
}

interface Checks {
  readonly checks: readonly RequestCheck[];
  readonly failure?: NonNullable<ChecksOutcome['failure']>;
}

/** @param options.desk for the API of Bitbucket Cloud, in the place of GitHub's; `app`: the private key of an App */
export async function setStage(
  spec: Partial<EtcdFleet['spec']> = {},
  { desk, app, ...options }: FakeKubeOptions & { readonly desk?: Desk; readonly app?: string } = {},
): Promise<Stage> {
  const scene = await setScene(options);
  const beside = await besideForge(scene, { desk, app });
  const { forge, repository } = beside;
  await repository.commit({
    'c/orders.yaml': clusterYaml('orders'),
    'c/ads.yaml': clusterYaml('ads'),
    README: 'hello\n',
  });
  beside.addFleet({ git: { url: repository.url, ref: 'main', path: 'c' }, ...spec });
  await scene.pass();
  forge.statuses.length = 0;

  const open: Stage['open'] = async (number, files, told = {}) => {
    const branch = `request-${number}`;
    await repository.git('branch', '-f', branch, 'main');
    const headSha = await repository.commit(files, { branch, keep: true, message: `request ${number}` });
    const before = forge.pulls.findIndex((pull) => pull.number === number);
    if (before >= 0) forge.pulls.splice(before, 1);
    forge.pulls.unshift({ number, title: `Change ${number}`, headSha, ...told });
    return headSha;
  };

  async function check({ seconds = 30, rebootsIn, recorded }: CheckOptions = {}): Promise<Checks> {
    const write = (status: EtcdFleet['status']) =>
      scene.fake.updateStatus(resources.fleets, { ...scene.fleet(), ...(status && { status }) });
    using reader = createReader();
    const outcome = await checkFleet(
      scene.fleet(),
      { branch: 'main', target: await repository.git('rev-parse', 'main') },
      {
        kube: scene.kube,
        reader,
        etcd: async () => assert.fail('no member runs here'),
        wire: async () => undefined,
        holder: { pod: 'p', uid: 'u' },
        nonce: () => 'n',
        fleets: scene.fake.stored<EtcdFleet>(resources.fleets),
        clusters: scene.fake.stored<EtcdCluster>(resources.clusters),
        log: () => {},
        rebootsIn,
        signal: AbortSignal.timeout(60_000),
        deadline: Date.now() + seconds * 1000,
        record: async (change) => {
          const { status = { observedGeneration: -1 } } = scene.fleet();
          const checks = change(status.checks ?? []);
          recorded?.(checks);
          await write({ ...status, checks });
          return true;
        },
      },
    );
    const status = withChecks(scene.fleet(), outcome, new Date());
    await write(status);
    return { checks: status.checks ?? [], ...(outcome.failure && { failure: outcome.failure }) };
  }

  return {
    scene,
    forge,
    repository,
    open,
    check,
    reports: () =>
      scene.fake.stored<ConfigMap>(resources.configMaps).flatMap(({ metadata, data = {} }) => {
        const { 'report.json': json, 'report.md': markdown = '' } = data;
        return json === undefined ? [] : [{ name: metadata.name, report: JSON.parse(json) as CheckReport, markdown }];
      }),
    [Symbol.asyncDispose]: async () => {
      await forge.stop();
      await scene[Symbol.asyncDispose]();
    },
  };
}
