import { setNonce } from 'get-nonce';

/** What the hub writes into the page it serves (`src/http/dashboard/files.ts`). */
interface Boot {
  /** `BASE_PATH`: empty, or like `/hub`. */
  readonly basePath: string;
  readonly version: string;
  /** `READONLY`: looking and calling only. */
  readonly readonly: boolean;
  /** Whether all servers can be reached at once (`routing.enableGlobalRoute`). */
  readonly globalRoute: boolean;
  /** For the few style elements that Radix makes; the page's policy allows these alone. */
  readonly nonce: string;
}

const written = JSON.parse(document.querySelector('#hub')?.textContent ?? '{}') as Partial<Boot>;

/** The sign of the hub, as the page brings it. */
export const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href;

export const boot: Boot = { basePath: '', version: '', readonly: false, globalRoute: true, nonce: '', ...written };

if (boot.nonce !== '') setNonce(boot.nonce);
