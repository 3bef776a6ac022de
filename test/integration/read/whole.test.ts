import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareGit } from '../../../functions/pass/shared-git.ts';
import { createReader } from '../../../functions/read/reader.ts';
import { startGitServer } from '../../support/git/server.ts';
import { fleetWith } from '../../unit/fleet/objects.ts';

for (const [what, filter, lines] of [
  ['is told once, however many fleets read from it', 'false', 1],
  ['and can leave files out is not told of', 'true', 0],
] as const)
  test(`a server that sends whole commits ${what}`, async () => {
    await using server = await startGitServer({ needs: filter === 'true' ? ['filter'] : [] });
    const repository = await server.createRepository('r');
    await repository.git('config', 'uploadpack.allowFilter', filter);
    await repository.commit({ 'a/a.yaml': '', 'b/b.yaml': '' });
    const logged: string[] = [];
    using reader = createReader();
    using git = shareGit(AbortSignal.timeout(20_000), reader, (fields, said) =>
      logged.push(`${said} ${JSON.stringify(fields)}`),
    );
    for (const path of ['a', 'b']) {
      const source = { url: repository.url, ref: 'main', path };
      const shared = git.join(source);
      const revision = await shared.resolve();
      const fleet = fleetWith({});
      await shared.read(revision, { ...fleet, spec: { ...fleet.spec, git: source } });
    }
    assert.equal(logged.length, lines, logged.join('\n'));
    for (const line of logged) assert.match(line, /uploadpack\.allowFilter.*"host":"127\.0\.0\.1/);
  });
