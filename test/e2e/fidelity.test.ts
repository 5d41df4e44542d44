import { beforeAll, describe, expect, test } from 'vitest';
import { login } from '../kit/api.ts';
import { exact, exactAt } from '../kit/exact-json.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import type { Hostile } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { legacySession, modern, modernMeta, modernRequest, session } from '../kit/sessions.ts';
import { searchReady } from '../kit/search-ready.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';

// The hub renames and filters, it never rewrites (CONTRACT §5): compared without JSON.parse, which would hide what it
// loses.

/**
 * JSON that most relays damage: big and oddly spelled numbers, keys with powers, keys that look alike, unusual
 * characters, escapes.
 */
const pretty = `{"big":9007199254740993,"bigger":-123456789012345678901234567890,"one":1,"oneToo":1.0,"hundred":1e2,"tiny":1E-400,"huge":1e400,"zero":-0,"precise":0.1000000000000000055511151231257827,
 "__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}},"toString":null,"hasOwnProperty":0,"":"empty key"," ":"blank key",
 "\u00e9":"composed","e\u0301":"decomposed","E":1,"e":2,"a":1,"\u0430":"cyrillic","0":"zero","-0":"minus zero","01":"leading","1":"one",
 "result":{"error":{"id":1,"method":"x","jsonrpc":"1.0"}},"text":"\\u0000\\u001f\\"\\\\\\/\\b\\f\\n\\r\\t\\u2028\\u2029\\ud83d\\ude00 \\ud800 lone",
 "html":"</script><!--","sse":"data: x\\n\\nevent: y\\n\\n","deep":[[[[[[[[[[[[[[[[{"x":[]}]]]]]]]]]]]]]]]],"empty":[{},[],"",null,true,false]}`;

/** The same on one line, as pipes and event streams need it. */
const awkward = pretty.replaceAll(/[\r\n]\s*/g, '');

const tool = `{"name":"odd","title":"Odd","description":"ü","inputSchema":{"type":"object","properties":{"a":{"const":9007199254740993},"name":{"type":"string"},"b":{"$ref":"#/$defs/x","multipleOf":0.10}},"$defs":{"x":{}},"$schema":"https://json-schema.org/draft/2020-12/schema"},"outputSchema":{"type":"object","future":1.0},"annotations":{"readOnlyHint":true,"future":${awkward}},"icons":[{"src":"data:,","sizes":["any"],"future":1}],"_meta":{"example.org/x":${awkward},"ui":{"resourceUri":"ui://x"}},"execution":{"taskSupport":"optional"},"unknown":${awkward}}`;
const prompt = `{"name":"odd","arguments":[{"name":"x","required":true,"future":1.0}],"unknown":${awkward}}`;
const resource = `{"uri":"odd://x?y=%2F&name=z#f","name":"odd","size":9007199254740993,"unknown":${awkward}}`;
const content = `[{"type":"hologram","data":${awkward}},{"type":"text","text":"x","unknown":1.0,"annotations":{"priority":0.50}}]`;
const results = {
  odd: `{"content":${content},"structuredContent":${awkward},"isError":false,"_meta":{"x":1.0},"unknown":${awkward}}`,
  scalar: '{"content":[],"structuredContent":1.0}',
  bare: '{"unknown":1.0}',
  'odd://x?y=%2F&name=z#f': `{"contents":[{"uri":"odd://x?y=%2F&name=z#f","text":"","unknown":${awkward}}],"unknown":1.0}`,
};

const options = {
  name: 'srv',
  toolTexts: [
    tool,
    '{"name":"scalar","inputSchema":{}}',
    '{"name":"bare","inputSchema":{}}',
    '{"name":"echo","inputSchema":{}}',
  ],
  promptTexts: [prompt],
  resourceTexts: [resource],
  results,
};
const servers: Record<string, Hostile> = {};
let hub: TestHub;
beforeAll(async () => {
  servers['pipe'] = hostileStdio({ ...options, results: { ...results } });
  // A server may lay out its JSON as it likes where its transport allows; a line break in it must not break the hub's
  // streams.
  const laidOut = { ...results, odd: results.odd.replaceAll(awkward, () => pretty.replaceAll('\n', '\r\n\r\n')) };
  servers['json'] = await hostileHttp({ ...options, results: laidOut, answers: 'json' });
  servers['stream'] = await hostileHttp({ ...options, answers: 'sse' });
  servers['old'] = await hostileHttp({ ...options, transport: 'sse' });
  hub = await testHub({
    mcpServers: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, server.config])),
  });
  await hub.connected(4);
  await searchReady(hub, await login(hub));
});

/** The exact text of the item with this name or URI in a list of a result. */
function item(text: string, list: string | readonly string[], key: string, value: string): string {
  for (let i = 0; ; i++) {
    const found = exactAt(text, 'result', ...[list].flat(), i);
    if (exactAt(found, key) === JSON.stringify(value)) return found;
  }
}

/** The page of the tool is that of its server: on an endpoint of several, servers with the same one are told apart. */
const renamed = (text: string, from: string, to: string) =>
  exact(
    text
      .replace(`{"name":"${from}"`, `{"name":"${to}"`)
      .replace('"ui://x"', `"ui://${to.slice(0, -from.length - 1)}/x"`),
  );

describe.each(['pipe', 'json', 'stream', 'old'])('from a server over %s', (server) => {
  test('a tool arrives with every member as it was, but for its name', async () => {
    const listed = (await rpc(hub.mcp(), 'tools/list', {})).texts[0] ?? '';
    expect(item(listed, 'tools', 'name', `${server}-odd`)).toBe(renamed(tool, 'odd', `${server}-odd`));
    const own = (await rpc(hub.mcp(server), 'tools/list', {})).texts[0] ?? '';
    expect(item(own, 'tools', 'name', 'odd')).toBe(exact(tool));
  });

  test('a tool that search finds arrives with every member as it was, but for its name, its server and its score', async () => {
    const asked = { name: 'search_tools', arguments: { query: 'odd', limit: 100 } };
    const answer = (await rpc(hub.mcp('$smart'), 'tools/call', asked)).texts[0] ?? '';
    const found = item(answer, ['structuredContent', 'tools'], 'name', `${server}-odd`);
    const added = `{"serverName":"${server}","score":${exactAt(found, 'score')},`;
    expect(found).toBe(exact(renamed(tool, 'odd', `${server}-odd`).replace('{', added)));
    const text = JSON.parse(exactAt(answer, 'result', 'content', 0, 'text')) as string;
    expect(exact(text)).toBe(exactAt(answer, 'result', 'structuredContent'));
  });

  test('prompts and resources arrive with every member as it was', async () => {
    const prompts = (await rpc(hub.mcp(), 'prompts/list', {})).texts[0] ?? '';
    expect(item(prompts, 'prompts', 'name', `${server}-odd`)).toBe(renamed(prompt, 'odd', `${server}-odd`));
    const resources = (await rpc(hub.mcp(server), 'resources/list', {})).texts[0] ?? '';
    expect(item(resources, 'resources', 'uri', 'odd://x?y=%2F&name=z#f')).toBe(exact(resource));
    const read = (await rpc(hub.mcp(server), 'resources/read', { uri: 'odd://x?y=%2F&name=z#f' })).texts[0] ?? '';
    expect(exactAt(read, 'result')).toBe(exact(results['odd://x?y=%2F&name=z#f']));
  });

  test('a result arrives with every member as it was, by every way in', async () => {
    const own = await session(hub.mcp());
    for (const name of ['odd', 'scalar', 'bare'] as const) {
      const answer = await own.call(`${server}-${name}`);
      expect(exactAt(answer.texts.at(-1) ?? '', 'result'), name).toBe(exact(results[name]));
    }
    const legacy = await legacySession(hub.sse());
    await legacy.request('tools/call', { name: `${server}-odd` }, 'mark');
    const event = legacy.stream.events.find((one) => one.data.includes('"mark"'));
    expect(exactAt(event?.data ?? '', 'result')).toBe(exact(results.odd));
    const now = await modern(hub.mcp(), 'tools/call', { name: `${server}-odd` });
    for (const member of ['content', 'structuredContent', 'unknown', 'isError']) {
      expect(exactAt(now.texts.at(-1) ?? '', 'result', member), member).toBe(exactAt(results.odd, member));
    }
  });

  test('arguments arrive as they were sent, by every way in', async () => {
    const seen = servers[server];
    const own = await session(hub.mcp());
    const mark = () => seen?.received('tools/call').length ?? 0;
    const last = () => seen?.received('tools/call').at(-1)?.text ?? '';
    const body = (id: string) =>
      `{\n"params":{\r\n"arguments":${pretty},\n\n"unknown":1.0,"name":"${server}-echo"},"method":"tools/call","extra":1.0,"id":${id},"jsonrpc":"2.0"}`;
    const before = mark();
    await raw(hub.mcp(), { body: body('1'), headers: own.headers });
    expect(exactAt(last(), 'params', 'arguments')).toBe(exact(awkward));
    expect(exactAt(last(), 'params', 'unknown')).toBe('1.0');
    await raw(hub.mcp(), { body: body('2') });
    expect(exactAt(last(), 'params', 'arguments')).toBe(exact(awkward));
    const legacy = await legacySession(hub.sse());
    await legacy.post(body('"legacy"'));
    await legacy.stream.message('the answer', (message) => message.id === 'legacy');
    expect(exactAt(last(), 'params', 'arguments')).toBe(exact(awkward));
    const request = modernRequest('tools/call', { name: `${server}-echo` }, { meta: modernMeta() });
    const text = JSON.stringify(request.body).replace(
      `"name":"${server}-echo"`,
      () => `"name":"${server}-echo",\n"arguments":${pretty}`,
    );
    expect((await raw(hub.mcp(), { ...request, body: text })).status).toBe(200);
    expect(exactAt(last(), 'params', 'arguments')).toBe(exact(awkward));
    expect(mark()).toBe(before + 4);
  });
});

test('the hub itself is not poisoned by what passes through', async () => {
  for (const text of [
    '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"polluted":true}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pipe-echo","arguments":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}}',
  ]) {
    await raw(hub.mcp(), { body: text });
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test("a client's _meta reaches the server, and the server's progress token stays the hub's affair", async () => {
  const own = await session(hub.mcp());
  await own.call(
    'pipe-echo',
    {},
    {
      meta: {
        'example.org/trace': 'abc',
        progressToken: 'client token',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
    },
  );
  const seen = servers['pipe']?.received('tools/call').at(-1);
  expect(seen?.params['_meta']).toMatchObject({
    'example.org/trace': 'abc',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  expect(JSON.stringify(seen?.params)).not.toContain('client token');
});

test('what the client of another revision may not see of its envelope does not reach an old server', async () => {
  await modern(hub.mcp(), 'tools/call', { name: 'pipe-echo' });
  const seen = servers['pipe']?.received('tools/call').at(-1);
  expect(seen?.params['name']).toBe('echo');
  expect(seen?.text.includes('pipe-echo')).toBe(false);
});

test('a tool that is described arrives with every member as it was, and so does the schema that wrong arguments are refused with', async () => {
  const odd = hostileStdio({ name: 'srv', toolTexts: [tool.replace('"x":{}', '"x":{"type":"string"}')] });
  const own = await testHub({
    mcpServers: { pipe: odd.config },
    systemConfig: { smartRouting: { progressiveDisclosure: true } },
  });
  await own.connected(1);
  const ask = async (name: string, args: Record<string, unknown>) =>
    (await rpc(own.mcp('$smart'), 'tools/call', { name, arguments: args })).texts[0] ?? '';
  const listed = item((await rpc(own.mcp(), 'tools/list', {})).texts[0] ?? '', 'tools', 'name', 'pipe-odd');
  const described = await ask('describe_tool', { toolName: 'pipe-odd' });
  expect(exactAt(described, 'result', 'structuredContent', 'tool')).toBe(
    exact(listed.replace('{', '{"serverName":"pipe",')),
  );
  const refused = await ask('call_tool', { toolName: 'pipe-odd', arguments: { b: 5 } });
  expect(exactAt(refused, 'result', 'structuredContent', 'inputSchema')).toBe(exactAt(listed, 'inputSchema'));
  expect(exactAt(refused, 'result', 'isError')).toBe('true');
});

test('ids come back digit for digit, and two that only look alike to a parser are two', async () => {
  const own = await session(hub.mcp());
  const ids = ['9007199254740993', '9007199254740992', '-0', '1.50', '1e2', '"\\u0061"', '12345678901234567890123'];
  const answers = await Promise.all(
    ids.map((id) =>
      raw(hub.mcp(), {
        headers: own.headers,
        body: `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"pipe-echo","arguments":{"tag":${JSON.stringify(id)}}}}`,
      }),
    ),
  );
  for (const [i, id] of ids.entries()) {
    expect(exactAt(answers[i]?.text ?? '', 'id'), id).toBe(exact(id));
    expect(answers[i]?.result?.structuredContent?.['tag'], id).toBe(id);
  }
});
