/** A value for `$1`…: bigints go as strings, JSON as its text with a cast (`$1::jsonb`). */
export type Parameter =
  | string
  | number
  | boolean
  | null
  | Date
  | Uint8Array
  | readonly (string | number | boolean | null | Date)[];

export interface Queryable {
  /**
   * Runs one statement and gives its rows. Both databases give the same JavaScript values: bigint and numeric as string
   * (write `count(*)::int`), timestamptz as Date, date and timestamp as string, json parsed, bytea as Uint8Array.
   * Throws HubError `not_ready` when the database cannot be reached (whether a write took effect is then unknown), else
   * the database's own error, whose SQLSTATE `sqlState` gives.
   */
  query<T>(sql: string, parameters?: readonly Parameter[]): Promise<T[]>;
}

export interface Transaction extends Queryable {
  /** Runs several statements without parameters. */
  script(sql: string): Promise<void>;
}

/**
 * One SQL database: PostgreSQL, or the embedded PGlite which has the same dialect of SQL. Tables are in schema
 * `toolhub`.
 */
export interface Database extends Queryable {
  readonly kind: 'postgres' | 'embedded';
  /** The `vector` extension is there, and with it the table `toolhub.embeddings`. */
  readonly hasVector: boolean;
  /**
   * Writes rows, in the binary format of `COPY`, into `table (column, …)`: all or nothing, and one that is there
   * already is an error. Only where that takes less than a statement with parameters.
   */
  readonly copy?: (into: string, rows: Uint8Array) => Promise<void>;
  /**
   * Calls `changed` when a statement that does nothing begins to take longer than `databaseLimits.databaseSlowMs`, and
   * when it no longer does. Only where the database is a server.
   */
  readonly watchSlowness?: (changed: (isSlow: boolean) => void) => void;
  /**
   * Resolves once, with the reason, when this connection is of no more use; a new one has to be opened. Not by `close`.
   */
  readonly lost: Promise<Error>;
  /**
   * Runs `work` in a transaction: committed when it resolves, rolled back when it throws. The embedded database does
   * nothing else meanwhile, so `work` must await only its own statements; it is rolled back after
   * `databaseLimits.databaseTxMs`.
   */
  tx<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Calls `heard` with each payload sent on the channel (`[a-z_]+`) from now on; gives the function that ends it. */
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
  /**
   * Tells all listeners of all hubs on this database. Payload up to `databaseLimits.notifyBytes`: send a pointer, not
   * the data.
   */
  notify(channel: string, payload: string): Promise<void>;
  /** Lets running statements end for `databaseLimits.databaseCloseMs`. Idempotent. */
  close(): Promise<void>;
}

/** A database before its migrations: whether it has vectors is not known yet. */
export type Connection = Omit<Database, 'hasVector'>;
