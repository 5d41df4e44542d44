import { expect, test } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import { HubError } from '../../core/errors.ts';
import { Watches } from './watches.ts';

/** A server whose answers come when the test wants them to. */
function server() {
  const said: string[] = [];
  const answers: { agree: () => void; refuse: () => void }[] = [];
  const methods = {
    begin: (uri: string) =>
      new Promise<void>((resolve, reject) => {
        said.push(`begin ${uri}`);
        answers.push({ agree: resolve, refuse: () => reject(new HubError('invalid_input', 'no')) });
      }),
    end: (uri: string) => void said.push(`end ${uri}`),
  };
  return { said, answers, methods };
}

test('a server is asked once for all who want the same, and told when the last one does not', async () => {
  const watches = new Watches(logLines());
  const { said, answers, methods } = server();
  watches.use(methods);
  const both = Promise.all([watches.add('x'), watches.add('x')]);
  answers[0]?.agree();
  await both;
  watches.remove('x');
  expect(said).toEqual(['begin x']);
  watches.remove('x');
  watches.remove('x');
  expect(said).toEqual(['begin x', 'end x']);
});

test('what was wanted while the server was away is asked for when it is there, and again each time', async () => {
  const watches = new Watches(logLines());
  await watches.add('x');
  const lives = [server(), server()];
  for (const { methods } of lives) watches.use(methods);
  expect(lives.map(({ said }) => said)).toEqual([['begin x'], ['begin x']]);
});

test('a refusal is for those who asked, and leaves nothing behind', async () => {
  const watches = new Watches(logLines());
  const { said, answers, methods } = server();
  watches.use(methods);
  const both = [watches.add('x'), watches.add('x')];
  answers[0]?.refuse();
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(watches.uris).toEqual([]);
  const again = watches.add('x');
  answers[1]?.agree();
  await again;
  expect(said).toEqual(['begin x', 'begin x']);
});

test('an answer that comes after the server was lost and found is not taken for the new one', async () => {
  const watches = new Watches(logLines());
  const [before, after] = [server(), server()];
  watches.use(before.methods);
  const held = watches.add('x');
  const lost = watches.add('x');
  watches.use(undefined);
  watches.use(after.methods);
  before.answers[0]?.refuse();
  expect((await Promise.allSettled([held, lost])).every(({ status }) => status === 'rejected')).toBe(true);
  after.answers[0]?.agree();
  // Nobody wants it any more, and the server that agreed hears so.
  expect(after.said).toEqual(['begin x', 'end x']);
});
