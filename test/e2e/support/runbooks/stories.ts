import { ofCertificates } from './certificates.ts';
import { ofData } from './data.ts';
import { ofKubernetes } from './kubernetes.ts';
import { ofMembers } from './members.ts';
import { ofRecoveries } from './recovery.ts';
import type { Story } from './story.ts';

/** Every runbook that is executed, and what for: in files that run side by side; each of recoveries by itself. */
export const ofObjects: readonly Story[] = [...ofMembers, ...ofKubernetes];
export const ofDisks: readonly Story[] = [...ofData, ...ofCertificates];
export const stories: readonly Story[] = [...ofObjects, ...ofDisks, ...ofRecoveries];
