// The hub as the client that the suite looks at: node hub-client.mjs <address of the suite's server>
// A hub with that one server behind it, and an official client in front that makes it do what the scenario wants to
// see.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminPassword, startHub } from './parties.mjs';
import { wantsSignIn } from './wanted-sign-in.mjs';

const [, , address] = process.argv;
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

/** Sign-ins in one run: more means that they lead nowhere. */
const signIns = 2;

/**
 * A hub on loopback has no document of its own that an authorization server could fetch, so its settings name one that
 * is hosted elsewhere: that of the suite, which is written in the scenario alone.
 */
const hostedDocument = 'https://conformance-test.local/client-metadata.json';

const {
  client_id: clientId = scenario === 'auth/basic-cimd' ? hostedDocument : undefined,
  client_secret: clientSecret,
} = context;
const oauth = clientId && { clientId, clientSecret };
let known;
const hub = await startHub(
  { mcpServers: { suite: { type: 'streamable-http', url: address, ...(oauth && { oauth }) } } },
  { connectMs: 0 },
);
try {
  await drive();
} finally {
  await hub.close();
}

async function drive() {
  await ready();
  const client = await connect();
  const { tools } = await client.listTools();
  if (scenario === 'json-schema-2020-12-preservation') {
    const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await call(client, 'json_schema_echo', { schema: inputSchema });
  } else if (context.toolCalls) {
    for (const { name, arguments: args } of context.toolCalls) await call(client, name, args);
  } else if (scenario !== 'json-schema-ref-no-deref') {
    for (const tool of tools) await call(client, tool.name, argumentsFor(tool));
  }
  if (scenario === 'http-standard-headers') await everythingElse(client);
  await client.close();
}

async function everythingElse(client) {
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}

/** Values that the tool takes. */
function argumentsFor({ inputSchema: { properties = {}, required = [] } }) {
  const values = { number: 2, integer: 2, string: 'text', boolean: true, array: [], object: {} };
  return Object.fromEntries(required.map((name) => [name, values[properties[name]?.type] ?? 'text']));
}

/** Calls a tool; a server that wants another sign-in first gets it. */
async function call(client, name, args) {
  for (let left = signIns; ; left--) {
    try {
      return await client.callTool({ name, arguments: args });
    } catch (error) {
      if (left === 0 || !(await signIn())) return console.error(`${name}: ${error.message}`);
      await ready();
    }
  }
}

/** Until the server is connected, or nothing more can be done about it; signs in where that is what it waits for. */
async function ready() {
  for (let left = signIns, tries = 0; tries < 2_400; tries++) {
    const { status, error } = await server();
    if (status === 'connected') return;
    if (status === 'oauth_required' && (left-- === 0 || !(await signIn()))) throw new Error(`No sign-in: ${error}`);
    await sleep(50);
  }
  throw new Error(`Not connected: ${(await server()).error}`);
}

/** Does what a person would do in a browser. False when the server does not wait for that. */
async function signIn() {
  if (!(await wantsSignIn(server))) return false;
  const begun = await api('servers/suite/oauth/authorize', {}, await token());
  const cookies = begun.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
  let url = (await begun.json()).data?.authorizationUrl;
  for (let hops = 0; url !== undefined && hops < 10; hops++) {
    const own = url.startsWith(hub.url) ? { cookie: cookies.join('; ') } : {};
    const response = await fetch(url, { redirect: 'manual', headers: own });
    const next = response.headers.get('location');
    url = next === null ? undefined : new URL(next, url).href;
  }
  await sleep(200);
  return true;
}

async function server() {
  const { data } = await (await api('servers', undefined, await token())).json();
  return data.find(({ name }) => name === 'suite');
}

async function token() {
  known ??= await (await api('auth/login', { username: 'admin', password: adminPassword })).json();
  return known.token;
}

function api(path, body, bearer) {
  return fetch(`${hub.url}/api/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...(bearer && { authorization: `Bearer ${bearer}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function connect() {
  const client = new Client(
    { name: 'conformance', version: '1' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: answersTo(params.requestedSchema),
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp/suite`)));
  return client;
}

/** A form filled in: fields with a default are left to it. */
function answersTo({ properties = {} } = {}) {
  const values = { number: 2, integer: 2, string: 'text', boolean: true };
  const fields = Object.entries(properties).filter(([, field]) => field.default === undefined);
  return Object.fromEntries(fields.map(([name, { type }]) => [name, values[type]]));
}
