import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForgeError } from '../../../../gitops/forges/error.ts';
import type { CommitStatus } from '../../../../gitops/forges/forge.ts';
import { type Recorder, startRecorder } from '../../../support/git/recorder.ts';
import { inTime, type Kind, kinds, open, status } from './kinds.ts';
import { bodyOf, type ForgeReport } from './reports/report.ts';
import { forgeReports } from './reports.ts';

/** Each row is played by a stand-in, and our client makes of it what the row says. */

async function hear(kind: Kind, server: Recorder, { heard }: ForgeReport): Promise<void> {
  const forge = open(kind, server.url);
  const before = Date.now();
  if ('refused' in heard) {
    const { refused, reason, words, retry } = heard;
    const asked = refused === 'status' ? forge.post(status, inTime()) : forge.openRequests('main', inTime());
    await assert.rejects(asked, (error) => {
      assert.ok(error instanceof ForgeError, String(error));
      assert.equal(error.reason, reason);
      assert.match(error.message, words);
      if (retry === undefined) return true;
      const { retryAt = 0 } = error;
      return retryAt >= before + retry && retryAt <= Date.now() + retry;
    });
  } else if ('finds' in heard) {
    const { requests } = await forge.openRequests('main', inTime());
    const found = requests.map(({ number, headSha }) => [number, headSha]);
    assert.deepEqual(found, heard.finds);
    if (heard.fork !== undefined) assert.equal(requests[0]?.fork, heard.fork);
  } else {
    await forge.post({ ...status, ...heard.status }, inTime());
    const last = server.requests.at(-1);
    assert.ok(last);
    assert.partialDeepStrictEqual(last, heard.last ?? {});
    if (heard.without) assert.equal(bodyOf(last)[heard.without], undefined);
  }
}

/** What a client sends that knows nothing of the report: its words as they are, and no header of that forge. */
async function sendNaively(kind: Kind, server: Recorder, change: Partial<CommitStatus>): Promise<number> {
  const { context, targetURL } = { ...status, ...change };
  const answer = await fetch(`${server.url}${kind.apiPath}${kind.statusPath}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: context, name: context, url: targetURL, target_url: targetURL }),
    signal: inTime().signal,
  });
  return answer.status;
}

for (const kind of kinds) {
  for (const report of forgeReports[kind.type]) {
    test(`${kind.type} ${report.does}`, async () => {
      await using server = await startRecorder(report.plays(kind));
      await hear(kind, server, report);
      if ('status' in report.heard) assert.ok((await sendNaively(kind, server, report.heard.status)) >= 300);
    });
  }
}
