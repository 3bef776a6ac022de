import { replyJson } from '../../../../support/git/recorder.ts';
import { head, sha } from '../kinds.ts';
import type { ForgeReport } from './report.ts';

const limited = { refused: 'status', reason: 'RateLimited', words: /limits our requests/ } as const;
const page = 'https://docs.github.com/en/free-pro-team@latest/rest/overview/resources-in-the-rest-api';

export const gitHub: readonly ForgeReport[] = [
  {
    does: 'takes 1,000 statuses of a commit and context, and no more',
    at: ['https://github.com/openshift/release/issues/6179', 'https://github.com/palantir/policy-bot/issues/470'],
    plays: () => (_, answer) =>
      replyJson(answer, { message: 'Validation Failed', errors: [{ resource: 'Status', code: 'custom' }] }, 422),
    heard: { refused: 'status', reason: 'StatusRejected', words: /1,000 statuses/ },
  },
  {
    does: 'limits us by 403 without a time, in words alone',
    at: ['https://github.com/hub4j/github-api/issues/1805', 'https://github.com/app-sre/github-mirror/pull/62'],
    plays: () => (_, answer) =>
      replyJson(
        answer,
        { message: 'You have exceeded a secondary rate limit.', documentation_url: `${page}#secondary-rate-limits` },
        403,
      ),
    heard: { ...limited, retry: 60_000 },
  },
  {
    does: 'calls that abuse, on servers of one’s own and before 2021',
    at: ['https://github.com/google/go-github/pull/865', 'https://github.com/PyGithub/PyGithub/issues/810'],
    plays: () => (_, answer) =>
      replyJson(
        answer,
        {
          message: 'You have triggered an abuse detection mechanism.',
          documentation_url: 'https://developer.github.com/enterprise/2.13/v3/#abuse-rate-limits',
        },
        403,
      ),
    heard: { ...limited, retry: 60_000 },
  },
  {
    does: 'limits us by 429 without a time',
    at: ['https://github.com/hub4j/github-api/pull/1895'],
    plays: () => (_, answer) => replyJson(answer, { message: 'You have exceeded a secondary rate limit.' }, 429),
    heard: { ...limited, retry: 60_000 },
  },
  {
    does: 'leads a status for a renamed repository on, by 307',
    at: ['https://github.com/VirtusLab/git-machete/issues/1212'],
    plays:
      ({ apiPath }) =>
      ({ path }, answer) =>
        path.includes('/platform/etcd/')
          ? answer.writeHead(307, { location: `${apiPath}/repositories/7/statuses/${sha}` }).end()
          : replyJson(answer, {}, 201),
    heard: { status: {}, last: { method: 'POST', path: `/api/v3/repositories/7/statuses/${sha}` } },
  },
  {
    does: 'tells a fork that was deleted as null',
    at: ['https://github.com/github/rest-api-description/issues/161', 'https://github.com/desktop/desktop/pull/3022'],
    plays: (kind) => (_, answer) => replyJson(answer, kind.page([{ number: 1, fork: 'gone' }], true)),
    heard: { finds: [['1', head]], fork: true },
  },
  {
    does: 'tells an author who deleted the account as null',
    at: ['https://github.com/reviewninja/review.ninja/issues/813', 'https://github.com/47degrees/github4s/pull/144'],
    plays: (kind) => (_, answer) => replyJson(answer, kind.page([{ number: 1, author: null }], true)),
    heard: { finds: [['1', head]] },
  },
  {
    does: 'answers 404 where a token may not see a private repository',
    at: ['https://docs.github.com/enterprise-server@3.4/rest/overview/troubleshooting'],
    plays: () => (_, answer) => replyJson(answer, { message: 'Not Found' }, 404),
    heard: { refused: 'requests', reason: 'RepositoryNotFound', words: /hides it from the token/ },
  },
];
