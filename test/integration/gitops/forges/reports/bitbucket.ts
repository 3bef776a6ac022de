import { replyJson } from '../../../../support/git/recorder.ts';
import { head, type Kind, sha } from '../kinds.ts';
import { type ForgeReport, textIn } from './report.ts';

const longContext = 'etcd-ratchet/production/plan-with-a-name-that-is-long';

/** The commits of any request end with that one. */
const listed = (kind: Kind, page: unknown): ReturnType<ForgeReport['plays']> => {
  return (request, answer) =>
    replyJson(answer, kind.pageAsked(request) === undefined ? { values: [{ hash: head }] } : page);
};

export const bitbucketCloud: readonly ForgeReport[] = [
  {
    does: 'tells twelve digits of a commit in its list',
    at: [
      'https://github.com/jenkinsci/bitbucket-branch-source-plugin/pull/63',
      'https://github.com/abhinav/git-spice/issues/1421',
    ],
    plays: (kind) => listed(kind, kind.page([{ number: 1 }], true)),
    heard: { finds: [['1', head]] },
  },
  {
    does: 'tells neither repository nor commit of a fork that was deleted',
    at: ['https://github.com/jenkinsci/bitbucket-branch-source-plugin/pull/322'],
    plays: (kind) => listed(kind, kind.page([{ number: 2, fork: 'gone', sha: null }, { number: 1 }], true)),
    heard: { finds: [['1', head]] },
  },
  {
    does: 'refuses a status with a key of more than 40 characters',
    at: [
      'https://github.com/buildbot/buildbot/issues/7049',
      'https://github.com/fluxcd/notification-controller/issues/173',
    ],
    plays: () => (request, answer) =>
      textIn(request, 'key').length > 40
        ? replyJson(answer, { type: 'error', error: { fields: { key: ['at most 40 characters'] } } }, 400)
        : replyJson(answer, {}, 201),
    heard: { status: { context: longContext } },
  },
  {
    does: 'refuses a status whose page has an address that is none in public',
    at: [
      'https://github.com/runatlantis/atlantis/issues/710',
      'https://github.com/nishio-dens/bitbucket-pullrequest-builder-plugin/issues/174',
    ],
    plays: () => (request, answer) =>
      textIn(request, 'url').startsWith('http://ratchet:8080/')
        ? replyJson(answer, { type: 'error', error: { fields: { url: ['Enter a valid URL.'] } } }, 400)
        : replyJson(answer, {}, 201),
    heard: { status: { targetURL: 'http://ratchet:8080/checks/1' } },
  },
  {
    does: 'limits us by 429 without a time',
    at: ['https://support.atlassian.com/bitbucket-cloud/kb/bitbucket-cloud-rate-limit-troubleshooting/'],
    plays: () => (_, answer) =>
      answer.writeHead(429, { 'content-type': 'text/plain' }).end('Rate limit for this resource has been exceeded'),
    heard: { refused: 'requests', reason: 'RateLimited', words: /limits our requests/ },
  },
];

export const bitbucketDataCenter: readonly ForgeReport[] = [
  {
    does: 'takes a POST without X-Atlassian-Token for a forged one',
    at: [
      'https://github.com/runatlantis/atlantis/issues/465',
      'https://github.com/scala-steward-org/scala-steward/pull/1863',
    ],
    plays: () => (request, answer) =>
      request.headers['x-atlassian-token'] === 'no-check'
        ? replyJson(answer, {}, 204)
        : answer.writeHead(403, { 'content-type': 'text/html' }).end('XSRF check failed'),
    heard: { status: {} },
  },
  {
    does: 'refuses a name of more than 255 characters, and an address of more than 450',
    at: ['https://github.com/jenkinsci/bitbucket-branch-source-plugin/pull/928'],
    plays: () => (request, answer) =>
      textIn(request, 'name').length > 255 || textIn(request, 'url').length > 450
        ? replyJson(answer, { errors: [{ message: 'too long' }] }, 400)
        : replyJson(answer, {}, 204),
    heard: { status: { context: 'c'.repeat(300), targetURL: `https://page.example.com/${'x'.repeat(500)}` } },
  },
  {
    does: 'refuses a status whose page has an address that it does not like',
    at: [
      'https://github.com/danger/danger-js/issues/588',
      'https://github.com/jenkinsci/stashnotifier-plugin/issues/182',
    ],
    plays: () => (request, answer) =>
      textIn(request, 'url').startsWith('http://ratchet:8080/')
        ? replyJson(answer, { errors: [{ context: null, message: 'Please specify a valid url' }] }, 400)
        : replyJson(answer, {}, 204),
    heard: { status: { targetURL: 'http://ratchet:8080/checks/1' } },
  },
  {
    does: 'cuts a page to what its owner allows, and says where the next one begins',
    at: [
      'https://github.com/sourcebot-dev/sourcebot/pull/981',
      'https://github.com/atlassian-api/atlassian-python-api/issues/500',
    ],
    plays: (kind) => (request, answer) => {
      const isLast = request.query.start === '7';
      const page = kind.page([{ number: isLast ? 1 : 2 }], isLast) as object;
      replyJson(answer, { ...page, ...(!isLast && { nextPageStart: 7 }) });
    },
    heard: {
      finds: [
        ['2', head],
        ['1', head],
      ],
    },
  },
  {
    does: 'locks an account after wrong passwords until a person solves a CAPTCHA',
    at: ['https://github.com/jenkinsci/stashnotifier-plugin/issues/263'],
    plays: () => (_, answer) => replyJson(answer, { errors: [{ message: `CAPTCHA required for ${sha}.` }] }, 401),
    heard: { refused: 'status', reason: 'ForgeUnauthorized', words: /does not accept/ },
  },
];
