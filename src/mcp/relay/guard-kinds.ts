import type { Target } from '../../core/access/view.ts';
import { guardsOf } from '../../core/guards/guards-of.ts';
import type { GuardedMoment, GuardSettings } from '../../core/settings/governance.ts';
import type { Settings } from '../../core/settings/settings.ts';

/** A kind of request that guards see. */
export interface GuardKind {
  /** What guards call it. */
  readonly kind: 'tool' | 'prompt' | 'resource' | 'completion' | 'task';
  /** The member that its results have. */
  readonly member: string;
  /** When guards see it: of a task its results, since a call began it. */
  readonly on: readonly GuardedMoment[];
}

const both = ['call', 'result'] as const;
const task: GuardKind = { kind: 'task', member: 'content', on: ['result'] };
/** By method. */
export const guardKinds: ReadonlyMap<string, GuardKind> = new Map([
  ['tools/call', { kind: 'tool', member: 'content', on: both }],
  ['prompts/get', { kind: 'prompt', member: 'messages', on: both }],
  ['resources/read', { kind: 'resource', member: 'contents', on: both }],
  ['completion/complete', { kind: 'completion', member: 'completion', on: both }],
  ['tasks/get', task],
  ['tasks/result', task],
]);

/** The guards that see a request, or its result. */
export function guardsFor(
  settings: Settings,
  method: string,
  { server }: Target,
  on: GuardedMoment,
): readonly GuardSettings[] {
  // Asked for each call: most hubs have none.
  if (settings.system.guards === undefined) return none;
  return guardKinds.get(method)?.on.includes(on) === true ? guardsOf(settings, server, on) : none;
}

const none: readonly GuardSettings[] = [];
