import { documents, read } from '../../unit/docs/pages.ts';
import { type Block, blocksOf } from './blocks.ts';

/** Programs of others: that they have these options only their own documentation tells. */
const ofOthers = ['cosign', 'curl', 'diff', 'docker', 'gh', 'git', 'kind', 'kustomize', 'openssl'];

/** Every program that a page calls. */
export const known: readonly string[] = [...ofOthers, 'etcdctl', 'helm', 'kubectl', 'node', 'npm'];

/** What the playground, or a job of GitLab's CI, sets for its reader. */
export const surroundings = {
  GIT_URL: 'http://ada:token@127.0.0.1:8080/platform/etcd.git',
  FORGE_URL: 'http://127.0.0.1:8081/api/v1/repos/platform/etcd',
  FORGE_TOKEN: 'token',
  CI_JOB_ID: '17',
} as const;

/** In the order in which they send their reader on: one shell types them all. */
export const tutorials: readonly string[] = [
  'docs/tutorials/first-cluster.md',
  'docs/tutorials/first-pull-request.md',
  'docs/tutorials/first-upgrade.md',
  'docs/tutorials/first-restore.md',
  'docs/tutorials/lost-quorum.md',
];

function commandsOf(page: string): readonly Block[] {
  const text = read(page);
  return [...blocksOf(page, text).filter(({ kind }) => kind === 'sh'), ...inline(page, text)];
}

/** Commands within a sentence: short ones, for which names in capitals and `…` stand. */
function inline(page: string, text: string): readonly Block[] {
  return [...text.matchAll(/`((?:kubectl(?! ratchet`)|npm run|node dist)\s[^`]+)`/g)].map(
    ({ index, 1: command = '' }) => ({
      page,
      line: text.slice(0, index).split('\n').length,
      kind: 'inline',
      text: `${command.replaceAll('\n', ' ')}\n`,
    }),
  );
}

/** What one reader types into one shell, by the page where it begins. */
export const readings: ReadonlyMap<string, readonly Block[]> = new Map(
  [...documents.filter((page) => !tutorials.includes(page)).map((page) => [page]), tutorials]
    .map((pages) => [pages[0] ?? '', pages.flatMap(commandsOf)] as const)
    .filter(([, blocks]) => blocks.length > 0),
);
