import type { Adding } from './adding.ts';
import { commands } from './rows/commands.ts';
import { flagField } from './rows/flag-field.ts';
import { forge } from './rows/forge.ts';
import { kind } from './rows/kind.ts';
import { reason } from './rows/reason.ts';
import { request } from './rows/request.ts';
import { ruleWithAction } from './rows/rule-with-action.ts';
import { specField, specFieldOfMembers } from './rows/spec-field.ts';
import { store } from './rows/store.ts';
import { trigger } from './rows/trigger.ts';
import { volumeAnnotation } from './rows/volume-annotation.ts';

export const addings: readonly Adding[] = [
  kind,
  ruleWithAction,
  reason,
  request,
  forge,
  trigger,
  specField,
  specFieldOfMembers,
  commands,
  volumeAnnotation,
  store,
  flagField,
];
