import { beforeAll, describe, expect, test } from 'vitest';
import { type Answers, clientKinds, connect } from '../kit/clients.ts';
import { httpFixture, stdioFixture } from '../kit/conformance-fixture.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';

// What servers ask, in all four pairs of old and new, with the official libraries on both sides: none has to know
// which era the other one is of.

let hub: TestHub;
const servers = ['stdio-old', 'stdio-new', 'http-old', 'http-new'] as const;
beforeAll(async () => {
  const [old, now] = await Promise.all([httpFixture('old'), httpFixture('new')]);
  hub = await testHub({
    mcpServers: {
      'stdio-old': stdioFixture('old'),
      'stdio-new': stdioFixture('new'),
      'http-old': { url: old },
      'http-new': { url: now },
    },
  });
  await hub.connected(servers.length);
});

/** Answers that tell what was asked. */
function answering() {
  const heard: string[] = [];
  const answers: Answers = {
    elicit({ message, mode = 'form', requestedSchema }) {
      heard.push(`${String(mode)}: ${String(message)}`);
      if (mode === 'url') return { action: 'accept' };
      const { properties = {} } = requestedSchema as { properties?: Record<string, { type: string }> };
      const value = (type: string) => (type === 'boolean' ? true : type === 'string' ? 'Ann' : 1);
      const content = Object.fromEntries(Object.entries(properties).map(([key, { type }]) => [key, value(type)]));
      return { action: 'accept', content };
    },
    sample({ messages }) {
      heard.push('sampling');
      const [first] = messages as { content: { text?: string } | { text?: string }[] }[];
      const text = [first?.content].flat()[0]?.text ?? '';
      return { role: 'assistant', model: 'm', content: { type: 'text', text: `You said: ${text}` } };
    },
    roots() {
      heard.push('roots');
      return { roots: [{ uri: 'file:///home/ann', name: 'home' }] };
    },
  };
  return { heard, answers };
}

const textOf = ({ content }: { content: { text?: string }[] }): string => content[0]?.text ?? '';

describe.each(clientKinds)('a %s client', (kind) => {
  test.each(servers)('answers what %s asks in its calls', async (server) => {
    const { heard, answers } = answering();
    const client = await connect(kind, hub.url, server, {}, answers);
    const call = async (name: string, args = {}) => textOf(await client.callTool(name, args));
    expect(await call('test_elicitation', { message: 'Who are you?' })).toContain('"username":"Ann"');
    expect(await call('test_sampling', { prompt: 'hello' })).toBe('LLM response: You said: hello');
    expect(await call('test_input_required_result_list_roots')).toBe('Roots: file:///home/ann');
    expect(await call('test_url_elicitation')).toContain('action=accept');
    expect(await call('test_input_required_result_multi_round')).toBe('Ann likes Ann.');
    expect(await call('test_input_required_result_request_state')).toContain('state-ok');
    const many = await call('test_input_required_result_multiple_inputs');
    expect(many).toContain('You said: Generate a greeting');
    expect(many).toContain('file:///home/ann');
    expect(heard.slice(0, 4)).toEqual(['form: Who are you?', 'sampling', 'roots', 'url: Please sign in.']);
    expect(new Set(heard.slice(-3))).toEqual(new Set(['form: What is your name?', 'sampling', 'roots']));
  });

  test.each(servers)('that answers nothing hears of %s what it would have to', async (server) => {
    const client = await connect(kind, hub.url, server);
    const failure = await client.callTool('test_missing_capability').then(
      (result) => ({ isError: result.isError, text: textOf(result) }),
      (error: Error & { code?: number }) => ({ isError: true, text: error.message, code: error.code }),
    );
    expect(failure.isError).toBe(true);
    expect(failure.text).toMatch(/sampling|capabilit/i);
    if (kind === 'v2 stateless') expect(failure).toMatchObject({ code: -32021 });
  });
});

test('a question in a prompt is answered too', async () => {
  for (const kind of clientKinds) {
    for (const server of servers) {
      const { heard, answers } = answering();
      const client = await connect(kind, hub.url, server, {}, answers);
      const { messages } = await client.getPrompt('test_input_required_result_prompt');
      expect(JSON.stringify(messages), `${kind} ${server}`).toContain('Ann');
      expect(heard).toHaveLength(1);
    }
  }
});
