import type { Adding } from '../adding.ts';

export const flagField: Adding = {
  what: ['flag of etcd as a field'],
  pieces: [
    {
      file: 'manifests/api/etcd-settings.ts',
      text: [
        {
          before: '    extraArgs: Type.Optional(',
          insert: "    toyTxnOps: Type.Optional(int64({ minimum: 1, description: 'Operations of one toy.' })),\n",
        },
      ],
      missedBy: { in: 'test/unit/manifests/build-args.test.ts', says: /cannot be used to index type/ },
    },
    {
      file: 'manifests/api/flag-fields.ts',
      text: [
        { before: '} as const;', insert: "  toyTxnOps: { 'toy-txn-ops': (operations: number) => operations },\n" },
      ],
      missedBy: { in: 'manifests/render/etcd-args.ts', says: /Property 'toyTxnOps' is missing/ },
    },
    {
      file: 'test/unit/manifests/build-args.test.ts',
      text: [{ after: '  snapshotCount: 10_000,\n', insert: '  toyTxnOps: 128,\n' }],
      missedBy: { in: 'test/unit/manifests/build-args.test.ts', says: /Property 'toyTxnOps' is missing/ },
    },
  ],
  generated: /docs\/reference\/api\.md/,
};
