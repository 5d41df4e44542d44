import { createHash } from 'node:crypto';
import { type AuditSink, byHub, type Origin } from '../core/audit.ts';
import type { OwnSkill } from '../core/settings/own-items.ts';
import { changedMembers } from '../settings/document/changed-members.ts';
import type { Draft } from '../settings/document/document.ts';
import type { SettingsChange } from '../settings/store.ts';
import type { PolicyFile, PolicyFilesChange } from '../settings/system/policy-folder.ts';

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

/** The same of files of policies: each text, which the record cuts, and the hash of the whole. */
export function recordPolicyFiles({ record }: Pick<AuditSink, 'record'>) {
  return (files: PolicyFilesChange): void => {
    const names = Object.keys({ ...files.before, ...files.after });
    const [before, after] = [seen(files.before), seen(files.after)];
    record({ ...byHand, action: 'policy-files.update', target: names.join(', '), before, after });
  };
}

/** The same of the files of skills that changed: their hashes, and of a `SKILL.md` the text as well. */
export function recordSkillFiles({ record }: Pick<AuditSink, 'record'>) {
  return (before: readonly OwnSkill[], after: readonly OwnSkill[]): void => {
    const [old, now] = [skillFiles(before), skillFiles(after)];
    const names = Object.keys({ ...old, ...now }).filter((name) => old[name]?.sha256 !== now[name]?.sha256);
    const of = (files: typeof old) =>
      Object.fromEntries(names.flatMap((name) => (files[name] ? [[name, files[name]]] : [])));
    record({ ...byHand, action: 'skill-files.update', target: names.join(', '), before: of(old), after: of(now) });
  };
}

function skillFiles(skills: readonly OwnSkill[]): Record<string, { sha256: string; text?: string } | undefined> {
  const files = skills.flatMap((skill) => skill.files.map((file) => ({ ...file, isMain: file.uri === skill.uri })));
  return Object.fromEntries(
    files.map(({ uri, digest, content, isMain }) => [
      uri,
      { sha256: digest.replace(/^sha256:/, ''), ...(isMain && 'text' in content && { text: content.text }) },
    ]),
  );
}

function seen(files: Readonly<Record<string, PolicyFile>>): Record<string, unknown> {
  const shown = ({ text, problem }: PolicyFile) =>
    problem === undefined ? { sha256: createHash('sha256').update(text).digest('hex'), text } : { problem };
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, shown(file)]));
}
