/**
 * Vectors by the hash of the text they stand for, in spaces that have nothing to do with each other (one for each
 * model). Methods reject with HubError `not_ready` while the database they need cannot be reached.
 */
export interface VectorStore {
  /** Where they are compared. */
  readonly place: 'database' | 'memory';
  /** Why some vectors are not compared though they are there; undefined when all are. */
  readonly problem: string | undefined;
  /** Which of the texts have a vector, and how many numbers it has. */
  sizes(space: string, hashes: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Of the texts, those that this hub may embed now and no other will; `again` also when they have a vector. */
  claim(space: string, hashes: readonly string[], again: boolean): Promise<ReadonlySet<string>>;
  /** Gives claims back, so that other hubs can take them. */
  release(space: string, hashes: readonly string[]): Promise<void>;
  /** Keeps vectors, in place of earlier ones. */
  save(space: string, vectors: ReadonlyMap<string, Float32Array>): Promise<void>;
  /** Cosines of the texts' vectors with `query`, exactly; texts without a vector of its size are left out. */
  similarities(space: string, query: Float32Array, hashes: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Says which vectors of a space are in use, and forgets what has not been for long. */
  tend(space: string, hashes: readonly string[]): Promise<void>;
  /** This hub does not use the space any more; what is in the database stays for other hubs. */
  forget(space: string): void;
  /** What is kept, of all spaces. */
  contents(): Promise<readonly SpaceContents[]>;
}

export interface SpaceContents {
  readonly space: string;
  readonly vectors: number;
  /** Numbers in each; the greatest where they differ. */
  readonly dimensions: number;
  readonly oldest: Date | undefined;
  readonly newest: Date | undefined;
}
