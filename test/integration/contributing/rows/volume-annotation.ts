import type { Adding } from '../adding.ts';

export const volumeAnnotation: Adding = {
  what: ['annotation of a volume'],
  pieces: [
    {
      file: 'manifests/render/names.ts',
      text: [{ before: '  goesBackTo:', insert: `  toy: \`\${group}/toy\`,\n` }],
      missedBy: { in: 'manifests/render/volume-fields.ts', says: /'toy' does not exist on type/ },
    },
    {
      file: 'manifests/render/volume-record-types.ts',
      text: [{ before: '  readonly goesBackTo?:', insert: '  readonly toy?: string;\n' }],
      missedBy: { in: 'manifests/render/volume-fields.ts', says: /'toy' does not exist in type/ },
    },
    {
      file: 'manifests/render/volume-fields.ts',
      text: [{ before: '  goesBackTo: {', insert: "  toy: matching(annotations.toy, 'a toy', /^toy$/),\n" }],
      missedBy: { in: 'manifests/render/volume-fields.ts', says: /'toy' is missing/ },
    },
    {
      file: 'test/unit/manifests/build-volume.test.ts',
      text: [{ before: '  nextVersion: version,\n', insert: "  toy: fc.constant('toy'),\n" }],
      missedBy: { in: 'test/unit/manifests/build-volume.test.ts', says: /'toy' is missing/ },
    },
    {
      file: 'docs/annotations.ts',
      text: [{ before: '  goesBackTo:', insert: "  toy: own(volume, 'which toy it has'),\n" }],
      missedBy: { in: 'docs/annotations.ts', says: /'toy' is missing/ },
    },
    {
      file: 'docs/explanation/what-remembers-what.md',
      text: [{ before: '| `goes-back-to` |', insert: '| `toy` | which toy it has |\n' }],
      missedBy: { run: 'test/unit/architecture.test.ts', says: /'toy'/ },
    },
  ],
  generated: /docs\/reference\/annotations\.md/,
};
