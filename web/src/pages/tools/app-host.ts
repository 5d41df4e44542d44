import type { JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';

/** The revision of MCP Apps that is spoken here. */
const protocolVersion = '2026-01-26';

/** What a page that is a stranger's may cost. */
export const appLimits = { messages: 5_000, argumentChars: 64_000, declined: 2 } as const;

interface AppHostOptions {
  readonly hostInfo: { readonly name: string; readonly version: string };
  readonly context: JsonObject;
  readonly args: JsonObject;
  /** What the tool answered. */
  readonly result: JsonObject;
  readonly send: (message: JsonObject) => void;
  /** Asks the user first: undefined when they do not want it. Throws what is to be told to the app. */
  readonly callTool: (name: string, args: JsonObject) => Promise<JsonObject | undefined>;
  readonly resized: (height: number) => void;
  /** It sends more than any app needs. */
  readonly flooded: () => void;
}

/**
 * The host's side of MCP Apps (2026-01-26), as far as an app needs it that shows the answer of a tool: it begins, gets
 * arguments and result, says how high it is, and calls tools of its own server, each after a question to the user. What
 * comes from the app is a stranger's: everything else is refused, and all of it is bounded.
 */
export function createAppHost(options: AppHostOptions): { receive: (data: unknown) => void } {
  const { hostInfo, context, args, result, send, callTool, resized, flooded } = options;
  let received = 0;
  let hasBegun = false;
  let isAsking = false;
  let declined = 0;

  const answer = (id: unknown, outcome: JsonObject): void => send({ jsonrpc: '2.0', id, ...outcome });
  const refuse = (id: unknown, code: number, message: string): void => answer(id, { error: { code, message } });

  async function called(id: unknown, { name, arguments: given = {} }: JsonObject): Promise<void> {
    if (typeof name !== 'string' || !isObject(given)) return refuse(id, -32602, 'A call needs a name and arguments.');
    if (JSON.stringify(given).length > appLimits.argumentChars)
      return refuse(id, -32602, 'The arguments are too long.');
    if (isAsking) return refuse(id, -32000, 'Another call waits for the user.');
    if (declined >= appLimits.declined) return refuse(id, -32000, 'The user does not want calls of this app.');
    isAsking = true;
    try {
      const outcome = await callTool(name, given);
      if (outcome) declined = 0;
      else declined++;
      if (outcome) answer(id, { result: outcome });
      else refuse(id, -32000, 'The user does not want this call.');
    } catch (error) {
      refuse(id, -32000, error instanceof Error ? error.message : 'The call failed.');
    } finally {
      isAsking = false;
    }
  }

  function request(id: string | number, method: string, params: JsonObject): void {
    if (method === 'ui/initialize') {
      const hostCapabilities = { serverTools: {} };
      return answer(id, { result: { protocolVersion, hostInfo, hostCapabilities, hostContext: context } });
    }
    if (method === 'ping') return answer(id, { result: {} });
    if (method === 'tools/call') return void called(id, params);
    refuse(id, -32601, 'This host does not do that.');
  }

  function notified(method: string, params: JsonObject): void {
    if (method === 'ui/notifications/size-changed' && typeof params['height'] === 'number') resized(params['height']);
    if (method !== 'ui/notifications/initialized' || hasBegun) return;
    hasBegun = true;
    send({ jsonrpc: '2.0', method: 'ui/notifications/tool-input', params: { arguments: args } });
    send({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: result });
  }

  return {
    receive(data) {
      received++;
      if (received === appLimits.messages) flooded();
      if (received >= appLimits.messages || !isObject(data)) return;
      const { jsonrpc, id, method, params } = data;
      if (jsonrpc !== '2.0' || typeof method !== 'string') return;
      const given = isObject(params) ? params : {};
      if (typeof id === 'string' || typeof id === 'number') request(id, method, given);
      else if (id === undefined) notified(method, given);
    },
  };
}

/** The page that a tool is shown with (`_meta.ui.resourceUri`, and as it was called before); undefined without one. */
export function appOf(tool: JsonObject): string | undefined {
  const meta = isObject(tool['_meta']) ? tool['_meta'] : {};
  const ui = isObject(meta['ui']) ? meta['ui'] : {};
  const uri = ui['resourceUri'] ?? meta['ui/resourceUri'];
  return typeof uri === 'string' && uri.startsWith('ui://') ? uri : undefined;
}

/** Whether an app may call the tool: a tool says whom it is for (`_meta.ui.visibility`), and without that all. */
export function isForApps(tool: JsonObject): boolean {
  const meta = isObject(tool['_meta']) ? tool['_meta'] : {};
  const ui = isObject(meta['ui']) ? meta['ui'] : {};
  return !Array.isArray(ui['visibility']) || ui['visibility'].includes('app');
}

/** The page in what `resources/read` gave. Throws Error for anything else. */
export function htmlIn(result: JsonObject): string {
  const contents = Array.isArray(result['contents']) ? (result['contents'] as unknown[]) : [];
  for (const content of contents) {
    const type = isObject(content) ? content['mimeType'] : undefined;
    if (!isObject(content) || typeof type !== 'string' || !type.startsWith('text/html')) continue;
    if (typeof content['text'] === 'string') return content['text'];
    if (typeof content['blob'] === 'string')
      return new TextDecoder().decode(Uint8Array.from(atob(content['blob']), (byte) => byte.charCodeAt(0)));
  }
  throw new Error('no text/html');
}
