import type { Tool } from '../api/types.ts';

/** About what a tool costs a client that lists it; the hub counts in the same way (`core/tokens.ts`). */
export function tokensOf({ name, title, description, inputSchema, outputSchema, annotations }: Tool): number {
  return Math.ceil(JSON.stringify({ name, title, description, inputSchema, outputSchema, annotations }).length / 4);
}
