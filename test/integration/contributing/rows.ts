import type { Adding } from './adding.ts';
import { ruleWithAction } from './rows/rule-with-action.ts';

export const addings: readonly Adding[] = [ruleWithAction];
