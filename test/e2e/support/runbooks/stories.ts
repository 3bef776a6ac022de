import { ofCertificates } from './certificates.ts';
import { ofData } from './data.ts';
import { ofKubernetes } from './kubernetes.ts';
import { ofMembers } from './members.ts';
import type { Story } from './story.ts';

/** Every runbook that is executed, and what for: in two files, which run side by side. */
export const ofObjects: readonly Story[] = [...ofMembers, ...ofKubernetes];
export const ofDisks: readonly Story[] = [...ofData, ...ofCertificates];
export const stories: readonly Story[] = [...ofObjects, ...ofDisks];
