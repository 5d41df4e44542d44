import { afterAll, beforeEach, expect, test, vi } from 'vitest';

// What a page has of a browser before it is loaded.
vi.stubGlobal('document', { cookie: '', documentElement: { lang: 'en' }, querySelector: () => null });
vi.stubGlobal('window', { addEventListener: () => undefined });
afterAll(() => vi.unstubAllGlobals());

const { get, send } = await import('./client.ts');

interface Sent {
  readonly path: string;
  readonly answer: (status?: number) => void;
}
let sent: Sent[] = [];
beforeEach(() => {
  sent = [];
  vi.stubGlobal('fetch', (path: string) => {
    return new Promise<Response>((resolve) => {
      sent.push({ path, answer: (status = 200) => resolve(Response.json({ data: path }, { status })) });
    });
  });
});
const paths = () => sent.map(({ path }) => path);
const answer = (path: string, status?: number) => sent.findLast((one) => one.path === path)?.answer(status);
const turn = () => new Promise((resolve) => setTimeout(resolve));
const withPassword = (path: string) => send(path, { method: 'POST', body: {}, secondCredential: true });

test('a request that waits for the answer to a password ends at once when it is aborted, and is not sent', async () => {
  const entering = withPassword('/password');
  const [gone, stays] = [new AbortController(), new AbortController()];
  const aborted = get('/aborted', gone.signal);
  const later = get('/later', stays.signal);
  gone.abort();
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  await expect(get('/aborted', gone.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(paths()).toEqual(['/api/password']);
  answer('/api/password');
  await entering;
  await turn();
  answer('/api/later');
  expect(await later).toBe('/api/later');
  expect(paths()).toEqual(['/api/password', '/api/later']);
});

test('a request waits for the answers to all passwords that are sent before it', async () => {
  const entering = [withPassword('/first'), withPassword('/second')];
  const waits = get('/waits');
  answer('/api/second');
  await turn();
  expect(paths()).toEqual(['/api/first', '/api/second']);
  entering.push(withPassword('/third'));
  answer('/api/first');
  await turn();
  expect(paths()).toEqual(['/api/first', '/api/second', '/api/third']);
  answer('/api/third');
  await Promise.all(entering);
  await turn();
  answer('/api/waits');
  expect(await waits).toBe('/api/waits');
});

test('a request that the hub refuses while another one renews the login is sent again with its cookies', async () => {
  const cookie = (value: string) => Object.assign(document, { cookie: `toolhub_csrf=${value}` });
  cookie('old');
  const stream = get('/events');
  await turn();
  const renewing = send('/factor', { method: 'POST', renewsLogin: true });
  await turn();
  // The hub has ended the login of the stream, and what it answers to the other request is still on its way.
  answer('/api/events', 401);
  await turn();
  expect(document.cookie).toBe('toolhub_csrf=old');
  cookie('new');
  answer('/api/factor');
  await renewing;
  await turn();
  expect(paths()).toEqual(['/api/events', '/api/factor', '/api/events']);
  answer('/api/events');
  expect(await stream).toBe('/api/events');
});
