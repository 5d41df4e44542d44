import { useQueries, useQuery } from '@tanstack/react-query';
import { ask, pathOf } from '../../api/client.ts';
import { groupQuery, groupServersQuery, serverQuery, serversQuery } from '../../api/queries.ts';
import type { Group, GroupServer, Selection, ServerSummary, Tool } from '../../api/types.ts';
import { guess, useAction } from '../../lib/action.ts';
import { matches } from '../../lib/search.ts';

/** What a group shows, as rows: each server, and below an open one its tools. */
export type ContentRow =
  | { readonly kind: 'server'; readonly server: ServerChoice; readonly open: boolean }
  | { readonly kind: 'all'; readonly server: ServerChoice }
  | { readonly kind: 'tool'; readonly server: ServerChoice; readonly tool: Tool }
  | { readonly kind: 'none'; readonly server: ServerChoice };

export interface ServerChoice {
  readonly name: string;
  /** Undefined while it is not in the group. */
  readonly selection: Selection | undefined;
  /** Tools that the group shows otherwise than their server. */
  readonly overridden: readonly string[];
  /** Undefined for a server that is gone. */
  readonly now: ServerSummary | undefined;
}

export function chosen(selection: Selection | undefined, tool: string): boolean {
  return selection === 'all' || (selection?.includes(tool) ?? false);
}

/**
 * The rows for what is searched and opened. Only the tools of servers that are open, or all while something is
 * searched, are asked for.
 */
export function useRows(members: readonly GroupServer[], q: string, opened: ReadonlySet<string>, changeable: boolean) {
  const servers = useQuery(serversQuery);
  // Who cannot change it has no use for what is not in it.
  const all = (servers.data ?? []).filter(({ name }) => changeable || members.some((member) => member.name === name));
  const choices: ServerChoice[] = [
    ...members
      .filter(({ name }) => servers.data?.every((server) => server.name !== name) === true)
      .map(({ name, tools }) => ({ name, selection: tools, overridden: [], now: undefined })),
    ...all.map((now) => {
      const member = members.find(({ name }) => name === now.name);
      return {
        name: now.name,
        selection: member?.tools,
        overridden: Object.keys(member?.overrides ?? {}),
        now,
      };
    }),
  ];
  const wanted = choices.filter(({ name, now }) => now && (q !== '' || opened.has(name)));
  const details = useQueries({ queries: wanted.map(({ name }) => serverQuery(name)) });
  const tools = new Map(wanted.map(({ name }, index) => [name, details[index]?.data?.tools]));
  const rows = choices.flatMap((server): ContentRow[] => {
    const known = tools.get(server.name);
    const found = (known ?? []).filter((tool) => matches(q, server.name, tool.originalName, tool.description));
    if (q !== '' && found.length === 0 && !matches(q, server.name)) return [];
    const open = opened.has(server.name) || (q !== '' && found.length > 0);
    if (!open) return [{ kind: 'server', server, open }];
    const inner: ContentRow[] = found.map((tool) => ({ kind: 'tool', server, tool }));
    const first: ContentRow[] =
      known?.length === 0 ? [{ kind: 'none', server }] : q === '' ? [{ kind: 'all', server }] : [];
    return [{ kind: 'server', server, open }, ...first, ...inner];
  });
  return {
    rows,
    loading: servers.isPending || details.some((each) => each.isPending),
    none: servers.data !== undefined && choices.length === 0,
  };
}

interface Change {
  readonly server: string;
  /** Undefined takes the server out of the group. */
  readonly selection: Selection | undefined;
  readonly isMember: boolean;
}

/** Changes one server of the group and leaves the others alone: another user may be changing those. */
export function useSelect(group: Group) {
  const at = `/groups${pathOf(group.id)}`;
  return useAction<Change>({
    run({ server, selection, isMember }) {
      if (selection === undefined) return ask(`${at}/servers${pathOf(server)}`, { method: 'DELETE' });
      if (isMember)
        return ask(`${at}/server-configs${pathOf(server)}/tools`, { method: 'PUT', body: { tools: selection } });
      // With what it shows, in one request: it must not show everything until a second one comes, which may not.
      const tools = selection === 'all' ? {} : { tools: selection };
      return ask(`${at}/servers`, { method: 'POST', body: { serverName: server, ...tools } });
    },
    at: ({ server, selection }) => [
      guess<readonly GroupServer[]>(groupServersQuery(group.id).queryKey, (old) => {
        if (selection === undefined) return old.filter(({ name }) => name !== server);
        if (!old.some(({ name }) => name === server)) {
          return [...old, { name: server, tools: selection, prompts: 'all', resources: 'all' }];
        }
        return old.map((member) => (member.name === server ? { ...member, tools: selection } : member));
      }),
      // The address of a page names it by its id or its name.
      ...[group.id, group.name].map((each) =>
        guess<Group>(groupQuery(each).queryKey, (old) => {
          const others = old.servers.filter((name) => name !== server);
          return { ...old, servers: selection === undefined ? others : [...others, server] };
        }),
      ),
    ],
  });
}
