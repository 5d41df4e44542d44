import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { HubId } from '../core/hub-id.ts';
import { putLast } from '../core/put-last.ts';
import { replicaLimits } from './limits.ts';

/** The header that says that another hub passed the request on. */
export const passHeader = 'toolhub-pass';

/** What of a request a pass is bound to. */
export interface PassedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The proof that a request comes from another hub with the same secret, for one hub, once. */
export interface Passes {
  /** `address`: where the request came from. `at`: by the clock of the other hub. */
  make(request: PassedRequest, to: { readonly hub: HubId; readonly at: number }, address: string | undefined): string;
  /** The address that the other hub got the request from; undefined when the pass is not good. */
  check(request: PassedRequest): { readonly address: string | undefined } | undefined;
  /** Proves that the holder of the secret said this, for one purpose. */
  mac(purpose: 'ask' | 'answer', text: string): string;
  isMac(purpose: 'ask' | 'answer', text: string, mac: string): boolean;
}

/** Headers that say who sends a request and from where; nothing else of a pass could be put to another use. */
const boundHeader = /^(?:host|authorization|cookie|mcp-session-id|last-event-id|forwarded|x-real-ip|x-forwarded-.*)$/;

export function createPasses(secret: string, own: HubId, now: () => number = () => performance.now()): Passes {
  const key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), 'toolhub pass between hubs v1', 32));
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');
  const isSigned = (text: string, mac: string): boolean => {
    const [right, given] = [Buffer.from(sign(text)), Buffer.from(mac)];
    return right.length === given.length && timingSafeEqual(right, given);
  };
  const numbers = new Map<HubId, Numbers>();
  /** Counted for each hub, so that a number far below the highest there is an old one. */
  const lasts = new Map<HubId, number>();

  function nextFor(hub: HubId): number {
    const next = (lasts.get(hub) ?? 0) + 1;
    putLast(lasts, hub, next, replicaLimits.hubs);
    return next;
  }

  return {
    make(request, { hub, at }, address = '') {
      const from = Buffer.from(address).toString('base64url');
      const stated = [own, hub, Math.round(at), nextFor(hub), from].join('.');
      return `${stated}.${sign(`pass\n${stated}\n${boundOf(request)}`)}`;
    },
    check(request) {
      const given = request.headers[passHeader];
      if (typeof given !== 'string') return undefined;
      const cut = given.lastIndexOf('.');
      const stated = given.slice(0, cut);
      const [from = '', to, at, number, address = ''] = stated.split('.');
      if (to !== own || !(Math.abs(Number(at) - now()) <= replicaLimits.passMs)) return undefined;
      if (!isSigned(`pass\n${stated}\n${boundOf(request)}`, given.slice(cut + 1))) return undefined;
      const seen = numbers.get(from) ?? new Numbers();
      putLast(numbers, from, seen, replicaLimits.hubs);
      if (!seen.isNew(Number(number))) return undefined;
      return { address: address === '' ? undefined : Buffer.from(address, 'base64url').toString() };
    },
    mac: (purpose, text) => sign(`${purpose}\n${text}`),
    isMac: (purpose, text, mac) => isSigned(`${purpose}\n${text}`, mac),
  };
}

/**
 * Names two hubs that have the same secret alike. Who reads it can test guesses of the secret against it, as against
 * any token that it signs: that no guess is right is why a secret has at least 32 bytes.
 */
export function secretHash(secret: string): string {
  const key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), 'toolhub name of the secret v1', 16));
  return Buffer.from(key).toString('hex');
}

function boundOf({ method, url, headers }: PassedRequest): string {
  const bound = Object.keys(headers)
    .filter((name) => boundHeader.test(name))
    .sort();
  return JSON.stringify([method, url, bound.map((name) => [name, String(headers[name])])]);
}

/** Which numbers of a hub were used: those far below the highest count as used. */
class Numbers {
  #highest = 0;
  /** Each number has its place, by its remainder: of two that share one, the smaller counts as used anyway. */
  readonly #used = new Float64Array(replicaLimits.passNumbers);

  isNew(number: number): boolean {
    const { length } = this.#used;
    if (!Number.isSafeInteger(number) || number < 1 || number <= this.#highest - length) return false;
    if (this.#used[number % length] === number) return false;
    this.#used[number % length] = number;
    if (number > this.#highest) this.#highest = number;
    return true;
  }
}
