/** What one check found. `fail` = the hub or a server will not work; `warn` = it will, but look at it. */
export interface Check {
  /** `Node.js`, `port`, `server github`. */
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  /** What was found, for people. */
  readonly detail: string;
  /** What to do about it. */
  readonly fix?: string;
}
