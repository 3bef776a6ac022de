import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A machine with nothing but what a test puts on it: an own cache, an own PATH, an own KUBEBUILDER_ASSETS. */
export interface Machine extends AsyncDisposable {
  readonly directory: string;
  readonly cache: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Puts an executable shell script at a path below the machine's directory. Resolves with the whole path. */
  script(path: string, body: string): Promise<string>;
}

export async function bareMachine(): Promise<Machine> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-test-'));
  const script = async (path: string, body: string) => {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `#!/bin/sh\nPATH=/usr/bin:/bin\n${body}\n`);
    await chmod(file, 0o755);
    return file;
  };
  // The one tool of the real machine that is used.
  await script('bin/flock', 'exec flock "$@"');
  return {
    directory,
    cache: join(directory, 'cache/etcd-ratchet'),
    environment: {
      PATH: join(directory, 'bin'),
      KUBEBUILDER_ASSETS: join(directory, 'assets'),
      XDG_CACHE_HOME: join(directory, 'cache'),
    },
    script,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** What an etcd of that version prints. */
export function printsEtcdVersion(version: string): string {
  return `echo "etcd Version: ${version}"`;
}

/**
 * A `go` that writes the file after `-o`, or one for each package into the directory there, once `before` is through.
 * It notes each build in `builds` of the machine.
 */
export function fakeGo(machine: Machine, before = ''): string {
  return `
[ "$1" = build ] || { echo one; exit; }
echo $$ >> ${join(machine.directory, 'builds')}
${before}
while [ "$1" != -o ]; do shift; done
output=$2
shift 2
for package in "$@"; do
  case $output in */) file=$output$(echo "$package" | sed -E 's#/v[0-9]+$##; s#.*/##') ;; *) file=$output ;; esac
  printf '#!/bin/sh\\necho built\\n' > "$file"
done`;
}
