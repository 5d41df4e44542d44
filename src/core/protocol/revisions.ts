/**
 * The revisions of the session era, newest first: clients may speak all of them, and the first is what a server is
 * offered in `initialize`.
 */
export const sessionRevisions: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/**
 * What the hub answers to `initialize`: the client's revision when we speak it, else our newest (2025-11-25,
 * Lifecycle).
 */
export function negotiated(requested: unknown): string {
  const newest = sessionRevisions[0] ?? '';
  return typeof requested === 'string' && sessionRevisions.includes(requested) ? requested : newest;
}

/**
 * Whether clients of this revision know an event that is nothing but an id to come back to (2025-11-25, Streamable
 * HTTP).
 */
export function primes(revision: string): boolean {
  return revision >= '2025-11-25';
}
