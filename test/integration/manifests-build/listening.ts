/**
 * Inside a network namespace of its own: starts etcd, and says on standard output at which addresses its three ports
 * answer.
 *
 *     listening.ts '{"binary":…,"args":[…],"variables":{…},"addresses":[…]}'
 */

import { hostPort } from '../../../manifests/render/hosts.ts';
import { ports } from '../../../manifests/render/names.ts';
import { startEtcd } from './etcd-process.ts';

export interface Asked {
  readonly binary: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
}

const paths = { client: '/version', peer: '/version', metrics: '/readyz' } as const satisfies Record<
  keyof typeof ports,
  string
>;

const { binary, args, variables, addresses } = JSON.parse(process.argv[2] ?? '') as Asked;
const etcd = startEtcd(binary, args, variables);
await etcd.ready();
const answers: Record<string, boolean> = {};
for (const address of addresses) {
  for (const port of ['client', 'peer', 'metrics'] as const) {
    const at = hostPort(address, ports[port]);
    answers[at] = await fetch(`http://${at}${paths[port]}`, { signal: AbortSignal.timeout(10_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
await etcd.stop();
process.stdout.write(JSON.stringify(answers));
