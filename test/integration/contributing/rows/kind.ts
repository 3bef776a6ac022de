import type { Adding } from '../adding.ts';

/** In a folder that there is: the compiler sees no text that lies over a folder which there isn't. */
export const kind: Adding = {
  what: ['kind'],
  pieces: [
    {
      file: 'reconcile/storage/kind.ts',
      text: `import { unitOf } from '../fleet/unit.ts';
import { type KubeObject, resources } from '../interfaces/kube.ts';
import type { Kind } from '../stepping/kind.ts';
import type { StepResult } from '../stepping/result.ts';

export const toyKind = {
  lister:
    ({ kube, namespace, signal }) =>
    () =>
      kube.list(resources.configMaps, { namespace, labelSelector: 'toy.example/play', signal }),
  units: (items) => items.map(unitOf),
  step: async (items) => items.map(({ metadata: { namespace = '', name } }) => played(namespace, name)),
  problem: () => 'toys were not looked at',
} as const satisfies Omit<Kind<KubeObject, StepResult>, 'scope' | 'after'>;

function played(namespace: string, name: string): StepResult {
  return { namespace, name, reason: 'Played', message: 'it was played with', outcome: 'none', workRemains: false };
}
`,
      missedBy: { in: 'reconcile/kinds.ts', says: /Cannot find module '.\/storage\/kind.ts'/ },
    },
    {
      file: 'reconcile/kinds.ts',
      text: [
        {
          after: "import type { Kinds, ResultsOf } from './stepping/kind.ts';\n",
          insert: "import { toyKind } from './storage/kind.ts';\n",
        },
        {
          before: '} as const satisfies Kinds;',
          insert:
            "  toy: { ...toyKind, scope: 'whole', after: { cluster: 'toys are played with when all work is done' } },\n",
        },
      ],
      missedBy: { run: 'knip', says: /reconcile\/storage\/kind\.ts/ },
    },
  ],
};
