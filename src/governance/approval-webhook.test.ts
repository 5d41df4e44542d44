import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { silent } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { type Received, receiver } from '../../test/kit/receiver.ts';
import type { WebhookTarget } from '../core/settings/governance.ts';
import type { Approval } from './approval-store.ts';
import { createApprovalWebhook, webhookMessage } from './approval-webhook.ts';
import { governanceLimits } from './limits.ts';

const question = (id: string, more: Partial<Approval> = {}): Approval => ({
  id,
  who: 'admin',
  policy: 'pay',
  message: 'Payments need a yes.',
  server: 'bank',
  tool: 'pay',
  arguments: '{"to":"ann","password":"x"}',
  isCut: false,
  principal: 'u:\nann',
  caller: 'ann',
  callerKind: 'user',
  client: undefined,
  address: '192.0.2.1',
  hash: id,
  createdAt: 0,
  expiresAt: 600_000,
  state: 'waiting',
  decidedBy: undefined,
  decidedAt: undefined,
  ...more,
});

const about = {
  page: () => 'https://hub.example.com/approvals',
  hide: (args: string, chars: number) => args.slice(0, chars),
};

function webhookTo(target: () => WebhookTarget | undefined, log = silent) {
  const webhook = createApprovalWebhook({ ...about, target, log });
  atEnd(() => webhook.close());
  return webhook;
}

const ids = (received: readonly Received[]) =>
  received.map(({ body }) => (JSON.parse(body) as { approval: { id: string } }).approval.id);

test('each question is sent in order and signed; what fails for a moment is tried again, what is refused is not', async () => {
  setLimits(governanceLimits, { webhookRetryMs: 1 });
  const { received, url } = await receiver(503, 429, 200, 400);
  const webhook = webhookTo(() => ({ url, secret: 'of both' }));
  for (const id of ['one', 'two', 'three']) webhook.tell(question(id));
  await expect.poll(() => received.length, { timeout: 60_000 }).toBe(5);
  expect(ids(received)).toEqual(['one', 'one', 'one', 'two', 'three']);
  for (const { body, headers } of received)
    expect(headers['x-toolhub-signature']).toBe(`sha256=${createHmac('sha256', 'of both').update(body).digest('hex')}`);
});

test('a webhook that is away holds nothing back, and what waits for it is bounded', async () => {
  setLimits(governanceLimits, { webhookQueue: 3, webhookCloseMs: 1, webhookRetryMs: 60_000 });
  const { received, url } = await receiver(...Array.from({ length: 20 }, () => 503));
  const warned: string[] = [];
  const webhook = webhookTo(() => ({ url }), { ...silent, warn: (message) => void warned.push(message) });
  for (let i = 0; i < 10; i++) webhook.tell(question(String(i)));
  await expect.poll(() => received.length, { timeout: 60_000 }).toBe(1);
  expect(warned).toEqual(['too many messages wait for the webhook of approvals: the newest are dropped']);
  await webhook.close();
});

test('without a webhook nothing is made', () => {
  expect(() => webhookTo(() => undefined).tell(question('x'))).not.toThrow();
});

test('the text of a message has no markup of others, and says what is not seen', () => {
  const args = JSON.stringify({ a: '``` <!channel> <http://evil.example|Approve> \u202e', b: 1 });
  const hostile = question('x', { tool: 'pay\n```\n@here', arguments: args, caller: '<!here>' });
  const {
    text: shown,
    url,
    approval,
  } = webhookMessage(hostile, about) as {
    text: string;
    url: string;
    approval: Record<string, unknown>;
  };
  expect(url).toBe('https://hub.example.com/approvals');
  expect(shown.startsWith('A call waits for approval: https://hub.example.com/approvals\n```\n')).toBe(true);
  expect(shown.match(/```/g)).toHaveLength(2);
  expect(shown).not.toMatch(/[<>&\u202e]/);
  expect(shown).toContain('\\u202e');
  const [, block = ''] = /(\{[\s\S]*\})\n```$/.exec(shown) ?? [];
  expect(JSON.parse(block)).toEqual(JSON.parse(args));
  expect(approval).toMatchObject({ server: 'bank', arguments: args, argumentsCut: false });
});

test('a decision says who made it, and repeats no arguments in its text', () => {
  const { text: shown, event } = webhookMessage(question('x', { state: 'denied', decidedBy: 'bob' }), about);
  expect(event).toBe('approval.denied');
  expect(shown).toContain('answered: bob');
  expect(shown).not.toContain('"to"');
});
