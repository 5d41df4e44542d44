import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { logLines } from '../../test/kit/channel-log.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { replicaLimits } from './limits.ts';
import { createNews, type News, type NewsOptions } from './news.ts';

type Open = NonNullable<ReturnType<NewsOptions['database']['current']>>;

/** News of one hub, and what reached the database, which may be away or fail. */
function hub() {
  const told: News[] = [];
  const state = { isAway: false, fails: false, attempts: 0 };
  let back = (): void => undefined;
  const notify = async (_: string, payload: string) => {
    state.attempts++;
    if (state.fails) throw new Error('the connection is lost');
    told.push(...(JSON.parse(payload) as { news: News[] }).news);
  };
  const database: NewsOptions['database'] = {
    current: () => (state.isAway ? undefined : ({ notify } as unknown as Open)),
    listen(_, heard) {
      back = () => heard(undefined);
      return () => undefined;
    },
  };
  const news = createNews({ own: 'aaaaaaaa', database, heard: () => undefined, log: logLines() });
  atEnd(() => news.close());
  return { tell: (one: News) => news.tell(one), told, state, back: () => back() };
}

const cancelled = (id: string): News => ({ kind: 'cancelled', sid: 's', id, reason: 'x' });
const ended = (sid: string): News => ({ kind: 'ended', sid, until: 1 });

test('clients that cancel a lot push out no ended session, which is told first', async () => {
  setLimits(replicaLimits, { newsWaiting: 3 });
  const { tell, told, state, back } = hub();
  state.isAway = true;
  tell(ended('one'));
  for (const id of ['1', '2', '3', '4']) tell(cancelled(id));
  state.isAway = false;
  back();
  await until('all is told', () => told.length >= 4);
  expect(told).toEqual([ended('one'), cancelled('2'), cancelled('3'), cancelled('4')]);
});

test('what could not be told is told later, once', async () => {
  const { tell, told, state, back } = hub();
  state.fails = true;
  tell(ended('one'));
  await until('it was tried', () => state.attempts > 0);
  state.fails = false;
  back();
  await until('it is told', () => told.length > 0);
  tell(ended('two'));
  await until('the next is told', () => told.length > 1);
  expect(told).toEqual([ended('one'), ended('two')]);
});

test('an id of many characters is told to no other hub', async () => {
  const { tell, told } = hub();
  tell(cancelled(`"${'x'.repeat(replicaLimits.newsIdChars)}"`));
  tell(cancelled('1'));
  await until('the other one is told', () => told.length > 0);
  expect(told).toEqual([cancelled('1')]);
});
