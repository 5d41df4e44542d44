import { HubError } from '../../core/errors.ts';
import { isForbiddenName } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { type Draft, type Editor, type Entry, serversOf } from '../document/document.ts';
import { ownServer, separatorOf } from './server-edits.ts';

/** Edits of what the settings say of a server's tools, prompts and resources. */

export interface ItemChange {
  readonly server: string;
  readonly kind: 'tools' | 'prompts' | 'resources';
  /** The upstream's own names; the URIs of resources. */
  readonly items: readonly string[];
  readonly enabled?: boolean;
  /** Shown in place of the upstream's text; null or empty: the upstream's text again. */
  readonly description?: string | null;
}

/** Switches tools, prompts or resources of a server, or describes them in other words. */
export function changeItems(draft: Draft, by: Editor, { server, kind, items, ...wanted }: ItemChange): void {
  const attempt = `Cannot change "${items.slice(0, 3).join('", "')}" of server "${server}"`;
  const entry = ownServer(draft, by, server, attempt);
  if (items.some((item) => item === '' || isForbiddenName(item)))
    throw new HubError('invalid_input', `${attempt}: nothing can have this name.`);
  const before = isObject(entry[kind]) ? entry[kind] : {};
  const exposed = (item: string) => `${server}${separatorOf(draft)}${item}`;
  const changed = items.map((item) => {
    // MCPHub's dashboard writes the exposed name; such an entry counts as long as there is none under the item's own.
    const known = [item, exposed(item)].find((key) => Object.hasOwn(before, key));
    return [item, changedItem(known === undefined ? undefined : before[known], wanted)] as const;
  });
  entry[kind] = { ...before, ...Object.fromEntries(changed) };
}

function changedItem(old: unknown, { enabled, description }: Pick<ItemChange, 'enabled' | 'description'>): Entry {
  const next: Entry = isObject(old) ? { ...old } : { enabled: old !== false };
  if (enabled !== undefined) next['enabled'] = enabled;
  if (description === null || description === '') delete next['description'];
  else if (description !== undefined) next['description'] = description;
  return next;
}

/** Sets the most tokens that a result of one tool may have (docs/large-results.md); `null`: as its server has it. */
export function limitTool(
  draft: Draft,
  by: Editor,
  { server, tool, most }: { server: string; tool: string; most: number | null },
): void {
  changeItems(draft, by, { server, kind: 'tools', items: [tool] });
  const tools = serversOf(draft)[server]?.['tools'] as Record<string, Entry>;
  const entry = tools[tool] ?? {};
  if (most === null) delete entry['maxResultTokens'];
  else entry['maxResultTokens'] = most;
}

const overrideNames = ['name', 'title', 'description', 'annotations', 'arguments'] as const;

/** Sets what clients see of a tool and what becomes of its arguments; undefined: all as the server has it. */
export function overrideTool(
  draft: Draft,
  by: Editor,
  { server, tool, override }: { server: string; tool: string; override: Readonly<Record<string, unknown>> | undefined },
): void {
  changeItems(draft, by, { server, kind: 'tools', items: [tool] });
  const tools = serversOf(draft)[server]?.['tools'] as Record<string, Entry>;
  const entry = tools[tool] ?? {};
  for (const member of overrideNames) delete entry[member];
  Object.assign(entry, override);
}
