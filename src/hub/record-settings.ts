import { type AuditSink, byHub, type Origin } from '../core/audit.ts';
import { changedMembers } from '../settings/document/changed-members.ts';
import type { Draft } from '../settings/document/document.ts';
import type { SettingsChange } from '../settings/store.ts';

/** A person who edited the settings file. */
const byHand: Origin = { actor: { kind: 'file', name: '' }, via: 'file' };

/**
 * Records each change of the settings, with what was before and is after, and by whom. `isShared`: what is found stored
 * was written by another hub, which has recorded it.
 */
export function recordSettings({ record }: Pick<AuditSink, 'record'>, isShared: boolean) {
  return ({ before, after, by }: SettingsChange): void => {
    if (by === 'stored' && isShared) return;
    const changed = changedMembers(before as Readonly<Draft>, after as Readonly<Draft>);
    if (!changed) return;
    const { actor, address, via } = by === 'hub' ? byHub : by === 'stored' ? byHand : by;
    const request = typeof by === 'object' && 'isRecorded' in by ? by : undefined;
    const { action = changed.action, target = changed.names.join(', ') } = request ?? {};
    record({ actor, address, via, action, target, before: changed.before, after: changed.after });
    if (request) request.isRecorded = true;
  };
}
