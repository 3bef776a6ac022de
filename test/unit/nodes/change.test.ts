import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Node } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { changedNode, changedObject, type NodeChange } from '../../../reconcile/nodes/change-node.ts';
import { plainly } from '../../../reconcile/nodes/observe.ts';
import { at } from './seen.ts';

/** A change of a Node is written on the object, and modelled on what is seen of it: the two must agree. */

const time = '2026-11-23T11:00:00Z';
const word = fc.constantFrom('a', 'b', 'by-us');
const mark = fc.option(fc.oneof(word, fc.constant(undefined)), { nil: null });
const markNames = ['granted', 'cordoned', 'now', 'inProgress', 'returned', 'done', 'putOff'] as const;

const written = {
  granted: annotations.rebootGranted,
  cordoned: annotations.rebootCordoned,
  now: annotations.rebootNow,
  inProgress: annotations.rebootInProgress,
  returned: annotations.rebootReturned,
  done: annotations.rebootDone,
  putOff: annotations.rebootPutOff,
} as const;

const node = fc
  .record({
    marks: fc.dictionary(fc.constantFrom(...Object.values(written)), word),
    needed: fc.boolean(),
    unschedulable: fc.boolean(),
  })
  .map(({ marks, needed, unschedulable }): Node => {
    const found = Object.fromEntries(Object.entries(marks).map(([name, text]) => [name, `${time} ${text}`]));
    const wish = needed ? { [annotations.rebootNeeded]: 'kernel' } : {};
    return {
      metadata: { name: 'node-1', uid: 'u', annotations: { ...found, ...wish } },
      spec: { ...(unschedulable && { unschedulable }) },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: 'boot-1' } },
    };
  });

const change = fc
  .record({
    marks: fc.record(Object.fromEntries(markNames.map((name) => [name, mark]))),
    flags: fc.record({ cordon: fc.boolean(), uncordon: fc.boolean(), fulfilled: fc.boolean() }, { requiredKeys: [] }),
  })
  .map(({ marks, flags }): NodeChange => {
    const chosen = Object.entries(marks).filter(([, text]) => text !== null);
    return { ...Object.fromEntries(chosen), ...flags };
  });

test('what is written on a Node is seen as a plan and a search foresee it', () => {
  fc.assert(
    fc.property(node, change, (before, what) => {
      assert.deepEqual(
        { ...plainly(changedObject(before, what, at)), selected: true },
        changedNode({ ...plainly(before), selected: true }, what, at),
      );
    }),
  );
});
