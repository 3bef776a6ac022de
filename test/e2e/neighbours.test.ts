import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { type Attack, attacks } from './support/neighbours/attacks.ts';
import { startInstallation } from './support/neighbours/installation.ts';
import { listen } from './support/neighbours/said.ts';
import { settle } from './support/neighbours/victim.ts';
import { inOwnSandbox } from './support/own-cluster.ts';

/**
 * Two tenants of one installation, whose ticks and follow-ups are Jobs. `payments` has a fleet, and clusters that are
 * born and healed while `mallory` does whatever one tenant can do. Births are measured in turns: the last ones alone,
 * three beside, one more alone.
 */
const binaries = await inOwnSandbox();
const installation = await startInstallation(binaries);
after(() => installation[Symbol.asyncDispose]());
const victim = await settle(installation, 'payments');

const most = 1.5;
const alone: number[] = [];
const beside = { births: 5, heals: 1 };
/** All that is said where nobody else is. A pass may see a volume that `heal` deletes while it is still leaving. */
const usual = new Set(['EtcdCluster Stalled True VolumeLeaving']);
/** How the fleet and its commit repeat just that of their cluster. */
const ofLeavingVolume = /volume kept-\d+ is being deleted and disappears with its pod/;
const mayRepeat = new Set(['EtcdFleet Stalled True ClusterStalled', 'commit failure']);

async function times(count: number, what: () => Promise<number>): Promise<readonly number[]> {
  const all: number[] = [];
  while (all.length < count) all.push(await what());
  return all;
}

function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const of = (index: number) => sorted[index] ?? assert.fail('nothing was measured');
  return (of(Math.floor(middle)) + of(Math.ceil(middle))) / 2;
}

const told = (all: readonly number[]) => all.map((seconds) => seconds.toFixed(1)).join(' ');

async function goAlone(t: TestContext, { births: count, heals }: typeof beside): Promise<void> {
  await using said = await listen(installation, victim.namespace);
  const births = await times(count, victim.birth);
  alone.push(...births);
  const healed = await times(heals, victim.heal);
  for (const one of said.all.keys()) if (!mayRepeat.has(one)) usual.add(one);
  t.diagnostic(`alone: births ${told(births)} s${heals > 0 ? `, healed in ${told(healed)} s` : ''}`);
}

/** @returns what each birth took */
async function goBeside(t: TestContext, namespace: string, attack: Attack): Promise<readonly number[]> {
  const before = await victim.fleet();
  await installation.addTenant(namespace);
  await using ending = new AsyncDisposableStack();
  ending.defer(() => installation.removeTenant(namespace));
  ending.use(await attack(installation, namespace));
  const said = ending.use(await listen(installation, victim.namespace));
  const births = await times(beside.births, victim.birth);
  const healed = await times(beside.heals, victim.heal);
  t.diagnostic(`beside: births ${told(births)} s, healed in ${told(healed)} s`);
  const unusual = [...said.all]
    .filter(([one]) => !usual.has(one))
    .flatMap(([one, words]) => [...words].map((text) => [one, text] as const))
    .filter(([one, text]) => !(mayRepeat.has(one) && ofLeavingVolume.test(text)));
  assert.deepEqual(unusual, [], 'nothing is said that is not said alone');
  assert.equal(victim.commitStatus(), 'success');
  const { spec, status } = (await victim.fleet()) ?? assert.fail('the fleet is gone');
  assert.deepEqual([spec, status?.inventory], [before?.spec, before?.status?.inventory]);
  return births;
}

test('alone, clusters are born and healed', async (t) => {
  await victim.birth();
  await goAlone(t, { births: 5, heals: 1 });
  t.diagnostic([...usual].toSorted().join(', '));
});

for (const [index, [what, attack]] of Object.entries(attacks).entries()) {
  test(`a birth beside ${what} takes at most ${most} times as long, and a loss is healed`, async (t) => {
    const births = await goBeside(t, `mallory-${index}`, attack);
    await goAlone(t, { births: 1, heals: 0 });
    const ratio = median(births) / median(alone.slice(-6));
    t.diagnostic(`${ratio.toFixed(2)} times as long as alone`);
    assert.ok(ratio <= most, `${ratio.toFixed(2)} times: ${told(births)} s beside, ${told(alone.slice(-6))} s alone`);
  });
}
