import type { ActivityStats, ServerCost } from '../../api/types.ts';
import { matches } from '../../lib/search.ts';

/** A tool with what it costs every client that lists it, and how often it was called. */
export interface BilledTool {
  readonly server: string;
  readonly tool: string;
  readonly tokens: number;
  readonly isOn: boolean;
  readonly managed: boolean;
  /** Undefined while it is not known. */
  readonly calls: number | undefined;
  readonly lastCall: string | undefined;
  /** No call of it is known, and none can be hidden under another name of its server. */
  readonly unused: boolean;
}

/** Calls of one tool, as the records have them. */
export interface ToolCalls {
  readonly server: string;
  readonly tool: string;
  readonly calls: number;
  readonly lastCall: string;
}

/**
 * The tools with what is known of their calls; `used` is absent while that is not known. `servers`: the names of all
 * that there are now, in this bill or not.
 */
export function billed(
  costs: readonly ServerCost[],
  used?: readonly ToolCalls[],
  servers: ReadonlySet<string> = new Set(),
): readonly BilledTool[] {
  const byServer = new Map<string, Map<string, ToolCalls>>();
  for (const row of used ?? []) {
    const tools = byServer.get(row.server) ?? new Map<string, ToolCalls>();
    byServer.set(row.server, tools.set(row.tool, row));
  }
  // A server that was renamed has its older calls under its old name.
  const elsewhere = new Set((used ?? []).filter(({ server }) => !servers.has(server)).map(({ tool }) => tool));
  return costs.flatMap(({ name, managed, tools, off }) => {
    const billedTool =
      (isOn: boolean) =>
      ([tool, tokens]: readonly [string, number]) => {
        const found = byServer.get(name)?.get(tool);
        return {
          server: name,
          tool,
          tokens,
          isOn,
          managed,
          calls: used && (found?.calls ?? 0),
          lastCall: found?.lastCall,
          unused: used !== undefined && !found && !elsewhere.has(tool) && !name.startsWith('$'),
        };
      };
    return [...Object.entries(tools).map(billedTool(true)), ...Object.entries(off).map(billedTool(false))];
  });
}

export const orders = ['cost', 'calls', 'oldest', 'name'] as const;
export type Order = (typeof orders)[number];
export const choices = ['on', 'unused', 'off'] as const;
export type Choice = (typeof choices)[number];

export interface Wanted {
  readonly q: string;
  readonly server: string;
  readonly choice: Choice;
  readonly order: Order;
}

/** The tools that are looked for, in the order that is asked for. */
export function found(tools: readonly BilledTool[], { q, server, choice, order }: Wanted): readonly BilledTool[] {
  return tools
    .filter(
      (each) =>
        (server === '' || each.server === server) &&
        each.isOn === (choice !== 'off') &&
        (choice !== 'unused' || each.unused) &&
        matches(q, each.server, each.tool),
    )
    .toSorted((a, b) => compare[order](a, b) || b.tokens - a.tokens || byName(a, b));
}

type Compare = (a: BilledTool, b: BilledTool) => number;
const byName: Compare = (a, b) => inOrder(a.server, b.server) || inOrder(a.tool, b.tool);
const compare: Readonly<Record<Order, Compare>> = {
  cost: (a, b) => b.tokens - a.tokens,
  calls: (a, b) => (a.calls ?? 0) - (b.calls ?? 0),
  oldest: (a, b) => inOrder(a.lastCall ?? '', b.lastCall ?? ''),
  name: byName,
};

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function sumOf(tools: readonly Pick<BilledTool, 'tokens'>[]): number {
  return tools.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** A group without the tools that are never called. */
export interface UsedTools {
  /** Its tools, with those of which calls may be known under another name of their server. */
  readonly tools: readonly BilledTool[];
  /** How many of them were certainly called. */
  readonly called: number;
  /** What its members list without it. */
  readonly all: readonly BilledTool[];
}

/**
 * The tools of a group in place of these, of one server where it is not empty; undefined where that is none of them,
 * or all. What the hub itself offers is no member of groups.
 */
export function usedOf(on: readonly BilledTool[], server: string): UsedTools | undefined {
  const all = on.filter((tool) => !tool.server.startsWith('$') && (server === '' || tool.server === server));
  const tools = all.filter(({ unused }) => !unused);
  const called = tools.filter(({ calls = 0 }) => calls > 0).length;
  return called === 0 || tools.length === all.length ? undefined : { tools, called, all };
}

/** One name for a tool of a server; neither part can be taken for another. */
export function idOf({ server, tool }: Pick<BilledTool, 'server' | 'tool'>): string {
  return JSON.stringify([server, tool]);
}

/** The names of the tools of each server. */
export function byServer(
  tools: readonly Pick<BilledTool, 'server' | 'tool'>[],
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { server, tool } of tools) names.set(server, [...(names.get(server) ?? []), tool]);
  return names;
}

export type SwitchedTool = Pick<BilledTool, 'server' | 'tool' | 'tokens'>;

export interface Change {
  readonly tools: readonly SwitchedTool[];
  readonly enabled: boolean;
}

/** What the hub will answer next. */
export function switched(costs: readonly ServerCost[], { tools, enabled }: Change): readonly ServerCost[] {
  const names = byServer(tools);
  return costs.map((cost) => {
    const moved = new Set(names.get(cost.name));
    if (moved.size === 0) return cost;
    const [from, to] = enabled ? [cost.off, cost.tools] : [cost.tools, cost.off];
    const stay = Object.entries(from).filter(([tool]) => !moved.has(tool));
    const go = Object.entries(from).filter(([tool]) => moved.has(tool));
    const [fromNow, toNow] = [Object.fromEntries(stay), { ...to, ...Object.fromEntries(go) }];
    return enabled ? { ...cost, off: fromNow, tools: toNow } : { ...cost, tools: fromNow, off: toNow };
  });
}

/** What is known of the calls of each tool. */
export interface KnownCalls {
  /** Undefined where too little is known to say of any tool that it was never called. */
  readonly tools: readonly ToolCalls[] | undefined;
  /** Since when calls are known: the oldest record. Undefined when there is none. */
  readonly since: string | undefined;
  /** Calls are known for the whole of the last 30 days. */
  readonly isWhole: boolean;
}

const monthMs = 30 * 24 * 60 * 60_000;
/** The oldest records go every few minutes. */
const slackMs = 60 * 60_000;

/** What statistics by tool say. */
export function knownCalls(
  { groups = [], others, since }: ActivityStats,
  isIncomplete: boolean,
  now = Date.now(),
): KnownCalls {
  const isWhole = since !== undefined && Date.parse(since) <= now - monthMs + slackMs;
  // Those of other hubs, or of before the start, are missing; or there are more tools than the hub tells.
  if (isIncomplete || since === undefined || (others?.groups ?? 0) > 0) return { tools: undefined, since, isWhole };
  const tools = groups.map(({ server = '', tool = '', calls, last }) => ({ server, tool, calls, lastCall: last }));
  return { tools, since, isWhole };
}
