import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitions } from '../../../manifests/api/kinds.ts';
import { crdOf } from '../../../manifests/install/crd.ts';

/** What docs/decisions/0011 relies on: `kubectl apply` keeps the object, as JSON, in an annotation of itself. */

/** Of all annotations of an object together: `TotalAnnotationSizeLimitB` of the API server. */
const annotationBytes = 256 * 1024;

describe('a CRD takes at most half of the room that client-side apply has', () => {
  for (const definition of Object.values(definitions))
    test(definition.kind, () => {
      const bytes = Buffer.byteLength(JSON.stringify(crdOf(definition)));
      assert.ok(bytes > 1000, 'it is a CRD');
      assert.ok(bytes <= annotationBytes / 2, `${bytes} bytes`);
    });
});
