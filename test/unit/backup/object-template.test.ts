import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  expandTemplate,
  type ObjectTemplate,
  parseLocation,
  parseObjectTemplate,
  prefixOf,
  timestampOf,
  urlOf,
} from '../../../manifests/api/object-template.ts';
import { schemes } from '../../../manifests/stores/stores.ts';

const values = { namespace: 'prod', cluster: 'main', name: 'daily-1', uid: 'a-b', timestamp: '20261122T190452Z' };

function template(text: string): ObjectTemplate {
  const parsed = parseObjectTemplate(text);
  assert.ok(!('problem' in parsed), JSON.stringify(parsed));
  return parsed;
}

function problem(text: string): string {
  const parsed = parseObjectTemplate(text);
  assert.ok('problem' in parsed, `${text} was taken`);
  return parsed.problem;
}

test('a template becomes the name of an object', () => {
  for (const text of [
    'gs://backups/{{namespace}}/{{cluster}}/{{timestamp}}.db',
    'gs://backups/{{ namespace }}/{{cluster }}/{{timestamp}}.db',
  ]) {
    const parsed = template(text);
    assert.equal(urlOf(expandTemplate(parsed, values)), 'gs://backups/prod/main/20261122T190452Z.db');
    assert.deepEqual([...parsed.variables], ['namespace', 'cluster', 'timestamp']);
  }
  assert.equal(urlOf(expandTemplate(template('pvc://data-0/a/{{uid}}.db.zst'), values)), 'pvc://data-0/a/a-b.db.zst');
});

test('the prefix of a cluster’s backups ends where they begin to differ', () => {
  assert.equal(prefixOf(template('s3://abc/{{namespace}}/{{cluster}}/b-{{timestamp}}.db'), values), 'prod/main/b-');
  assert.equal(prefixOf(template('s3://abc/{{timestamp}}/{{cluster}}.db'), values), '');
  assert.equal(prefixOf(template('s3://abc/fixed.db'), values), 'fixed.db');
});

test('a timestamp sorts by time and needs no escape anywhere', () => {
  assert.equal(timestampOf(new Date('2026-11-22T19:04:52.123Z')), '20261122T190452Z');
});

const refused: readonly [text: string, why: RegExp][] = [
  ['', /no object's name/],
  ['backups/x.db', /no object's name/],
  ['gcs://backups/x.db', /"gcs:\/\/" is not known: use gs:\/\//],
  ['file:///etc/passwd', /is not known/],
  ['http://bucket/x', /is not known/],
  ['gs://backups', /path after gs:\/\/backups\/ is missing/],
  ['gs://backups/', /path after gs:\/\/backups\/ is missing/],
  ['gs:///x.db', /can't be the name of a bucket/],
  ['gs://A/x.db', /can't be the name of a bucket/],
  ['s3://under_score/x.db', /can't be the name of a bucket/],
  ['s3://a..b/x.db', /can't be the name of a bucket/],
  ['gs://user:secret@bucket/x.db', /can't be the name of a bucket/],
  ['gs://{{namespace}}/x.db', /bucket can't come from a variable/],
  ['gs://b-{{cluster}}/x.db', /bucket can't come from a variable/],
  ['gs://bucket/{{clutser}}.db', /"{{clutser}}" is not known: use .*did you mean cluster/],
  ['gs://bucket/{{}}.db', /is not known/],
  ['gs://bucket/{{constructor}}.db', /is not known/],
  ['gs://bucket/{{timestamp}.db', /brace/],
  ['gs://bucket/{{{timestamp}}}.db', /brace/],
  ['gs://bucket//x.db', /empty part/],
  ['gs://bucket/x.db/', /empty part/],
  ['gs://bucket/../x.db', /the part "\.\."/],
  ['gs://bucket/./x.db', /the part "\."/],
  ['gs://bucket/a b.db', /use letters/],
  ['gs://bucket/a?b.db', /use letters/],
  ['gs://bucket/a#b.db', /use letters/],
  ['gs://bucket/a%2Fb.db', /use letters/],
  ['gs://bucket/a\\b.db', /use letters/],
  ['gs://bucket/a\nb.db', /use letters/],
  ['gs://bucket/a\u0000b.db', /use letters/],
  ['gs://bucket/ü.db', /use letters/],
  ['gs://bucket/x.db.json', /ends in \.json/],
  ['gs://bucket/x.partial-1.db', /\.partial-/],
  [`gs://bucket/${'x'.repeat(400)}.db`, /part of 403 characters/],
  [`gs://bucket/${'x/'.repeat(600)}x.db`, /at most 1010 fit/],
  [`gs://bucket/${'x'.repeat(3000)}`, /at most 2048/],
];

for (const [text, why] of refused) {
  test(`refused: ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.match(problem(text), why);
    assert.ok(problem(text).length < 2500);
  });
}

test('a value that would lead elsewhere is never put in', () => {
  const parsed = template('gs://bucket/{{namespace}}/{{cluster}}.db');
  for (const cluster of ['..', '.', 'a/b', '../../x', '', 'a b', '{{uid}}', 'x'.repeat(300)]) {
    assert.throws(() => expandTemplate(parsed, { ...values, cluster }), RangeError, cluster);
  }
  assert.throws(() => expandTemplate(parsed, { namespace: 'a' }), /{{cluster}} has no value/);
  assert.throws(() => expandTemplate(template('gs://bucket/{{cluster}}'), { cluster: 'x.json' }), /ends in \.json/);
});

test('no text throws, and what is taken stays under its bucket', () => {
  const pieces = fc.constantFrom(
    'gs://',
    's3://',
    'pvc://',
    'bucket',
    '/',
    '..',
    '{{',
    '}}',
    'cluster',
    'timestamp',
    '.',
    'x',
    '%',
    '\0',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
      ),
      (text) => {
        const parsed = parseObjectTemplate(text);
        if ('problem' in parsed) return;
        const location = expandTemplate(parsed, values);
        assert.ok(schemes.includes(location.scheme));
        assert.ok(!location.path.startsWith('/') && !/(^|\/)\.*(\/|$)/.test(location.path), location.path);
        assert.deepEqual(parseLocation(urlOf(location)), location);
      },
    ),
    { numRuns: 2000 },
  );
});
