import { randomBytes } from 'node:crypto';
import type { Dispatcher, Pool } from 'undici';
import { isObject } from '../core/protocol/rpc.ts';
import type { HubId } from '../core/hub-id.ts';
import { replicaLimits } from './limits.ts';
import type { Passes } from './pass.ts';

/** Where a hub is asked whether it is the one that the table names. */
export const helloPath = '/health/hub';

/** The question of another hub, from the query of its request; undefined when it does not prove the secret. */
export function helloIn(url: string, passes: Passes): { nonce: string; from: HubId; isLeaving: boolean } | undefined {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const [nonce = '', from = '', leaving = '', mac = ''] = ['nonce', 'from', 'leaving', 'mac'].map(
    (name) => query.get(name) ?? '',
  );
  if (nonce.length > 64 || from.length > 64 || !passes.isMac('ask', askedText(nonce, from, leaving), mac))
    return undefined;
  return { nonce, from, isLeaving: leaving === '1' };
}

/** What is answered to it: which hub this is, its clock, and whether its servers are connected, as far as they will. */
export function helloAnswer(id: HubId, nonce: string, state: HelloState, passes: Passes): string {
  return JSON.stringify({ id, ...state, mac: passes.mac('answer', answerText(id, nonce, state)) });
}

export interface HelloState {
  readonly now: number;
  readonly isSettled: boolean;
}

function askedText(nonce: string, from: HubId, leaving: string): string {
  return [nonce, from, leaving].join('\n');
}

function answerText(id: HubId, nonce: string, { now, isSettled }: HelloState): string {
  return [nonce, id, String(now), String(isSettled)].join('\n');
}

interface Asking {
  readonly own: HubId;
  readonly passes: Passes;
  readonly id: HubId;
  readonly leaving: string;
}

/** Asks a hub whether it is `id`. Undefined when it does not prove it. */
export async function askHub(on: Pool, { id, own, passes, leaving }: Asking): Promise<HelloState | undefined> {
  const nonce = randomBytes(16).toString('base64url');
  const mac = passes.mac('ask', askedText(nonce, own, leaving));
  const path = `${helloPath}?${new URLSearchParams({ nonce, from: own, leaving, mac }).toString()}`;
  // A signal does not end a request that waits for its connection.
  const late = timeout(replicaLimits.helloMs);
  const { signal } = late;
  try {
    // A name without a dot: it passes the other hub's list of hosts wherever that is reached.
    const asked = on.request({ method: 'GET', path, headers: { host: 'hub' }, signal });
    const text = await Promise.race([asked.then(textOf), late.passed]);
    const answer: unknown = JSON.parse(text ?? '{}');
    if (!isObject(answer) || answer['id'] !== id || typeof answer['now'] !== 'number') return undefined;
    const state = { now: answer['now'], isSettled: answer['isSettled'] === true };
    return passes.isMac('answer', answerText(id, nonce, state), String(answer['mac'])) ? state : undefined;
  } finally {
    late.clear();
  }
}

async function textOf({ statusCode, body }: Dispatcher.ResponseData): Promise<string | undefined> {
  if (statusCode === 200) return body.text();
  await body.dump();
  return undefined;
}

function timeout(ms: number) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      controller.abort();
      resolve(undefined);
    }, ms).unref();
  });
  return { signal: controller.signal, passed, clear: () => clearTimeout(timer) };
}
