import type { Adding } from '../adding.ts';

export const specField: Adding = {
  what: ['field of the spec'],
  pieces: [
    {
      file: 'manifests/api/etcd-cluster.ts',
      text: [
        {
          before: '    suspend: Type.Optional(',
          insert: "    toy: Type.Optional(Type.Boolean({ default: false, keepsDefault, description: 'Plays.' })),\n",
        },
      ],
      missedBy: { in: 'manifests/render/peer.ts', says: /'toy' does not exist in type/ },
    },
    {
      file: 'manifests/render/peer.ts',
      text: [{ before: "  suspend: 'whether anything", insert: "  toy: 'whether it plays: play-toy',\n" }],
      missedBy: { in: 'manifests/render/peer.ts', says: /'toy' is missing/ },
    },
  ],
  generated: /crds\/etcdclusters\.yaml/,
};

export const specFieldOfMembers: Adding = {
  what: ['field of the spec'],
  pieces: [
    {
      file: 'manifests/api/etcd-cluster.ts',
      text: [
        {
          before: '    suspend: Type.Optional(',
          insert: "    doll: Type.Optional(Type.Boolean({ description: 'Plays.' })),\n",
        },
      ],
      missedBy: { in: 'manifests/render/peer.ts', says: /'doll' does not exist on type/ },
    },
    {
      file: 'manifests/api/etcd-peer.ts',
      text: [
        {
          before: '  podTemplate: Type.Optional(podTemplateSchema),',
          insert: "  doll: Type.Optional(Type.Boolean({ description: 'Plays.' })),\n",
        },
      ],
      missedBy: { in: 'manifests/render/peer.ts', says: /'doll' does not exist in type/ },
    },
    {
      file: 'manifests/render/peer.ts',
      text: [{ before: '  podTemplate: ({ podTemplate })', insert: '  doll: ({ doll }) => doll,\n' }],
      missedBy: { in: 'manifests/render/peer.ts', says: /'doll' is missing/ },
    },
    {
      file: 'manifests/render/inputs-hash.ts',
      text: [{ before: '  podTemplate: withoutEmpty,', insert: '  doll: (doll) => doll,\n' }],
      missedBy: { in: 'manifests/render/inputs-hash.ts', says: /'doll' is missing/ },
    },
    {
      file: 'test/unit/manifests/member-inputs.test.ts',
      text: [{ before: "  resources: { limits: { memory: '3Gi' } },\n", insert: '  doll: true,\n' }],
      missedBy: { in: 'test/unit/manifests/member-inputs.test.ts', says: /'doll' is missing/ },
    },
  ],
  generated: /crds\/etcdpeers\.yaml/,
};
