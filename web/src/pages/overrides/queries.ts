import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ask, type Envelope, get, pathOf } from '../../api/client.ts';
import type { JsonObject, ToolOverride } from '../../api/types.ts';

/** A tool of a server, everywhere or on the endpoints of a group. */
export interface Overridden {
  readonly server: string;
  /** The server's own name of it. */
  readonly tool: string;
  readonly group?: { readonly id: string; readonly name: string } | undefined;
}

export function overridePath({ server, tool, group }: Overridden): string {
  const at = group ? `/groups${pathOf(group.id)}/server-configs` : '/servers';
  return `${at}${pathOf(server)}/tools${pathOf(tool)}/override`;
}

export const overrideQuery = (path: string) =>
  queryOptions({ queryKey: ['override', path], queryFn: ({ signal }) => get<ToolOverride>(path, signal) });

/** What clients would see; nothing is changed. Refused as saving would be. */
export const previewQuery = (path: string, override: JsonObject | undefined) =>
  queryOptions({
    queryKey: ['override', path, 'preview', override],
    queryFn: ({ signal }): Promise<Envelope<ToolOverride>> =>
      ask<ToolOverride>(`${path}?dryRun=true`, { method: 'PUT', body: override, signal }),
    enabled: override !== undefined,
    placeholderData: keepPreviousData,
  });
