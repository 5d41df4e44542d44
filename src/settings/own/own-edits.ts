import type { z } from 'zod';
import type { BuiltinPrompt, BuiltinResource } from '../../core/answers/settings.ts';
import { saying } from '../../core/sentences.ts';
import { type Draft, type Editor, type Entry, textOf } from '../document/document.ts';
import { stableId } from '../document/stable-id.ts';
import { settingsLimits } from '../limits.ts';
import type { newPromptInput, newResourceInput, promptUpdateInput, resourceUpdateInput } from './own-shape.ts';

/**
 * Edits of the hub's own prompts and resources in the settings document (reference: MCPHub §1.10), to be run inside one
 * change of the settings. For admins alone: all clients get what they say. Throws HubError `forbidden`, `not_found`,
 * `conflict` and `invalid_input`.
 */

export type OwnKind = 'prompts' | 'resources';

/** What no two of a kind have in common. */
const keyOf = { prompts: 'name', resources: 'uri' } as const;
const word = { prompts: 'prompt', resources: 'resource' } as const;

type Given = z.infer<
  typeof newPromptInput | typeof newResourceInput | typeof promptUpdateInput | typeof resourceUpdateInput
>;

export function addOwn(draft: Draft, by: Editor, kind: OwnKind, input: Given): Entry {
  checkAdmin(by);
  const list = ownList(draft, kind);
  if (list.length >= settingsLimits.ownItems)
    throw saying('invalid_input', 'too_many_own', { most: String(settingsLimits.ownItems), kind });
  const id = input.id ?? crypto.randomUUID();
  if (list.some((one) => ownId(kind, one) === id))
    throw saying('conflict', 'own_taken', { kind: word[kind], member: 'id', name: id });
  const entry: Entry = { ...withoutNone({ enabled: true, ...input }), id };
  checkKey(list, kind, entry);
  list.push(entry);
  return entry;
}

export function updateOwn(draft: Draft, by: Editor, kind: OwnKind, id: string, input: Given): Entry {
  checkAdmin(by);
  const list = ownList(draft, kind);
  const entry = findOwn(list, kind, id);
  const own = ownId(kind, entry);
  for (const [member, value] of Object.entries(input)) {
    if (value === null) delete entry[member];
    else if (value !== undefined && member !== 'id') entry[member] = value;
  }
  entry['id'] = own;
  checkKey(list, kind, entry);
  return entry;
}

export function deleteOwn(draft: Draft, by: Editor, kind: OwnKind, id: string): void {
  checkAdmin(by);
  const list = ownList(draft, kind);
  list.splice(list.indexOf(findOwn(list, kind, id)), 1);
}

/** Those of a document, as answers show them. */
export function ownAnswers(
  document: Readonly<Record<string, unknown>>,
  kind: OwnKind,
): readonly (BuiltinPrompt & BuiltinResource)[] {
  const list: unknown = document[kind];
  const entries = Array.isArray(list) ? (list as Entry[]) : [];
  return entries.map((entry) => ownAnswer(kind, entry));
}

export function ownAnswer(kind: OwnKind, entry: Readonly<Entry>): BuiltinPrompt & BuiltinResource {
  const shown = { ...entry, id: ownId(kind, entry), enabled: entry['enabled'] !== false };
  return shown as unknown as BuiltinPrompt & BuiltinResource;
}

/** The list of a kind; the elements are the entries themselves. */
function ownList(draft: Draft, kind: OwnKind): Entry[] {
  const list: unknown = draft[kind];
  if (Array.isArray(list)) return list as Entry[];
  const made: Entry[] = [];
  draft[kind] = made;
  return made;
}

function findOwn(list: readonly Entry[], kind: OwnKind, id: string): Entry {
  const found = list.find((one) => ownId(kind, one) === id);
  if (!found) throw saying('not_found', 'no_own', { kind: word[kind] });
  return found;
}

/** The id of one that has none in the file. */
function ownId(kind: OwnKind, entry: Readonly<Entry>): string {
  return textOf(entry['id']) || stableId(word[kind], textOf(entry[keyOf[kind]]) ?? '');
}

function checkKey(list: readonly Entry[], kind: OwnKind, entry: Entry): void {
  const key = entry[keyOf[kind]];
  if (list.some((one) => one !== entry && one[keyOf[kind]] === key))
    throw saying('conflict', 'own_taken', { kind: word[kind], member: keyOf[kind], name: String(key) });
}

function checkAdmin(by: Editor): void {
  if (!by.isAdmin) throw saying('forbidden', 'admins_only');
}

function withoutNone(given: Entry): Entry {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
}
