import { components } from './values/components.ts';
import { installation } from './values/installation.ts';
import { pods } from './values/pods.ts';
import type { Value } from './values/value.ts';

/** Every value of the chart. values.yaml, its schema, the templates and the reference follow from it. */
export const values: readonly Value[] = [...installation, ...pods, ...components];
