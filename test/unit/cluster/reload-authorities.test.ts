import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { reloadAuthorities } from '../../../reconcile/cluster/decide/rules/certificates/reload-authorities.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { AuthorityView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { authorityFacts, managed, rotated } from './certificates.ts';
import {
  all,
  type Differences,
  endpoint,
  healthy,
  members,
  noQuorum,
  silent,
  token,
  withContainer,
  withEndpoint,
  withInputs,
  withPod,
} from './observations.ts';

const word = 'made-anew';
/** Of both CAs. */
const trust = `${word}.${word}`;
const anew = (view: AuthorityView): AuthorityView => ({ ...view, record: { token, trust: word } });
/** Ready, by connections that were made in better times, and accepts nobody. */
const deaf = withEndpoint(silent);
const told = all(deaf, withTemplate, withPod({ upToDate: 'no' }));
const restarted = all(withTemplate, withPod({ trust }), withEndpoint(endpoint(0)));

describe('members that no longer trust any CA in use', () => {
  for (const [what, differences, expected] of [
    ['are told of the CA that signs now, one at a time', {}, ['change-template', 'orders-0']],
    ['are started anew with it', { slots: { 0: told } }, ['restart-member', 'orders-0']],
    ['follow when the one before has answered', { slots: { 0: restarted } }, ['change-template', 'orders-1']],
    [
      'do not wait for an answer of one who shows others what it started with: it finds no quorum before they follow',
      { slots: { 0: all(restarted, deaf) } },
      ['change-template', 'orders-1'],
    ],
    ['wait for a pod on its way out', { slots: { 2: all(deaf, withPod({ leaving: true })) } }, undefined],
    [
      'are left alone when that brought one of them down',
      { slots: { 0: all(restarted, deaf, withContainer({ state: 'terminated' })) } },
      undefined,
    ],
    ['are told also where a quorum answers', { membership: members(3) }, ['change-template', 'orders-0']],
    [
      'are left alone where a quorum answers, and another one is not Ready',
      { membership: members(3), slots: { 2: all(deaf, withPod({ ready: false })) } },
      undefined,
    ],
    [
      'do not wait for one whose container does not run',
      { slots: { 2: all(deaf, withContainer({ state: 'waiting' })) } },
      ['change-template', 'orders-0'],
    ],
  ] as const) {
    test(what, () => assert.deepEqual(about(decided(differences)), expected));
  }

  test('wait for one who is yet to show what it started with', () => {
    const certificates = managed(3, { peer: anew, client: anew });
    const leaves = certificates.leaves.map(({ served: _, ...leaf }) => leaf);
    const differences = { slots: { 0: all(restarted, deaf) } };
    assert.equal(decided(differences, { ...certificates, leaves }), undefined);
  });

  test('are evicted where a quorum answers, and deleted where none does', () => {
    for (const [membership, how] of [
      [members(3), { by: 'eviction' }],
      [noQuorum('nobody answers'), { by: 'deletion', cutOff: true }],
    ] as const) {
      const action = { kind: 'restart-member', pod: { name: 'orders-0', uid: 'pod-0' }, ...how };
      assert.partialDeepStrictEqual(decided({ membership, slots: { 0: told } }), { action });
    }
  });

  test('are left alone as long as there is a chain to the CA that they loaded', () => {
    const crossed = (view: AuthorityView) => ({
      ...anew(view),
      facts: rotated(view.name.includes('peer') ? 'peer' : 'client'),
    });
    const certificates = managed(3, { peer: crossed, client: crossed });
    const { cross: _, ...bare } = rotated('client');
    const own = certificates.leaves.map((leaf) =>
      leaf.facts && leaf.plan.authority === 'client'
        ? { ...leaf, facts: { ...leaf.facts, issuer: bare.subject } }
        : leaf,
    );
    assert.equal(decided({}, { ...certificates, leaves: own }), undefined);
    const client = { ...anew(certificates.authorities.client ?? assert.fail()), facts: bare };
    const authorities = { ...certificates.authorities, client };
    assert.deepEqual(about(decided({}, { ...certificates, authorities, leaves: own })), [
      'change-template',
      'orders-0',
    ]);
  });

  describe('when everything of the CA that they loaded was lost', () => {
    const strange = 'stranger-made-anew';
    const stranger = (view: AuthorityView): AuthorityView => ({ ...view, record: { token, trust: strange } });
    const lost = managed(3, { peer: stranger });
    const theirs = all(withTrust(`${strange}.${strange}`), withPod({ trust: `${strange}.${strange}` }));
    const untrusted = withTrust(`${strange}`);
    for (const [what, differences, expected] of [
      ['are told although they answer us', {}, ['change-template', 'orders-0']],
      [
        'are told one after the other',
        { slots: { 0: all(untrusted, withPod({ upToDate: 'no' })) } },
        ['change-template', 'orders-1'],
      ],
      ['are left to a person once they are told, while they serve', { every: untrusted }, 'AuthorityLost'],
      [
        'are started anew where nobody answers',
        { every: all(untrusted, withPod({ upToDate: 'no' }), deaf), membership: noQuorum('nobody answers') },
        ['restart-member', 'orders-0'],
      ],
      [
        'follow when a quorum has loaded the new one, whoever is Ready',
        {
          every: all(untrusted, withPod({ upToDate: 'no' })),
          slots: { 0: all(theirs, withPod({ ready: false })), 1: theirs },
        },
        ['restart-member', 'orders-2'],
      ],
      ['are done when all have loaded it', { every: theirs }, undefined],
    ] as const) {
      test(what, () => {
        const decision = reloadAuthorities(
          situate(healthy(3, { certificates: lost, ...(differences as Differences) })),
        );
        assert.deepEqual(decision?.kind === 'refuse' ? decision.reason : about(decision), expected);
      });
    }
  });

  test('are left alone as long as our own leaf is of the CA before: they may accept it', () => {
    const client = (view: AuthorityView) => ({ ...anew(view), facts: authorityFacts('client', 2) });
    assert.equal(decided({}, managed(3, { client })), undefined);
  });
});

function decided(
  differences: Differences,
  certificates = managed(3, { peer: anew, client: anew }),
): Decision | undefined {
  const lost = { every: deaf, membership: noQuorum('nobody answers'), certificates };
  return reloadAuthorities(situate(healthy(3, { ...lost, ...differences })));
}

function withTemplate(slot: Slot): Slot {
  return withTrust(trust)(slot);
}

function withTrust(word: string): (slot: Slot) => Slot {
  return (slot) => {
    const told = withInputs({ tls: { mode: 'Managed', trust: word } })(slot);
    if (!told.peer || !told.statefulSet) return told;
    return { ...told, statefulSet: { ...told.statefulSet, inputsHash: inputsHash(told.peer.inputs) } };
  };
}

function about(decision: Decision | undefined): readonly [string, string] | undefined {
  if (decision?.kind !== 'act') return undefined;
  const { action } = decision;
  if (action.kind === 'restart-member') return [action.kind, action.pod.name];
  return action.kind === 'change-template' ? [action.kind, action.peer.name] : assert.fail(action.kind);
}
