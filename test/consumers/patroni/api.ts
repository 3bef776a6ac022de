import assert from 'node:assert/strict';
import { until } from '../../e2e/support/until.ts';
import type { Instance } from './instance.ts';

/** How Patroni sees its database, by its REST API. */
export interface Seen {
  readonly leader: string;
  /** PostgreSQL counts one up with each failover and switchover. */
  readonly timeline: number;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

/** `undefined` while one of them does not lead, or another one does not follow it. */
export async function look(instances: readonly Instance[]): Promise<Seen | undefined> {
  for (const { url } of instances) {
    const answer = await fetch(`${url}/cluster`, { signal: AbortSignal.timeout(5_000) });
    const { members = [] } = (await answer.json()) as { readonly members?: readonly Member[] };
    const leader = members.find(({ role, state }) => role === 'leader' && state === 'running');
    const streaming = members.filter(({ state, timeline }) => state === 'streaming' && timeline === leader?.timeline);
    if (leader?.timeline !== undefined && streaming.length === instances.length - 1)
      return { leader: leader.name, timeline: leader.timeline };
  }
  return undefined;
}

/** What counts failovers counts one that was asked for: nothing else shows that it can. */
export async function switchOver(instances: readonly Instance[], { leader, timeline }: Seen): Promise<void> {
  const candidate = instances.find(({ name }) => name !== leader)?.name ?? assert.fail('there is one instance');
  const { url } = instances.find(({ name }) => name === leader) ?? assert.fail(`there is no ${leader}`);
  const body = JSON.stringify({ leader, candidate });
  const answer = await fetch(`${url}/switchover`, { method: 'POST', body, signal: AbortSignal.timeout(60_000) });
  assert.equal(answer.status, 200, await answer.text());
  const isOver = async () => {
    const seen = await look(instances);
    return seen?.leader === candidate && seen;
  };
  assert.equal((await until('the other one leads', isOver, { within: 120 })).timeline, timeline + 1);
}
