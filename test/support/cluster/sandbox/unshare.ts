import { execFile } from 'node:child_process';

/** No private namespaces on this machine, and what would allow them. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;

/** Without root in a user namespace first: it is what everybody can do, and asks for the fewest rights. */
const ways = [
  ['unshare', '--user', '--map-root-user', ...namespaces],
  ['unshare', ...namespaces],
] as const satisfies readonly (readonly [string, ...string[]])[];

/** `root`: with the machine's own users, whom containers of a real node run as. `any`: with as few rights as do. */
export type Rights = 'any' | 'root';

/**
 * The command line that runs what follows it as PID 1 of private namespaces.
 *
 * @throws {SandboxError} when none of the ways works here.
 */
export async function unsharePrefix(rights: Rights): Promise<readonly [string, ...string[]]> {
  const reasons: string[] = [];
  for (const way of rights === 'root' ? ways.slice(1) : ways) {
    const reason = await failure([...way, '/bin/sh', '-c', 'ip link set lo up']);
    if (reason === undefined) return way;
    reasons.push(reason);
    if (process.getuid?.() !== 0) break;
  }
  throw new SandboxError(
    [
      `the local cluster needs private namespaces, and this machine does not give them: ${reasons.join('; ')}.`,
      'It needs Linux with util-linux 2.32 or newer (unshare) and iproute2 (ip), and one of: unprivileged user',
      'namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0),',
      'or root with CAP_SYS_ADMIN (in a container: --privileged).',
    ].join('\n'),
  );
}

async function failure([program, ...args]: readonly [string, ...string[]]): Promise<string | undefined> {
  return await new Promise((resolve) => {
    execFile(program, args, { timeout: 10_000 }, (error, _stdout, stderr) => {
      resolve(error ? stderr.trim() || error.message : undefined);
    });
  });
}
