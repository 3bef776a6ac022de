import { longestDescription } from '../manifests/description.ts';
import { planContext, statusContext } from '../reconcile/fleet/names.ts';
import { identityOf } from '../reconcile/fleet/objects.ts';
import { states } from '../reconcile/fleet/states.ts';
import { fleetStates, maxPerCluster, smallFleet, type WantedStatus } from '../reconcile/fleet/wanted-statuses.ts';

/** What docs/reference/what-it-says.md says of commit statuses. */

type States = Readonly<Record<string, WantedStatus['state']>>;

const ofFleet: Readonly<Record<keyof typeof fleetStates, string>> = {
  reconciling: 'steps remain, and are being taken',
  ready: 'every cluster of this revision is as it should be',
  stalled: "a document is wrong (the first problem's `file:line:column`), or a cluster needs a person",
};

export function commitStatusTables(): string {
  const fleet = { metadata: { name: '<fleet>' } };
  const context = statusContext(fleet);
  const place = { namespace: '<namespace>', name: '<name>' };
  const few = `where the fleet has at most ${smallFleet} of them; in a larger one those that the commit changed, and at most ${maxPerCluster}`;
  return [
    '| context | on | there is one |',
    '|---|---|---|',
    `| \`${context}\` | the commit of the fleet's ref | always |`,
    `| \`${context}/${identityOf(undefined, place)}\` | the same | for each EtcdCluster, ${few} |`,
    `| \`${context}/${identityOf('EtcdBackup', place)}\` | the same | for each object of another kind, alike |`,
    `| \`${planContext(fleet)}\` | the head of a pull request | where merging it would change something of the fleet ([Pull requests](../how-to/pull-requests.md)) |`,
    '',
    `A description has at most ${longestDescription} characters. What a person is to do stands first in it, after \`do:\`, and is never cut: where it`,
    'does not fit, the command that shows it stands there instead. What is left over is cut at its end.',
    '',
    '| of a fleet | means |',
    '|---|---|',
    ...rowsOf(fleetStates, ofFleet),
    '',
    '| of a cluster, or another object | means |',
    '|---|---|',
    ...Object.values(states).map(({ commit, means }) => `| ${commit} | ${means} |`),
    '',
    'Of a fleet that is deleted, what was `pending` becomes `error`, and says that the fleet was deleted ([Forges](../how-to/forges.md#a-fleet-that-is-deleted)).',
  ].join('\n');
}

function rowsOf(states: States, means: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(means).map(([key, text]) => `| ${states[key]} | ${text} |`);
}
