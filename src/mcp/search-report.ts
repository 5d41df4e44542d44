import type { SearchReport } from '../core/answers/records.ts';
import { memberText } from '../core/json/text.ts';
import type { Scope } from '../core/access/scope.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { SmartView, View } from '../core/access/view.ts';
import { type Searchable, searchable } from './searchable.ts';
import { shownScore } from '../core/smart-tools.ts';
import type { Explanation, SearchResult } from '../smart/search-engine.ts';
import type { SmartOptions } from './smart.ts';

/** A search by a user who wants to know how the search works, and not to call what it finds. */
export interface AskedSearch {
  readonly query: string;
  readonly context?: string | undefined;
  readonly group?: string | undefined;
  readonly limit: number;
  /** Tells where scores come from and what was left out, also of what is switched off: for admins only. */
  readonly explain: boolean;
}

export type { SearchReport };
export type ReportedTool = SearchReport['results'][number];
export type DroppedTool = SearchReport['dropped'][number];
export type DropReason = DroppedTool['reason'];

/** Where a search looks: the settings, and the view of the caller. */
export interface SearchPlace {
  readonly settings: Settings;
  readonly view: (scope: Scope) => View;
}

/**
 * Searches as a smart endpoint does. With `explain` it looks a second time, without group and switches, to see what
 * these left out.
 */
export async function searchReport(
  asked: AskedSearch,
  { settings, view }: SearchPlace,
  options: Pick<SmartOptions, 'search' | 'key' | 'available'>,
): Promise<SearchReport> {
  const { query, context, limit, explain } = asked;
  const within = view({ kind: 'smart', group: asked.group }).smart;
  const { places, allowed }: Searchable = within ? searchable(within, options) : nothing;
  const found = await options.search({ query, context, limit, explain, allowed });
  const tools = (scored: readonly SearchResult[]): ReportedTool[] =>
    scored.map((one) => ({ ...toolAt(within, places.get(one.key)), ...scoreOf(one) }));
  const below = tools(found.dropped ?? []).map((tool): DroppedTool => ({ ...tool, reason: 'threshold' }));
  return {
    query,
    searched: places.size,
    threshold: shownScore(found.threshold),
    confident: found.confident,
    ...(found.degraded !== undefined && { degraded: found.degraded }),
    results: tools(found.results),
    dropped: explain ? [...below, ...(await outside())] : [],
  };

  /** What would have been among the results, were it not kept out. */
  async function outside(): Promise<DroppedTool[]> {
    const all = view({ kind: 'smart', group: undefined }).smart;
    const known = new Map<string, DroppedTool>();
    const add = (reason: DropReason, tool: Omit<DroppedTool, 'reason'>): void => {
      const key = options.key({ server: tool.serverName, key: tool.toolName });
      if (!places.has(key)) known.set(key, { ...tool, reason });
    };
    for (const [server, { tools: switches }] of settings.servers) {
      for (const [name, { enabled, description = '' }] of switches)
        if (!enabled) add('switched_off', { name, serverName: server, toolName: name, description });
    }
    const inGroup = new Set(within?.tools.targets.map(options.key));
    for (const [index, target] of all?.tools.targets.entries() ?? [])
      add(inGroup.has(options.key(target)) ? 'unavailable' : 'not_in_group', toolAt(all, index));
    if (known.size === 0) return [];
    const widened = new Set([...allowed, ...known.keys()]);
    const wide = await options.search({ query, context, limit, explain, allowed: widened });
    return wide.results.flatMap(({ key, explanation }) => {
      const tool = known.get(key);
      return tool ? [{ ...tool, ...(explanation && { channels: shownScores(explanation) }) }] : [];
    });
  }
}

const nothing: Searchable = { places: new Map(), allowed: new Set() };

function toolAt(view: SmartView | undefined, index = -1): Omit<ReportedTool, 'score'> {
  const target = view?.tools.targets[index] ?? { server: '', key: '' };
  const text = view?.tools.texts.at(index) ?? '{}';
  const description: unknown = JSON.parse(memberText(text, 'description') ?? '""');
  return {
    name: String(JSON.parse(memberText(text, 'name') ?? '""')),
    serverName: target.server,
    toolName: target.key,
    description: typeof description === 'string' ? description : '',
  };
}

function scoreOf({ score, explanation }: SearchResult) {
  return { score: shownScore(score), ...(explanation && { channels: shownScores(explanation) }) };
}

function shownScores({ words, grams, meaning, server }: Explanation): Explanation {
  return {
    words: shownScore(words),
    grams: shownScore(grams),
    meaning: shownScore(meaning),
    server: shownScore(server),
  };
}
