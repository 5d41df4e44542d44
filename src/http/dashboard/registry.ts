import { Hono } from 'hono';
import { z } from 'zod';
import { HubError } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { logLimits } from '../../logs/limits.ts';
import { type ApiEnv, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import { httpLimits } from '../limits.ts';

const searchInput = z.object({
  search: z.string().max(logLimits.filterChars).optional(),
  cursor: z.string().max(logLimits.filterChars).optional(),
});

/**
 * `GET /registry/servers`: a page of the official MCP registry (its `v0` API), fetched by the hub because the dashboard
 * connects to no other server. For callers who may add servers. Throws HubError `not_ready` when the registry cannot be
 * reached.
 */
export function registryRoutes({ registryUrl }: { readonly registryUrl: string }): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/registry/servers', async (c) => {
    editorOf(c.var.caller);
    const { search = '', cursor = '' } = parseInput(searchInput, c.req.query(), 'Cannot search the registry');
    const query = new URLSearchParams({ version: 'latest', limit: '30' });
    if (search !== '') query.set('search', search);
    if (cursor !== '') query.set('cursor', cursor);
    const answer = await asked(`${registryUrl}/v0/servers?${query.toString()}`);
    const metadata = isObject(answer['metadata']) ? answer['metadata'] : {};
    const nextCursor = metadata['nextCursor'] ?? metadata['next_cursor'];
    return ok(c, {
      servers: serversIn(answer),
      ...(typeof nextCursor === 'string' && nextCursor !== '' && { nextCursor }),
    });
  });
  return routes;
}

async function asked(url: string): Promise<Record<string, unknown>> {
  try {
    const { request } = await import('undici');
    const signal = AbortSignal.timeout(httpLimits.registryAnswerMs);
    const { statusCode, body } = await request(url, { headers: { accept: 'application/json' }, signal });
    const text = await bounded(body);
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    const answer = JSON.parse(text) as unknown;
    return isObject(answer) ? answer : {};
  } catch (error) {
    throw new HubError(
      'not_ready',
      'The MCP registry cannot be reached from this machine now. Add the server by hand.',
      {
        cause: error,
      },
    );
  }
}

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > httpLimits.registryAnswerBytes) throw new Error('answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Newer registries wrap each server with what they know of it themselves. */
function serversIn({ servers }: Readonly<Record<string, unknown>>): unknown[] {
  if (!Array.isArray(servers)) return [];
  const plain = servers.map((entry: unknown) =>
    isObject(entry) && isObject(entry['server']) ? entry['server'] : entry,
  );
  return plain.filter((server) => isObject(server) && typeof server['name'] === 'string');
}
