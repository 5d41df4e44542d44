// Everything the conformance suite asks of a server, and some more that a relay can get wrong, as one server of the
// official library.
import { INVALID_PARAMS, McpServer, ProtocolError, fromJsonSchema } from '@modelcontextprotocol/server';
import { stateCodec } from './asks.mjs';
import { changed, present, watched } from './changes.mjs';
import { prompts as allPrompts } from './prompts.mjs';
import { registerResources, templateIds, templateUri } from './resources.mjs';
import { said, text } from './samples.mjs';
import { askingTools, roundTools } from './tools/asking.mjs';
import { changingTools } from './tools/changing.mjs';
import { contentTools } from './tools/content.mjs';
import { runningTools } from './tools/running.mjs';

/** With `FIXTURE_NAMES=test_` only what is called so is offered, under the rest of its name. */
const { FIXTURE_NAMES: front = '' } = process.env;
const ofFront = (items) =>
  items.filter(({ name }) => name.startsWith(front)).map((item) => ({ ...item, name: item.name.slice(front.length) }));

const tools = ofFront([...contentTools, ...runningTools, ...changingTools, ...askingTools, ...roundTools]);
const prompts = ofFront(allPrompts);
const passingTool = { name: 'test_passing_tool', description: 'Comes and goes.', run: () => said('Here for now.') };
const passingPrompt = {
  name: 'test_passing_prompt',
  description: 'Comes and goes.',
  run: () => ({ messages: [{ role: 'user', content: text('Here for now.') }] }),
};

const pub = { ttlMs: 5_000, cacheScope: 'public' };
const own = { ttlMs: 1_000, cacheScope: 'private' };

/**
 * A server of this era with all it offers at this moment. `live` makes it tell its client about changes as they happen,
 * until it is closed.
 */
export function offer(era, { live }) {
  const server = new McpServer(
    { name: 'conformance-fixture', title: 'Conformance fixture', version: '1.0.0' },
    {
      instructions: 'For tests only.',
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      cacheHints: {
        'tools/list': pub,
        'prompts/list': pub,
        'resources/list': own,
        'resources/templates/list': pub,
        'resources/read': own,
        'server/discover': pub,
      },
      requestState: { verify: stateCodec.verify },
    },
  );
  for (const tool of tools) registerTool(server, tool);
  for (const prompt of prompts) registerPrompt(server, prompt);
  registerResources(server);
  completions(server);
  const subscribed = era === 'old' ? subscriptions(server) : undefined;
  const passing = registerPassing(server);
  if (live) followChanges(server, passing, subscribed);
  return server;
}

function registerTool(server, { name, run, inputSchema = { type: 'object', properties: {} }, outputSchema, ...about }) {
  return server.registerTool(
    name,
    {
      ...about,
      inputSchema: fromJsonSchema(inputSchema),
      ...(outputSchema && { outputSchema: fromJsonSchema(outputSchema) }),
    },
    (args, ctx) => run(args, ctx, server),
  );
}

function registerPrompt(server, { name, run, argsSchema, ...about }) {
  return argsSchema
    ? server.registerPrompt(name, { ...about, argsSchema: fromJsonSchema(argsSchema) }, run)
    : server.registerPrompt(name, about, (ctx) => run({}, ctx));
}

/** The tool and the prompt that come and go. */
function registerPassing(server) {
  const [tool] = ofFront([passingTool]);
  const [prompt] = ofFront([passingPrompt]);
  const passing = {
    tools: tool && registerTool(server, tool),
    prompts: prompt && registerPrompt(server, prompt),
  };
  for (const list of ['tools', 'prompts']) if (!present[list]) passing[list]?.disable();
  return passing;
}

/** What an argument of a prompt, or of the template, can be: the words that begin as the value does. */
function completions(server) {
  server.server.setRequestHandler('completion/complete', ({ params: { ref, argument, context } }) => {
    const known = ref.type === 'ref/resource' ? [templateUri] : prompts.map((prompt) => prompt.name);
    if (!known.includes(ref.uri ?? ref.name))
      throw new ProtocolError(INVALID_PARAMS, `Unknown: ${ref.uri ?? ref.name}`);
    const words = ref.type === 'ref/resource' ? templateIds : ['paris', 'park', 'party', 'prague'];
    const values = words.filter((word) => word.startsWith(argument.value) && word !== context?.arguments?.arg1);
    return { completion: { values, total: values.length, hasMore: false } };
  });
}

/** Old era only: the new one has `subscriptions/listen`, which the library serves. */
function subscriptions(server) {
  const uris = new Set();
  server.server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    uris.add(uri);
    return {};
  });
  server.server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    uris.delete(uri);
    return {};
  });
  return uris;
}

function followChanges(server, passing, subscribed) {
  // Enabling and disabling sends list_changed by itself.
  const listChanged = (list) => () => (present[list] ? passing[list]?.enable() : passing[list]?.disable());
  const followers = {
    tools: listChanged('tools'),
    prompts: listChanged('prompts'),
    resource: (uri) => {
      if (subscribed && !subscribed.has(uri)) return;
      server.server.sendResourceUpdated({ uri: watched.uri }).catch(() => {}); // the client is gone
    },
  };
  for (const [event, follow] of Object.entries(followers)) changed.on(event, follow);
  server.server.onclose = () => {
    for (const [event, follow] of Object.entries(followers)) changed.off(event, follow);
  };
}
