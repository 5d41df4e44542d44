// What the tool servers of the bench do, whatever they are spoken to over: JSON-RPC by hand, so that the server is
// never what is measured.

const text = (description) => ({ type: 'string', description });

const few = [
  tool('echo', 'Returns the message it is given.', { message: text('What to return') }),
  tool('sleep', 'Answers after so many milliseconds, unless it is cancelled before.', { ms: { type: 'number' } }),
  tool('big', 'Returns a text of so many kilobytes.', { kb: { type: 'number' }, tag: text('Stands in front of it') }),
  tool('hang', 'Answers when it is cancelled, and never otherwise.', {}),
  tool('counters', 'What this server has seen so far.', {}),
];

function tool(name, description, properties) {
  return { name, description, inputSchema: { type: 'object', properties } };
}

/** So many tools, each about as long as real ones are (some 700 bytes). */
export function manyTools(count) {
  const things = ['invoice', 'ticket', 'branch', 'meeting', 'shipment', 'contact'];
  const deeds = ['Creates', 'Finds', 'Changes', 'Removes', 'Archives'];
  return Array.from({ length: count }, (_, i) => {
    const thing = things[i % things.length];
    const deed = deeds[i % deeds.length];
    const properties = {
      id: text(`Which ${thing} is meant, as the listing of ${thing}s names it`),
      fields: {
        type: 'array',
        items: { type: 'string' },
        description: `What of the ${thing} is wanted, all when it is not said`,
      },
      note: text('Goes into the history, where colleagues read it'),
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'How many at most' },
      dryRun: { type: 'boolean', description: 'Says what would happen and changes nothing' },
    };
    const about = `${deed} a ${thing} of project ${i}. Good for whatever somebody wants done with a ${thing} there; answers with what the ${thing} is afterwards.`;
    return tool(`${thing}_${i}`, about, properties);
  });
}

/**
 * A server: `handle(message, say, from)` calls `say(text)` for each answer, now or later. `options`: `tools` (how many;
 * the few by default), `deaf` (`initialize` or `tools/list` that is never answered), `lateMs` (how long each call
 * takes).
 */
export function echoServer({ tools = 0, deaf, lateMs = 0 } = {}) {
  const offered = tools > 0 ? [few[0], ...manyTools(tools - 1)] : few;
  const list = JSON.stringify({ tools: offered });
  const waiting = new Map();
  const counters = { calls: 0, cancelled: 0, cancelledAt: 0, initialized: 0 };
  const chunk = 'x'.repeat(1024);

  const results = {
    initialize: ({ protocolVersion }) =>
      JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
    ping: () => '{}',
    'tools/list': () => list,
  };

  function handle(message, say, from = '') {
    const { id, method, params = {} } = message;
    if (id === undefined) {
      if (method === 'notifications/initialized') counters.initialized++;
      if (method === 'notifications/cancelled') cancel(`${from} ${params.requestId}`);
      return;
    }
    if (method === undefined || method === deaf) return;
    const answer = (result) => say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
    if (method === 'tools/call') {
      counters.calls++;
      if (lateMs > 0) setTimeout(() => call(`${from} ${id}`, params, answer), lateMs);
      else call(`${from} ${id}`, params, answer);
    } else if (results[method]) answer(results[method](params));
    else say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no such method"}}`);
  }

  function call(id, { name, arguments: given = {} }, answer) {
    const said = (words) => answer(`{"content":[{"type":"text","text":${JSON.stringify(words)}}]}`);
    if (name === 'big') return said(`${given.tag ?? ''}${chunk.repeat(given.kb)}`);
    if (name === 'counters') return said(JSON.stringify({ ...counters, waiting: waiting.size }));
    if (name === 'sleep')
      return void waiting.set(
        id,
        setTimeout(() => waiting.delete(id) && said(String(given.tag ?? 'slept')), given.ms),
      );
    if (name === 'hang') return void waiting.set(id, undefined);
    return said(String(given.message ?? name));
  }

  function cancel(id) {
    if (!waiting.has(id)) return;
    clearTimeout(waiting.get(id));
    waiting.delete(id);
    counters.cancelled++;
    // By the clock that all processes of a machine share.
    counters.cancelledAt = Number(process.hrtime.bigint()) / 1e6;
  }

  return handle;
}
