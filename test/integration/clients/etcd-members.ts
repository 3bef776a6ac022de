import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ports } from '../../../manifests/render/names.ts';
import { until } from '../../e2e/support/until.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';

export interface TestMember {
  readonly name: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
  readonly dataDirectory: string;
  /** Stops it with SIGSTOP; when this resolves, not one of its threads runs any more. */
  freeze(): Promise<void>;
  thaw(): void;
  kill(): Promise<void>;
  /** Starts it on its data, after a kill; waits for nothing. */
  restart(): void;
}

export interface TestCluster extends AsyncDisposable {
  readonly members: readonly TestMember[];
  /** A member to come; `start` starts it once it is on the list. */
  newcomer(name?: string): Newcomer;
  /**
   * Adds a learner that is not started yet; `start` starts it. No two that are started may have one name: it is that of
   * their data.
   */
  addLearner(name?: string): Promise<Newcomer>;
}

export interface Newcomer {
  readonly member: Omit<TestMember, 'dataDirectory' | 'freeze' | 'thaw' | 'kill' | 'restart'>;
  start(): Promise<TestMember>;
}

/** Real etcd processes, each on a loopback address of its own, ready when this resolves. */
export async function startMembers(binary: string, count: number, extra: readonly string[] = []): Promise<TestCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-etcd-'));
  const children: ChildProcess[] = [];
  const planned = Array.from({ length: count }, (_, index) => plan(`m${index}`));
  const stop = async () => {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const members = planned.map((member) => start(member, planned, 'new'));
    await Promise.all(members.map(({ clientUrl }) => ready(clientUrl)));
    return { members, newcomer, addLearner, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }

  function start(member: Plan, cluster: readonly Plan[], state: 'new' | 'existing'): TestMember {
    let child = run(member, cluster, state);
    return {
      ...member,
      dataDirectory: join(directory, member.name),
      freeze: async () => {
        child.kill('SIGSTOP');
        await until('every thread to stop', async () =>
          (await threadStates(child.pid ?? 0)).every((state) => state === 'T'),
        );
      },
      thaw: () => child.kill('SIGCONT'),
      kill: () => end(child),
      restart: () => {
        child = run(member, cluster, state);
      },
    };
  }

  function run(member: Plan, cluster: readonly Plan[], state: 'new' | 'existing'): ChildProcess {
    const child = spawn(
      binary,
      [
        `--name=${member.name}`,
        `--data-dir=${join(directory, member.name)}`,
        `--listen-client-urls=${member.clientUrl}`,
        `--advertise-client-urls=${member.clientUrl}`,
        `--listen-metrics-urls=${member.clientUrl.replace(/\d+$/, String(ports.metrics))}`,
        `--listen-peer-urls=${member.peerUrl}`,
        `--initial-advertise-peer-urls=${member.peerUrl}`,
        `--initial-cluster=${cluster.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',')}`,
        `--initial-cluster-state=${state}`,
        '--unsafe-no-fsync',
        '--log-level=fatal',
        ...extra,
      ],
      { stdio: 'ignore' },
    );
    children.push(child);
    return child;
  }

  function newcomer(name = 'learner'): Newcomer {
    const member = plan(name);
    return {
      member,
      start: async () => {
        const started = start(member, [...planned, member], 'existing');
        await until('the started learner', async () => (await fetchJson(`${member.clientUrl}/version`)) !== undefined);
        return started;
      },
    };
  }

  async function addLearner(name?: string): Promise<Newcomer> {
    const learner = newcomer(name);
    const [first] = planned;
    if (first === undefined) throw new Error('a cluster without members takes no learner');
    // Through etcd's JSON gateway: what is tested here must not be its own witness. Refused until etcd has been up for
    // 5 s.
    await until('the learner', async () => {
      const answer = await post(first.clientUrl, '/v3/cluster/member/add', {
        peerURLs: [learner.member.peerUrl],
        isLearner: true,
      });
      return 'member' in answer;
    });
    return learner;
  }
}

export async function post(
  clientUrl: string,
  path: string,
  body: unknown,
  timeoutMs = 5_000,
): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(`${clientUrl}${path}`, { method: 'POST', body: JSON.stringify(body), signal });
  return (await response.json()) as Record<string, unknown>;
}

type Plan = Pick<TestMember, 'name' | 'clientUrl' | 'peerUrl'>;

function plan(name: string): Plan {
  const address = ownAddress();
  return { name, clientUrl: `http://${address}:2379`, peerUrl: `http://${address}:2380` };
}

async function ready(clientUrl: string): Promise<void> {
  await until(`etcd at ${clientUrl}`, async () => {
    const health = (await fetchJson(`${clientUrl}/health`)) as { health?: string };
    const { etcdcluster } = (await fetchJson(`${clientUrl}/version`)) as { etcdcluster?: string };
    return health.health === 'true' && etcdcluster !== 'not_decided';
  });
}

async function threadStates(pid: number): Promise<string[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
  // The state follows the name, which is in parentheses and may hold anything.
  return stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
}

async function fetchJson(url: string): Promise<unknown> {
  return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).json();
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
