import { request } from 'undici';
import { errorText, HubError } from '../core/errors.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { AskedSearch, SearchReport } from '../mcp/search-report.ts';
import { cliLimits } from './limits.ts';

/**
 * Asks a running hub. An admin's token gets the full report; with other credentials, access keys too, the MCP endpoint
 * is used as any client would. Throws HubError: the hub cannot be reached, or wants another credential.
 */
export async function searchHub(asked: AskedSearch, hub: string, token: string | undefined): Promise<SearchReport> {
  if (token !== undefined && !token.startsWith('mcphub_')) {
    const { status, body } = await post(`${hub}/api/smart-routing/search`, asked, token);
    if (status === 200 && isObject(body) && isObject(body['data'])) return body['data'] as unknown as SearchReport;
    // Of a user who is no admin.
    if (status !== 403) throw refused(hub, status, body);
  }
  if (asked.explain) {
    throw new HubError(
      'misconfigured',
      `Cannot explain: the hub at ${hub} tells that to admins only. Log in as an admin (toolhub login), set TOOLHUB_TOKEN, or search what is saved with --saved.`,
    );
  }
  const scope = asked.group === undefined ? '$smart' : `$smart/${encodeURIComponent(asked.group)}`;
  const { query, limit } = asked;
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search_tools', arguments: { query, limit } },
  };
  const { status, body } = await post(`${hub}/mcp/${scope}`, call, token);
  const result = isObject(body) && isObject(body['result']) ? body['result'] : undefined;
  if (status !== 200 || !isObject(result?.['structuredContent'])) throw refused(hub, status, body);
  return reportOf(asked, result['structuredContent']);
}

/** What an MCP client is told of a search, as a report. */
function reportOf({ query }: AskedSearch, { tools, metadata }: Record<string, unknown>): SearchReport {
  const about = isObject(metadata) ? metadata : {};
  const listed = Array.isArray(tools) ? tools.filter(isObject) : [];
  const { degraded } = about;
  return {
    query,
    // Not told, but something was there if something was found.
    searched: listed.length,
    threshold: Number(about['threshold'] ?? 0),
    confident: about['lowConfidence'] !== true,
    ...(typeof degraded === 'string' && { degraded }),
    results: listed.map(({ name, serverName, description, score }) => ({
      name: text(name),
      serverName: text(serverName),
      toolName: text(name),
      description: text(description),
      score: Number(score),
    })),
    dropped: [],
  };
}

async function post(url: string, body: unknown, token: string | undefined): Promise<{ status: number; body: unknown }> {
  try {
    const { statusCode, body: answered } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      headersTimeout: cliLimits.searchAnswerMs,
      bodyTimeout: cliLimits.searchAnswerMs,
    });
    return { status: statusCode, body: parsed(await answered.text()) };
  } catch (error) {
    throw new HubError(
      'upstream_unavailable',
      `Cannot ask the hub at ${url}: ${errorText(error)}. Is it running? --saved searches what it saved.`,
      { cause: error },
    );
  }
}

/** JSON, or the one message of an event stream. */
function parsed(answer: string): unknown {
  const json = /^data: ?(\{.*)$/m.exec(answer)?.[1] ?? answer;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function refused(hub: string, status: number, body: unknown): HubError {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : isObject(body) ? body : {};
  const said = text(error['message']);
  if (status === 401)
    return new HubError(
      'misconfigured',
      `The hub at ${hub} wants to know who asks${said === '' ? '' : ` (${said})`}. Log in (toolhub login ${hub}), or set TOOLHUB_TOKEN to an access token or key.`,
    );
  const what = said === '' ? `it answered ${status}, which no Tool Hub does` : said;
  return new HubError('upstream_failed', `Cannot search at ${hub}: ${what}`);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
