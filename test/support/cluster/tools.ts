import { join } from 'node:path';
import { nodeArchive, ownPlatform, type Platform, platforms } from '../../../functions/shipping/nodes.ts';
import { provideAzurite } from './binaries/azurite.ts';
import {
  certManager as certManagerBinary,
  coreDns as coreDnsBinary,
  type EmulatorBinary,
  emulators as emulatorBinaries,
  gitea as giteaBinary,
  goClient as goClientBinary,
  helm as helmBinary,
  knative as knativeBinaries,
  kustomize as kustomizeBinary,
  kwok as kwokBinary,
  type LibraryBinary,
  libraries as libraryBinaries,
  type MonitoringBinary,
  monitoring as monitoringBinaries,
  type OnlyBuilt,
  pause as pauseBinary,
  slowEtcd as slowEtcdBinary,
} from './binaries/catalogue.ts';
import { ProvisionError } from './binaries/error.ts';
import { chosenKubernetes, kubernetes } from './binaries/kubernetes.ts';
import { type ProvideOptions, pathIn, provide } from './binaries/provide.ts';
import { sourceOf } from './binaries/source.ts';
import { needConsumers } from './consumers/needs.ts';
import { provideVenv } from './consumers/venv.ts';
import { type Handed, handed, handedOrMissing, type Missing } from './handed.ts';

/** What some tests need beside what the local cluster runs. Paths are absolute. */

const helm = handed<string>('RATCHET_HELM_BINARY', (options) => only(helmBinary, options));

/** Object stores that others wrote, to try backups against. */
const emulators = handed<Readonly<Record<EmulatorBinary, string>>>('RATCHET_EMULATORS', (options) =>
  each(emulatorBinaries, options),
);

/** Azurite, the emulator of Azure Blob Storage, is no binary: one file that Node runs. */
const azurite = handed<string>('RATCHET_AZURITE_BUNDLE', provideAzurite);

/** What reads metrics. */
const monitoring = handed<Readonly<Record<MonitoringBinary, string>>>('RATCHET_MONITORING', (options) =>
  each(monitoringBinaries, options),
);

export interface GiteaBinary {
  readonly path: string;
  /** Its templates and translations; a distribution's binary has them in itself. */
  readonly staticRoot?: string;
}

/** What needs a forge has a stand-in for it. */
const gitea = handedOrMissing<GiteaBinary>('RATCHET_GITEA_BINARY', async (options) => {
  const path = await only(giteaBinary, options);
  const named = (options.environment ?? process.env)[giteaBinary.variable];
  return named ? { path } : { path, staticRoot: await sourceOf(giteaBinary.module, 'code.gitea.io/gitea') };
});

export interface CertManagerBinary {
  readonly path: string;
  /** The directory of the CustomResourceDefinitions that belong to it. */
  readonly crds: string;
}

const certManager = handedOrMissing<CertManagerBinary>('RATCHET_CERT_MANAGER_BINARY', async (options) => {
  const path = await only(certManagerBinary, options);
  const source = await sourceOf(certManagerBinary.module, 'github.com/cert-manager/cert-manager');
  return { path, crds: join(source, 'deploy/crds') };
});

/** What pages call, and their kinds. */
export interface PageTools {
  readonly kustomize: string;
  /** Directories of Knative's CustomResourceDefinitions, or why there are none. */
  readonly knative: readonly string[] | Missing;
}

const pageTools = handed<PageTools>('RATCHET_PAGE_TOOLS', async (options) => ({
  kustomize: await only(kustomizeBinary, options),
  knative: await knativeKinds(),
}));

/** Knative's own programs, and its manifests, as they come with its source. */
export interface Knative {
  /** By the name of the image that the manifests give: the program's Go package. */
  readonly programs: Readonly<Record<string, string>>;
  /** Directories of modules: `serving`, `eventing`, and what Serving is made with. */
  readonly sources: Readonly<Record<'serving' | 'eventing' | 'networking' | 'caching', string>>;
}

const knative = handed<Knative>('RATCHET_KNATIVE', async (options) => {
  const path = pathIn(await provide(knativeBinaries, options));
  const programs = knativeBinaries.map(({ name, version, goPackage }) => [goPackage, path(name, version)]);
  const [serving, eventing, networking, caching] = await Promise.all([
    sourceOf('knative-serving', 'knative.dev/serving'),
    sourceOf('knative-eventing', 'knative.dev/eventing'),
    sourceOf('knative-serving', 'knative.dev/networking'),
    sourceOf('knative-serving', 'knative.dev/caching'),
  ]);
  return { programs: Object.fromEntries(programs), sources: { serving, eventing, networking, caching } };
});

const goClient = handed<string>('RATCHET_GO_CLIENT_BINARY', (options) => only(goClientBinary, options));

/** What Traefik and Vitess use etcd with. */
const libraries = handed<Readonly<Record<LibraryBinary, string>>>('RATCHET_LIBRARIES', (options) =>
  each(libraryBinaries, options),
);

/** For a version of its own. */
const slowEtcd = handed<string>('RATCHET_SLOW_ETCD_BINARY', (options) => only(slowEtcdBinary, options));

const coreDns = handed<string>('RATCHET_COREDNS_BINARY', (options) => only(coreDnsBinary, options));

/** What a real node runs beside the distribution's containerd and runc. */
export interface RealNodeBinaries {
  readonly kubelet: string;
  readonly kubeProxy: string;
  readonly pause: string;
}

const realNode = handed<RealNodeBinaries>('RATCHET_REAL_NODE_BINARIES', async (options) => {
  // Another minor than the API server's may be refused by it: no kubelet is newer.
  const chosen = { ...chosenKubernetes(options.environment ?? process.env), asked: true };
  const wanted = [kubernetes('kubelet', chosen), kubernetes('kube-proxy', chosen), pauseBinary];
  const path = pathIn(await provide(wanted, options));
  return {
    kubelet: path('kubelet', chosen.version),
    kubeProxy: path('kube-proxy', chosen.version),
    pause: path('pause', pauseBinary.version),
  };
});

export interface Kwok {
  readonly path: string;
  /** The directory of what it plays: `pod/fast`, `node/fast`. */
  readonly stages: string;
}

const kwok = handed<Kwok>('RATCHET_KWOK_BINARY', async (options) => ({
  path: await only(kwokBinary, options),
  stages: join(await sourceOf(kwokBinary.module, 'sigs.k8s.io/kwok'), 'kustomize/stage'),
}));

export interface ConsumerTools {
  /** The Python that has Patroni and etcd3. */
  readonly python: string;
  /** The directory of PostgreSQL's programs. */
  readonly postgresql: string;
}

/** From the distribution and from PyPI. */
const consumers = handed<ConsumerTools>('RATCHET_CONSUMERS', async (options) => {
  const { postgresql } = needConsumers();
  return { postgresql, python: await provideVenv(options) };
});

export const tools = {
  helm,
  emulators,
  azurite,
  monitoring,
  gitea,
  certManager,
  pageTools,
  goClient,
  libraries,
  coreDns,
  slowEtcd,
  kwok,
  realNode,
  consumers,
  knative,
};

type Environment = Readonly<Record<string, string>>;

/** For which test files `npm test` provides it. */
const toolsOfTests: readonly (readonly [files: RegExp, tool: () => Promise<Environment>])[] = [
  [/(integration\/backup\/.*|e2e\/backup)\.test\.ts$/, () => handIn(emulators)],
  [/\/integration\/backup\/azure\.test\.ts$/, () => handIn(azurite)],
  [/(chart[^/]*|bystanders|uninstall)\.test\.ts$/, () => handIn(helm)],
  [/\/integration\/docs\/typed\.test\.ts$/, () => handIn(pageTools)],
  [/\/integration\/monitoring\//, () => handIn(monitoring)],
  [/(tutorials|readme|playground|forge|uninstall|gitea-labels|failed-status)\.test\.ts$/, () => handIn(gitea)],
  [/\/e2e\/(cert-manager-controllers|bystanders)\.test\.ts$/, () => handIn(certManager)],
  [/\/e2e\/clients\.test\.ts$/, () => handIn(goClient)],
  [/\/e2e\/clients\.test\.ts$/, () => handIn(libraries)],
  [/\/e2e\/coredns\.test\.ts$/, () => handIn(coreDns)],
  [/\/e2e\/slow-disk\.test\.ts$/, () => handIn(slowEtcd)],
  [/\/consumers\/[^/]+\.test\.ts$/, () => handIn(consumers)],
  [/\/e2e\/knative-real\.test\.ts$/, () => handIn(knative)],
  [/\/integration\/manifests\/(release|single-file)\.test\.ts$/, () => keepNodes([ownPlatform()])],
  [/\/integration\/manifests\/release-twice\.test\.ts$/, () => keepNodes(platforms)],
];

/** With which these test files find what they need without looking. @throws {ProvisionError} */
export async function toolsFor(files: readonly string[]): Promise<Environment> {
  const environment: Record<string, string> = {};
  for (const [pattern, tool] of toolsOfTests)
    if (files.some((file) => pattern.test(file))) Object.assign(environment, await tool());
  return environment;
}

/** With which a run finds what its real nodes run. @throws {ProvisionError} */
export async function realNodeEnvironment(): Promise<Environment> {
  return handIn(realNode);
}

/** Nodes of single files, where a release looks for them: inside the sandbox, no network is reached. */
async function keepNodes(wanted: readonly Platform[]): Promise<Environment> {
  await Promise.all(wanted.map((platform) => nodeArchive(platform)));
  return {};
}

async function handIn<T>({ provide, environment }: Handed<T>): Promise<Environment> {
  return environment(await provide());
}

async function knativeKinds(): Promise<readonly string[] | Missing> {
  try {
    const [serving, eventing] = await Promise.all([
      sourceOf('knative-serving', 'knative.dev/serving'),
      sourceOf('knative-eventing', 'knative.dev/eventing'),
    ]);
    return [join(serving, 'config/core/300-resources'), join(eventing, 'config/core/resources')];
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    return { missing: error.message.split('\n', 1)[0] ?? '' };
  }
}

async function only(wanted: OnlyBuilt, options: ProvideOptions): Promise<string> {
  return pathIn(await provide([wanted], options))(wanted.name, wanted.version);
}

async function each<Name extends OnlyBuilt['name']>(
  wanted: readonly (OnlyBuilt & { readonly name: Name })[],
  options: ProvideOptions,
): Promise<Readonly<Record<Name, string>>> {
  const path = pathIn(await provide(wanted, options));
  return Object.fromEntries(wanted.map(({ name, version }) => [name, path(name, version)])) as Record<Name, string>;
}
