import { mkdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { type Binaries, binariesEnvironment, provisionBinaries } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { kubectlFor } from './kubectl.ts';
import { currentSandbox, enterSandbox } from './sandbox.ts';

/** An API server with our CRDs and without controllers, which several test files use at the same time. */
export interface SharedControlPlane {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  /** With full rights. */
  readonly token: string;
}

/** Where the test files of a run ask for it: a socket, which answers with JSON once it is started. */
const variable = 'RATCHET_SHARED_CONTROL_PLANE';
const crds = resolve(import.meta.dirname, '../../../manifests/install/crds');

export interface Offer extends AsyncDisposable {
  /** Its addresses are those of every local cluster: it stops, and from then on each file starts one of its own. */
  withdraw(): Promise<void>;
}

/** For `npm test`, in its sandbox: files that it starts from now on share one, which starts when the first asks. */
export async function offerControlPlane(binaries: Binaries): Promise<Offer> {
  const directory = join(currentSandbox()?.directory ?? fail('it needs a sandbox'), 'shared-control-plane');
  await mkdir(directory, { mode: 0o700 });
  let starting: Promise<ControlPlane> | undefined;
  const server = createServer((asking) => {
    // A file that ends before it is answered needs no answer.
    asking.on('error', () => undefined);
    starting ??= startWithCrds(binaries, directory);
    starting.then(
      (started) => asking.end(JSON.stringify(accessTo(started))),
      (error: Error) => asking.end(JSON.stringify({ problem: error.message })),
    );
  });
  const socket = join(directory, 'socket');
  await new Promise<void>((listening) => server.listen(socket, listening));
  process.env[variable] = socket;
  const withdraw = async () => {
    delete process.env[variable];
    server.close();
    const started = await starting?.catch(() => undefined);
    starting = undefined;
    await started?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  };
  return { withdraw, [Symbol.asyncDispose]: withdraw };
}

/** For a test file: the one of its run; alone, one of its own, and the rest of the script runs in a sandbox. */
export async function sharedControlPlane(): Promise<SharedControlPlane & AsyncDisposable> {
  const socket = process.env[variable];
  if (socket !== undefined) return { ...(await askedAt(socket)), [Symbol.asyncDispose]: async () => undefined };
  const binaries = await provisionBinaries();
  const sandbox = await enterSandbox(binariesEnvironment(binaries));
  const directory = join(sandbox.directory, 'control-plane');
  await mkdir(directory, { mode: 0o700 });
  const started = await startWithCrds(binaries, directory);
  return { ...accessTo(started), [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}

async function startWithCrds(binaries: Binaries, directory: string): Promise<ControlPlane> {
  await using parts = new AsyncDisposableStack();
  const started = parts.use(await startControlPlane(binaries, directory, { withControllers: false }));
  const kubectl = kubectlFor(binaries.kubernetes.kubectl, started.kubeconfigPath);
  await kubectl(['apply', '-k', crds]);
  await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  parts.move();
  return started;
}

function accessTo({ url, ca, identities }: ControlPlane): SharedControlPlane {
  return { url, ca, token: identities.admin.token };
}

async function askedAt(socket: string): Promise<SharedControlPlane> {
  const answer = (await json(connect(socket))) as SharedControlPlane | { readonly problem: string };
  if ('problem' in answer) throw new Error(`the control plane that test files share: ${answer.problem}`);
  return answer;
}

function fail(why: string): never {
  throw new Error(why);
}
