// An MCP client of the session era on one connection.
import { openWire } from './wire.mjs';

/** Where MCP is spoken: `{url, headers?}`. */
export async function openSession(target) {
  const { host, pathname } = new URL(target.url);
  const wire = openWire(target.url);
  const own = Object.entries(target.headers ?? {})
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const headOf = (method, session, accept = 'application/json, text/event-stream') =>
    `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\naccept: ${accept}\r\n${own}${session}`;
  let lastId = 0;
  let head = headOf('POST', '');
  let session = '';

  /** The text of the answer's message. */
  async function ask(method, params) {
    const id = ++lastId;
    const {
      status,
      body,
      head: answered,
    } = await wire.ask(head, `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
    const text = body.startsWith('event:') ? body.slice(body.lastIndexOf('data: ') + 6).trim() : body;
    if (status !== 200 || (text.includes('"error"', 0) && JSON.parse(text).error))
      throw new Error(`${method}: ${status} ${text.slice(0, 300)}`);
    if (method === 'initialize') session = /\r\nmcp-session-id: *([^\r\n]+)/i.exec(answered)?.[1] ?? '';
    return text;
  }

  const begin = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}';
  await ask('initialize', begin);
  const named = session === '' ? '' : `mcp-session-id: ${session}\r\nmcp-protocol-version: 2025-06-18\r\n`;
  head = headOf('POST', named);
  await wire.ask(head, '{"jsonrpc":"2.0","method":"notifications/initialized"}');

  return {
    wire,
    ask,
    /** Calls a tool; throws when the answer does not hold `tag`. */
    async call(name, given, tag) {
      const text = await ask('tools/call', `{"name":"${name}","arguments":${given}}`);
      if (!text.includes(tag)) throw new Error(`wrong answer: ${text.slice(0, 200)}`);
      return text;
    },
    notify: (method, params) => wire.ask(head, `{"jsonrpc":"2.0","method":"${method}","params":${params}}`),
    /** The same session on a connection of its own. */
    async elsewhere(method, params, id) {
      const other = openWire(target.url);
      const answer = await other.ask(
        head,
        `{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}"method":"${method}","params":${params}}`,
      );
      other.close();
      return answer;
    },
    /** Opens its GET stream. */
    listen: (heard) => wire.ask(headOf('GET', named, 'text/event-stream'), '', heard),
    async end() {
      if (session !== '') await wire.ask(headOf('DELETE', named));
      wire.close();
    },
  };
}

/** All names of tools, by what they end in: a hub puts the server's name in front. */
export async function toolNames(target) {
  const session = await openSession(target);
  const { result } = JSON.parse(await session.ask('tools/list', '{}'));
  await session.end();
  const names = result.tools.map(({ name }) => name);
  return {
    count: names.length,
    of: (server, tool) => names.find((name) => name === tool || (name.endsWith(tool) && name.includes(server))),
  };
}
