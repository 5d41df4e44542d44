import { expect, test } from 'vitest';
import { logLines } from '../../../../test/kit/channel-log.ts';
import { until } from '../../../../test/kit/until.ts';
import { HubError } from '../../../core/errors.ts';
import { Watches } from './watches.ts';

/** A server whose answers come when the test wants them to. */
function server() {
  const said: string[] = [];
  const answers: { agree: () => void; refuse: () => void; late: () => void }[] = [];
  const methods = {
    begin: (uri: string) =>
      new Promise<void>((resolve, reject) => {
        said.push(`begin ${uri}`);
        answers.push({
          agree: resolve,
          refuse: () => reject(new HubError('invalid_input', 'no')),
          late: () => reject(new HubError('timeout', 'did not answer')),
        });
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
  // No caller watches it any more, and the server that agreed is told so.
  expect(after.said).toEqual(['begin x', 'end x']);
});

/** A caller watches `x`, and the server does not answer when it is connected again. */
async function unanswered() {
  const watches = new Watches(logLines());
  await watches.add('x');
  const back = server();
  watches.use(back.methods);
  back.answers[0]?.late();
  await Promise.resolve();
  return { watches, back };
}

test('a server that did not answer when it was back is asked again for those who watch, and by the next who asks', async () => {
  const { watches, back } = await unanswered();
  const next = watches.add('x');
  expect(back.said, 'no caller gets the answer to an earlier question').toEqual(['begin x', 'begin x']);
  back.answers[1]?.late();
  await expect(next).rejects.toThrow('did not answer');
  await until('it is asked again', () => back.said.length === 3);
  back.answers[2]?.agree();
  await watches.add('x');
  watches.remove('x');
  watches.remove('x');
  expect(back.said.slice(3)).toEqual(['end x']);
});

test('it is not asked again where no caller watches, nor what it refused, nor on a connection that is gone', async () => {
  const gone = await unanswered();
  gone.watches.use(undefined);
  const left = await unanswered();
  left.watches.remove('x');
  const leaving = new Watches(logLines());
  await leaving.add('x');
  const slow = server();
  leaving.use(slow.methods);
  leaving.remove('x');
  slow.answers[0]?.late();
  const refused = new Watches(logLines());
  await refused.add('x');
  const strict = server();
  refused.use(strict.methods);
  strict.answers[0]?.refuse();
  const witness = await unanswered();
  await until('one that is to be is asked again', () => witness.back.said.length === 2);
  expect([gone.back.said, left.back.said, strict.said]).toEqual([['begin x'], ['begin x'], ['begin x']]);
  expect(slow.said).toEqual(['begin x', 'end x']);
  // But for the next caller it is asked again.
  const next = refused.add('x');
  strict.answers[1]?.agree();
  await next;
});
