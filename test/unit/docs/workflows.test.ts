import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { needConsumers } from '../../support/cluster/consumers/needs.ts';
import { type Machine, needRealNode } from '../../support/cluster/real-node/needs.ts';
import { checkout, read } from './pages.ts';

type Rights = Readonly<Record<string, string>>;

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Rights;
  readonly needs?: string;
  /** A workflow that is called has these itself. */
  readonly steps?: readonly Step[];
  readonly uses?: string;
}

interface Workflow {
  readonly permissions?: Rights;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = globSync('.github/workflows/*.yml', { cwd: checkout }).toSorted();
const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

const workflow = (name: string) => parse(read(`.github/workflows/${name}.yml`)) as Workflow;

/** What each job may beside to read, by the workflow. A job that is not here may read only. */
const rights: Readonly<Record<string, Readonly<Record<string, Rights>>>> = {
  ci: {},
  codeql: { analyze: { 'security-events': 'write' } },
  files: { sign: { 'id-token': 'write', attestations: 'write' } },
  image: {
    build: { packages: 'write' },
    sign: { packages: 'write', 'id-token': 'write', attestations: 'write' },
  },
  release: {
    // Those of the workflows that it calls, which no job of the release has itself.
    image: { packages: 'write', 'id-token': 'write', attestations: 'write' },
    files: { 'id-token': 'write', attestations: 'write' },
    publish: { contents: 'write' },
  },
  scorecard: { scorecard: { 'security-events': 'write', 'id-token': 'write' } },
};

test('the workflows are those for changes, releases, their image and files, and two judges', () => {
  assert.deepEqual(
    files,
    Object.keys(rights).map((name) => `.github/workflows/${name}.yml`),
  );
});

for (const [name, ofJobs] of Object.entries(rights))
  test(`each job of ${name} has the rights of what it does, and no other`, () => {
    for (const [job, { permissions = {} }] of Object.entries(workflow(name).jobs)) {
      const { contents, ...others } = permissions;
      const asked = contents === undefined || contents === 'read' ? others : permissions;
      assert.deepEqual(asked, ofJobs[job] ?? {}, job);
    }
    for (const job of Object.keys(ofJobs)) assert.ok(job in workflow(name).jobs, job);
  });

test('no job that signs, or publishes, runs what is in the repository', () => {
  for (const name of Object.keys(rights)) {
    for (const [job, { permissions = {}, steps = [] }] of Object.entries(workflow(name).jobs)) {
      const judges = permissions['security-events'] === 'write';
      if (judges || (permissions['id-token'] !== 'write' && permissions.contents !== 'write')) continue;
      for (const { uses = '', run = '' } of steps) {
        assert.doesNotMatch(uses, /^actions\/(checkout|setup-node)@/, `${name}: ${job}`);
        assert.doesNotMatch(run, /\b(npm|npx|node|docker buildx)\b|\.ci\//, `${name}: ${job}`);
      }
    }
  }
});

test('a release is tested before it is built, and signed before it is published', () => {
  const { jobs } = workflow('release');
  const order = Object.entries(jobs).map(([name, { needs }]) => [name, needs]);
  assert.deepEqual(order, [
    ['test', undefined],
    ['image', 'test'],
    ['files', 'image'],
    ['publish', 'files'],
  ]);
});

test('image and files are built and signed by workflows of their own, which the release calls', () => {
  const { jobs } = workflow('release');
  for (const name of ['image', 'files']) {
    assert.equal(jobs[name]?.uses, `./.github/workflows/${name}.yml`);
    const called = Object.entries(workflow(name).jobs);
    assert.deepEqual(
      called.map(([job, { needs }]) => [job, needs]),
      [
        ['build', undefined],
        ['sign', 'build'],
      ],
    );
    // What a caller grants is the most that its jobs get.
    for (const [job, { permissions = {} }] of called)
      for (const [right, how] of Object.entries(permissions))
        assert.equal(jobs[name]?.permissions?.[right], how, `${name}: ${job}: ${right}`);
  }
  const signers = Object.entries(jobs).filter(([, job]) => job.uses === undefined && job.permissions?.['id-token']);
  assert.deepEqual(signers, [], 'the release itself signs nothing');
});

test('a change of the workflows is read by actionlint, of a version that is said', () => {
  const commands = workflow('ci').jobs.workflows?.steps?.flatMap(({ run }) => run ?? []);
  assert.match(commands?.join('\n') ?? '', /^go run github\.com\/rhysd\/actionlint\/cmd\/actionlint@v\d+\.\d+\.\d+$/m);
});

test('signatures and provenance have names that Scorecard knows', () => {
  const written =
    workflow('files')
      .jobs.sign?.steps?.flatMap(({ run }) => run ?? [])
      .join('\n') ?? '';
  assert.match(written, /SHA256SUMS\.sigstore\.json/);
  assert.match(written, /\.intoto\.jsonl/);
});

test('each place whose updates are asked for is there, and each lock file has one', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    readonly updates: readonly { readonly 'package-ecosystem': string; readonly directories?: readonly string[] }[];
  };
  const asked = updates.map((one) => one['package-ecosystem']);
  assert.deepEqual(asked, ['npm', 'github-actions', 'docker']);
  const locked = globSync('**/package-lock.json', {
    cwd: checkout,
    exclude: ['**/node_modules/**', 'test/support/**'],
  });
  const directories = locked.map((file) => `/${file.split('/').slice(0, -1).join('/')}`).toSorted();
  assert.deepEqual(updates[0]?.directories?.toSorted(), directories);
});

test('the security policy says within how many days, and how a weakness becomes public', () => {
  const policy = read('SECURITY.md');
  assert.match(policy, /disclosure/i);
  assert.match(policy, /within \d+ (working )?days/);
  for (const name of ['image', 'files'])
    assert.match(policy, new RegExp(`workflows/${name}\\\\.yml@refs/tags/v`), 'by the workflow that built it');
});

test('real nodes are tried with what they ask for: all that a bare machine is told to install', () => {
  const bare = { isRoot: true, hasProgram: () => false, hasFile: () => false, fileSystems: '' };
  const asked = (machine: Machine) => {
    try {
      return needRealNode(machine);
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
  };
  const commands = workflow('ci').jobs['real-node']?.steps?.flatMap(({ run }) => run ?? []) ?? [];
  const [, packages = ''] = /apt-get install (.+)$/.exec(`${asked(bare)}`) ?? [];
  const [, modules = ''] =
    /modprobe -a (.+)$/.exec(
      `${asked({ ...bare, hasProgram: () => true, hasFile: (path) => path.includes('cni') })}`,
    ) ?? [];
  // Every machine has these.
  const special = packages.split(' ').filter((name) => !['mount', 'tar'].includes(name));
  assert.ok(special.length >= 4 && modules !== '');
  for (const name of special) assert.match(commands.join('\n'), new RegExp(`apt-get install .*\\b${name}\\b`));
  for (const name of modules.split(' ')) assert.match(commands.join('\n'), new RegExp(`modprobe .*\\b${name}\\b`));
  assert.match(commands.at(-1) ?? '', /^sudo .*npm run e2e -- --real-node$/);
  for (const name of special) assert.match(read('CONTRIBUTING.md'), new RegExp(`apt-get install .*\\b${name}\\b`));
});

test('consumers are tried with what they ask for: all that a bare machine is told to install', () => {
  const bare = { hasProgram: () => false, directories: [], hasVenv: false };
  let asked = '';
  assert.throws(
    () => needConsumers(bare),
    ({ message }: Error) => {
      [, asked = ''] = /apt-get install (.+)$/.exec(message) ?? [];
      return true;
    },
  );
  // Every machine has util-linux.
  const special = asked.split(' ').filter((name) => name !== 'util-linux');
  assert.ok(special.length >= 2);
  const commands = workflow('ci').jobs.consumers?.steps?.flatMap(({ run }) => run ?? []) ?? [];
  for (const text of [commands.join('\n'), read('CONTRIBUTING.md')])
    for (const name of special) assert.match(text, new RegExp(`apt-get install .*\\b${name}\\b`));
  assert.equal(commands.at(-1), 'npm run e2e -- --consumers');
});

for (const file of files) {
  describe(file, () => {
    const { permissions, jobs } = parse(read(file)) as Workflow;
    const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);
    const commands = steps.flatMap(({ run }) => run ?? []);

    test('may only read, where a job does not ask for more', () => {
      assert.deepEqual(permissions, { contents: 'read' });
    });

    test('ends in a time that is said', () => {
      for (const [name, job] of Object.entries(jobs))
        if (job.uses === undefined) assert.ok((job['timeout-minutes'] ?? 0) > 0, name);
    });

    test('takes each action by its commit: a tag can be moved', () => {
      const taken = steps.flatMap(({ uses }) => uses ?? []);
      for (const action of taken) {
        assert.match(action, /^[\w.-]+(\/[\w.-]+){1,2}@[0-9a-f]{40}$/);
        assert.match(
          read(file),
          new RegExp(`uses: ${action} # v\\d+\\.\\d+\\.\\d+$`, 'm'),
          'its version is said beside',
        );
      }
    });

    test('runs what is there', () => {
      const asked = commands.flatMap((command) =>
        [...command.matchAll(/\bnpm run (\w+)/g)].map(([, name = '']) => name),
      );
      for (const name of asked) assert.ok(name in scripts, name);
    });

    test('puts nothing that others write into a command', () => {
      for (const command of commands) assert.doesNotMatch(command, /\$\{\{/);
    });
  });
}
