import { expect, test } from 'vitest';
import { asLost, HubError, reworded } from '../core/errors.ts';
import { toldToCaller } from './failure.ts';

test('why a server gave no answer stays with those who manage it', () => {
  const error = new HubError('upstream_failed', 'The program said: token abc is bad.');
  const told = toldToCaller(error, 'alpha', 'connected');
  expect(told.message).toBe('Server "alpha" gave no proper answer. Its owner and admins see why in the log.');
  expect(told.cause).toBe(error);
});

test('what an error says for the caller is told instead of that, also when its message was cleaned', () => {
  const error = new HubError('upstream_failed', 'Cannot renew: 10.0.0.7 said no.', { told: 'Cannot renew now.' });
  for (const one of [error, reworded(error, 'Cannot renew: *** said no.')])
    expect(toldToCaller(one, 'alpha', 'connected')).toMatchObject({
      code: 'upstream_failed',
      message: 'Cannot renew now.',
    });
});

test('who has to sign in alone hears where', () => {
  const authorizationUrl = 'https://hub.example/oauth/sign-in/alpha';
  const error = new HubError('oauth_required', 'Server "alpha" wants more rights.', { authorizationUrl });
  expect(toldToCaller(error, 'alpha', 'connected')).toMatchObject({ message: error.message, authorizationUrl });
});

test('of a server that was taken away no caller is told to try again', () => {
  const error = new HubError('upstream_unavailable', 'Server "alpha" was stopped.');
  const { message } = toldToCaller(error, 'alpha', 'stopped');
  expect(message).toMatch(/^Server "alpha" was stopped .* List what there is again\.$/);
  expect(message).not.toContain('ry again');
});

test('why a program ended is for those who manage its server, not for the calls that it ended', () => {
  const reason = { code: 'exited', values: { code: '3', line: 'cannot log in' } } as const;
  const error = new HubError('upstream_unavailable', 'The program exited: cannot log in', { reason });
  expect(toldToCaller(error, 'alpha', 'disconnected').data).toBeUndefined();
});

test('a call that its connection did not outlive is not told to be tried again; one that never left is', () => {
  const data = { reason: 'killed' };
  const cause = new HubError('upstream_unavailable', 'The program exited.', { retryAfterMs: 2_000, data });
  for (const status of ['connected', 'disconnected', 'connecting', 'asleep']) {
    const told = toldToCaller(asLost(cause), 'alpha', status);
    expect(told).toMatchObject({ data, retryAfterMs: undefined, said: { code: 'server_lost' } });
    expect(told.message).toMatch(/^The connection to server "alpha" ended .* not known\.$/);
    expect(toldToCaller(cause, 'alpha', status).message).toMatch(/Try again|Next attempt/);
  }
  expect(toldToCaller(asLost(cause), 'alpha', 'stopped').message).toContain('was stopped');
  const noAnswer = new HubError('upstream_failed', 'The stream ended before the answer.');
  expect(toldToCaller(asLost(noAnswer), 'alpha', 'connected')).toMatchObject({
    code: 'upstream_unavailable',
    said: { code: 'server_lost' },
  });
  const refused = new HubError('upstream_unavailable', 'Cannot reach it.', { unreachable: 'connection refused.' });
  expect(toldToCaller(refused, 'alpha', 'disconnected').message).toContain('connection refused.');
});
