import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Apart } from '../../e2e/support/foretelling/apart.ts';
import { differenceIn, episodesOf } from '../../e2e/support/foretelling/episodes.ts';
import { createLedger } from '../../e2e/support/foretelling/ledger.ts';
import type { Foreseen, Sight } from '../../e2e/support/foretelling/sight.ts';

type Step = Foreseen['steps'][number];

const prepare: Step = { action: 'prepare-members', target: 'a-3', reason: 'ReplacingMember' };
const add: Step = { action: 'add-learner', target: 'a-3', reason: 'AddingLearner' };
const issue: Step = { action: 'issue-certificates', target: 'a-3-peer-tls', reason: 'IssuingCertificates' };
const remove: Step = { action: 'remove-member', target: 'a-1', reason: 'RemovingMember' };

const done = { kind: 'done', reason: 'Converged' } as const;
const acts = { kind: 'act', reason: 'ReplacingMember' } as const;
const waits = { kind: 'wait', reason: 'MemberStarting' } as const;
const itself = { kind: 'refuse', reason: 'VolumeLeaving' } as const;
const person = { kind: 'refuse', reason: 'MinorSkipped' } as const;

function plan(steps: readonly Step[], end: Foreseen['end'] = done): Foreseen {
  return { summary: 'a plan', steps, end };
}

interface Look extends Partial<Sight> {
  readonly decided: Sight['decided'];
  /** All steps so far. */
  readonly so?: readonly Step[];
}

function seen(looks: readonly Look[]): readonly Sight[] {
  return looks.map(({ so = [], ...look }, index) => ({
    uid: 'u',
    name: 'a',
    at: index,
    asked: 'generation 1',
    generation: 1,
    history: told(so),
    ...look,
  }));
}

function told(steps: readonly Step[]): Sight['history'] {
  return steps
    .map((step, index) => ({ ...step, at: `${index}`, message: '', outcome: 'acted', generation: 1 }))
    .slice(-20);
}

function differences(...looks: readonly Look[]) {
  return differencesApart(undefined, ...looks);
}

function differencesApart(apart: Apart | undefined, ...looks: readonly Look[]) {
  return episodesOf(seen(looks)).map((episode) => differenceIn(episode, apart));
}

describe('of what was foretold', () => {
  test('all has come, and the cluster is at rest', () => {
    assert.deepEqual(
      differences({ decided: acts, plan: plan([prepare, add]) }, { decided: done, so: [prepare, add] }),
      [undefined],
    );
  });

  test('a step has not come, or another one has', () => {
    for (const so of [[prepare], [prepare, remove], [prepare, add, remove], []]) {
      const end: Look = { decided: done, so };
      assert.deepEqual(differences({ decided: acts, plan: plan([prepare, add]) }, end, end), ['steps']);
    }
  });

  test('all has come, and it ends otherwise', () => {
    const start: Look = { decided: acts, plan: plan([prepare]) };
    assert.deepEqual(differences(start, { decided: person, so: [prepare] }), ['end']);
    assert.deepEqual(differences(start, { decided: itself, so: [prepare] }, { decided: person, so: [prepare] }), [
      'end',
    ]);
    const refused: Look = { decided: acts, plan: plan([prepare], { kind: 'refused', reason: 'MinorSkipped' }) };
    assert.deepEqual(differences(refused, { decided: person, so: [prepare] }), [undefined]);
    assert.deepEqual(differences(refused, { decided: done, so: [prepare] }), ['end']);
  });

  test('a plan that goes round in circles is a defect whatever happens', () => {
    const round = plan([prepare], { kind: 'circles', reason: 'ReplacingMember' });
    assert.deepEqual(differences({ decided: acts, plan: round }, { decided: done, so: [prepare] }), ['circles']);
  });

  test('only the beginning has come when something else is asked, or the story ends', () => {
    const start: Look = { decided: acts, plan: plan([prepare, add, remove]) };
    const then: Look = { decided: acts, asked: 'generation 2', so: [prepare, add], plan: plan([remove]) };
    assert.deepEqual(differences(start, then, { decided: done, asked: 'generation 2', so: [prepare, add, remove] }), [
      undefined,
      undefined,
    ]);
    assert.deepEqual(differences(start, { ...then, so: [prepare, remove] }), ['steps', undefined]);
    assert.deepEqual(differences(start, { decided: waits, so: [prepare] }), [undefined]);
  });

  test('a step for a new spec is not held against the plan before, also where no look told it', () => {
    const start: Look = { decided: acts, plan: plan([prepare]) };
    const later = told([prepare, remove]).map((step, index) => ({ ...step, generation: index + 1 }));
    const asked = { asked: 'generation 2', generation: 2 };
    assert.deepEqual(differences(start, { decided: done, ...asked, history: later }), [undefined]);
    assert.deepEqual(differences(start, { decided: done, ...asked, so: [prepare, remove] }), ['steps']);
  });

  test('some of the restarts next to each other have come when something else is asked', () => {
    const [first, second, third] = ['a-0', 'a-1', 'a-2'].map((target) => {
      return { action: 'change-template', target, reason: 'RollingConfiguration' } as const;
    });
    assert.ok(first && second && third);
    const start: Look = { decided: acts, plan: plan([prepare, first, second, third, add]) };
    for (const so of [
      [prepare, third],
      [prepare, second, first],
    ])
      assert.deepEqual(differences(start, { decided: waits, so }), [undefined]);
    for (const so of [[third], [prepare, third, third, third, third], [prepare, third, add], [prepare, add]])
      assert.deepEqual(differences(start, { decided: waits, so }), ['steps']);
  });

  test('a refusal that ends by itself is a wait while more is foretold; one for a person ends it', () => {
    const start: Look = { decided: acts, plan: plan([prepare, remove]) };
    const end: Look = { decided: done, so: [prepare, remove] };
    assert.deepEqual(differences(start, { decided: itself, so: [prepare] }, end), [undefined]);
    assert.deepEqual(differences(start, { decided: person, so: [prepare] }, end), ['steps']);
  });

  test('what is refused because a step failed is a wait for the step that makes up for it', () => {
    const start: Look = { decided: acts, plan: plan([prepare], { kind: 'refused', reason: 'VolumeLeaving' }) };
    const [failed] = told([prepare]).map((step) => ({ ...step, outcome: 'failed', reason: 'EtcdDidNotAnswer' }));
    assert.ok(failed);
    const retried: Look = { decided: { kind: 'refuse', reason: 'EtcdDidNotAnswer' }, history: [failed] };
    const history = [failed, ...told([add])];
    assert.deepEqual(differences(start, retried, { decided: itself, history }), [undefined]);
    assert.deepEqual(differences(start, retried, { decided: done, history }), ['end']);
  });

  test('what comes after a wait whose end can not be foretold is foretold then', () => {
    const start: Look = { decided: acts, plan: plan([prepare], { kind: 'waits', reason: 'MemberStarting' }) };
    const later: Look = { decided: acts, so: [prepare], plan: plan([add]) };
    assert.deepEqual(differences(start, later, { decided: done, so: [prepare, add] }), [undefined, undefined]);
    assert.deepEqual(differences(start, later, { decided: done, so: [prepare, remove] }), [undefined, 'steps']);
  });

  test('a disturbance may pass by itself: what counts is foretold when the first step is due', () => {
    const rest: Look = { decided: done };
    const ill: Look = { decided: waits, plan: plan([prepare, remove]) };
    const due: Look = { decided: acts, plan: plan([add]) };
    assert.deepEqual(differences(rest, ill, due, { decided: done, so: [add] }), [undefined]);
    assert.deepEqual(differences(rest, ill, { decided: itself }), []);
    assert.deepEqual(
      differences(ill, due, { decided: done, so: [add] }),
      ['steps'],
      'of a new spec it is the first look',
    );
  });

  test('where a pod that is made anew does not come up, what is done then is foretold then', () => {
    const recreate: Step = { action: 'recreate-pod', target: 'a-1', reason: 'RecreatingPod' };
    const rest: Look = { decided: done };
    const start: Look = { decided: acts, plan: plan([recreate]) };
    const vain: Look = { decided: acts, so: [recreate], plan: plan([prepare, remove]) };
    const end: Look = { decided: done, so: [recreate, prepare, remove] };
    assert.deepEqual(differences(rest, start, vain, end), [undefined, undefined]);
    assert.deepEqual(differences(rest, start, vain, { decided: done, so: [recreate, prepare] }), [undefined, 'steps']);
    assert.deepEqual(differences(rest, start, { ...end, so: [recreate, add] }), ['steps']);
    const more: Look = { ...start, plan: plan([recreate, add]) };
    assert.deepEqual(differences(rest, more, vain, end), ['steps'], 'more was foretold');
  });

  test('certificates are not foretold where they were not looked at', () => {
    const blind = { ...plan([prepare, add]), isBlind: true } as const;
    const end: Look = { decided: done, so: [prepare, issue, add] };
    assert.deepEqual(differences({ decided: acts, plan: blind }, end), [undefined]);
    assert.deepEqual(differences({ decided: acts, plan: plan([prepare, add]) }, end), ['steps']);
  });

  test('whether a member is started by the step that records it is not foretold there either', () => {
    const blind = { ...plan([prepare, add, remove]), isBlind: true } as const;
    const so = [prepare, remove];
    assert.deepEqual(differences({ decided: acts, plan: blind }, { decided: done, so }), [undefined]);
    const seeing = plan([prepare, add, remove]);
    assert.deepEqual(differences({ decided: acts, plan: seeing }, { decided: done, so }), ['steps']);
    const other = { ...add, target: 'a-4' };
    assert.deepEqual(differences({ decided: acts, plan: blind }, { decided: done, so: [prepare, other, remove] }), [
      'steps',
    ]);
  });

  test('members are adopted one after the other, or together', () => {
    const step = (action: Step['action'], reason: Step['reason']) => (target: string) => ({ action, reason, target });
    const adopt = step('prepare-members', 'AdoptingVolumes');
    const sign = step('issue-certificates', 'IssuingCertificates');
    const run = step('start-members', 'StartingMembers');
    const start: Look = { decided: acts, plan: plan([adopt('a-0, a-1'), sign('c, d'), run('a-0, a-1'), remove]) };
    const apart = [sign('c'), adopt('a-0'), run('a-0'), adopt('a-1'), sign('d'), run('a-1')];
    assert.deepEqual(differences(start, { decided: done, so: [...apart, remove] }), [undefined]);
    assert.deepEqual(differences(start, { decided: waits, so: apart.slice(0, 3) }), [undefined], 'under way');
    for (const so of [apart, [...apart.slice(1), remove], [...apart, run('a-2'), remove]])
      assert.deepEqual(differences(start, { decided: done, so }), ['steps']);
    assert.deepEqual(differences(start, { decided: waits, so: [adopt('a-2')] }), ['steps'], 'under way');
  });

  test('where its story says so, what is not seen beforehand may end it after steps foretold', () => {
    const start: Look = { decided: acts, plan: plan([prepare, add]) };
    const ends = (reason: 'MinorSkipped' | 'VolumeLeaving') => ({ endsFor: [reason] });
    const end: Look = { decided: person, so: [prepare] };
    assert.deepEqual(differencesApart(ends('MinorSkipped'), start, end), [undefined]);
    assert.deepEqual(differencesApart(ends('VolumeLeaving'), start, end), ['steps']);
    assert.deepEqual(differencesApart(ends('MinorSkipped'), start, { ...end, so: [remove] }), ['steps']);
    assert.deepEqual(differencesApart({ because: 'it interferes' }, start, { ...end, so: [remove] }), [undefined]);
  });

  test('looks of invocations side by side count in the order in which they looked', () => {
    const [first, last] = seen([
      { decided: acts, plan: plan([prepare]) },
      { decided: done, so: [prepare] },
    ]);
    assert.ok(first && last);
    const early = { ...first, at: -1, decided: done };
    assert.deepEqual(
      episodesOf([first, early, last]).map((episode) => differenceIn(episode)),
      [undefined],
    );
  });

  test('an invocation that looks beside the one that acts ends nothing before the first step', () => {
    const rest: Look = { decided: done };
    const looks = [rest, { decided: acts, plan: plan([prepare]) }, rest];
    assert.deepEqual(differences(...looks, { decided: done, so: [prepare] }), [undefined]);
    assert.deepEqual(differences(...looks, { decided: done, so: [add] }), ['steps']);
    const again: Look = { decided: acts, plan: plan([add]) };
    assert.deepEqual(differences(...looks, again, { decided: done, so: [add] }), [undefined], 'foretold anew');
  });

  test('a step that was taken, and that the status does not tell yet, is awaited', () => {
    const start: Look = { decided: acts, plan: plan([prepare, add]) };
    const last: Look = { decided: acts, acted: true, so: [prepare] };
    const early: Look = { decided: done, so: [prepare] };
    assert.deepEqual(differences(start, last, early, early, { decided: done, so: [prepare, add] }), [undefined]);
    assert.deepEqual(differences(start, last, early, { decided: done, so: [prepare, remove] }), ['steps']);
    assert.deepEqual(differences(start, { decided: acts, so: [prepare] }, early), ['steps'], 'it was not taken');
  });

  test('a later look that read an earlier status adds no steps', () => {
    const start: Look = { decided: acts, plan: plan([prepare, add]) };
    const looks = [start, { decided: acts, so: [prepare, add] }, { decided: waits, so: [prepare] }];
    assert.deepEqual(differences(...looks, { decided: done, so: [prepare, add] }), [undefined]);
    assert.deepEqual(differences(...looks, { decided: done, so: [prepare, add, prepare] }), ['steps']);
  });

  test('more steps than the status remembers are counted to the last', () => {
    const many = Array.from({ length: 30 }, (_, n): Step => ({ ...prepare, target: `a-${n}` }));
    const start: Look = { decided: acts, plan: plan(many) };
    const looks = many.map((_, n): Look => ({ decided: acts, so: many.slice(0, n) }));
    assert.deepEqual(differences(start, ...looks, { decided: done, so: many }), [undefined]);
    const short = many.toSpliced(3, 1);
    const others = short.map((_, n): Look => ({ decided: acts, so: short.slice(0, n) }));
    assert.deepEqual(differences(start, ...others, { decided: done, so: short }), ['steps']);
  });

  test('steps between two looks that nothing remembers are a failure of their own', () => {
    const many = Array.from({ length: 30 }, (_, n): Step => ({ ...prepare, target: `a-${n}` }));
    const start: Look = { decided: acts, so: many.slice(0, 3), plan: plan([add]) };
    assert.throws(() => differences(start, { decided: done, so: many }), /forgotten/);
  });
});

describe('a story', () => {
  const looks = seen([
    { decided: acts, plan: plan([prepare]) },
    { decided: done, so: [add] },
  ]);

  test('that differs fails, and tells both what was foretold and what was done', () => {
    const ledger = createLedger('a-story');
    for (const look of looks) ledger.note(look);
    const message = /prepare-members a-3(.|\n)*acted add-learner a-3/;
    assert.throws(() => ledger.settle(), { code: 'ERR_ASSERTION', message });
  });

  test('in which a step failed for a passing cause passes, and names it', () => {
    const ledger = createLedger('a-story');
    const history = told([prepare, add]).map((step) =>
      step.action === 'prepare-members' ? { ...step, outcome: 'failed', reason: 'EtcdDidNotAnswer' } : step,
    );
    for (const look of seen([
      { decided: acts, plan: plan([prepare]) },
      { decided: done, history },
    ]))
      ledger.note(look);
    assert.deepEqual(ledger.settle(), ['a: prepare-members a-3 EtcdDidNotAnswer failed at 0, and was made up for']);
  });

  test('after which a status says that its plan was left fails, but not after a cut', () => {
    const kept = {
      asked: '1-u',
      generation: 1,
      at: '',
      state: 'Left',
      message: 'left its plan at step 1 of 1',
    } as const;
    const settled = (last: NonNullable<Sight['kept']>, story = 'a-story', name = 'a') => {
      const ledger = createLedger(story);
      for (const look of seen([
        { decided: acts, plan: plan([prepare]) },
        { decided: done, so: [prepare], kept: last },
      ]))
        ledger.note({ ...look, name });
      return () => ledger.settle();
    };
    assert.throws(settled(kept), /a: its status says: left its plan at step 1 of 1/);
    assert.doesNotThrow(settled({ ...kept, interrupted: true }));
    assert.doesNotThrow(settled({ ...kept, state: 'AsPlanned' }));
    assert.doesNotThrow(settled(kept, 'older-disk', 'restored'), 'of which the story says why');
  });

  test('of several clusters, in which all is as foretold, passes', () => {
    const ledger = createLedger('a-story');
    for (const uid of ['one', 'other'])
      for (const look of seen([
        { decided: acts, plan: plan([prepare]) },
        { decided: done, so: [prepare] },
      ]))
        ledger.note({ ...look, uid });
    ledger.settle();
  });
});
