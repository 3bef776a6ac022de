import type { AnyTarget } from './target.ts';
import { answerTarget } from './targets/answers.ts';
import { cloudEventTarget } from './targets/cloud-events.ts';
import { hostTarget } from './targets/hosts.ts';
import { mergeTarget } from './targets/merge.ts';
import { podTemplateTarget } from './targets/pod-templates.ts';
import { signatureTarget, signedObjectTarget, trustedKeysTarget } from './targets/signatures.ts';
import { specTarget } from './targets/specs.ts';
import { webhookTarget } from './targets/webhooks.ts';
import { packetTarget, packTarget } from './targets/wire.ts';

/** Whatever of ours reads what strangers, or people in haste, have written; a new receiver or format is a line here. */
export const targets: readonly AnyTarget[] = [
  webhookTarget,
  cloudEventTarget,
  specTarget,
  hostTarget,
  mergeTarget,
  packetTarget,
  answerTarget,
  podTemplateTarget,
  packTarget,
  signedObjectTarget,
  signatureTarget,
  trustedKeysTarget,
];
