/** Bounds of the database, with their reasons. Times in milliseconds, sizes in bytes. */
export const databaseLimits = {
  /** One SQL statement; a listing over a full log table takes well under a second. */
  databaseStatementMs: 30_000,
  /** Reaching PostgreSQL, and how long its answer to a ping may take before the connection counts as lost. */
  databaseConnectMs: 10_000,
  /** An idle connection is asked this often whether it still works: a broken network says nothing by itself. */
  databasePingMs: 10_000,
  /**
   * A ping that takes longer, twice in a row, is that of a slow database: it takes milliseconds, and tens of them on a
   * busy machine or a far network.
   */
  databaseSlowMs: 1_000,
  /** Connections per hub; several replicas share the 100 that PostgreSQL allows by default. */
  databaseConnections: 8,
  /** Most of the embedded database as it is shipped that is unpacked in one piece; it has 9 MB. */
  archiveChunkBytes: 64 * 1024 * 1024,
  /** A transaction left open this long is rolled back: the embedded database serves no other request meanwhile. */
  databaseTxMs: 30_000,
  /** Statements that may wait for the embedded database; past it callers are refused instead of piling up. */
  databaseQueue: 10_000,
  /**
   * First and longest wait before the database is opened again. It is local or one hop away, hence shorter than for
   * servers.
   */
  databaseRetryFirstMs: 250,
  databaseRetryMaxMs: 10_000,
  /** How long a listing waits for the database before memory answers instead. */
  databaseReadMs: 5_000,
  /** How long a closing database may take to end what runs. */
  databaseCloseMs: 5_000,
  /** PostgreSQL refuses longer NOTIFY payloads. */
  notifyBytes: 7_999,
  /**
   * Pages that the embedded database keeps in memory. All of it is written to when it opens, which takes longer than
   * all else for the 128 MB that PostgreSQL would take; the system keeps what is read often besides.
   */
  databaseBufferBytes: 16 * 1024 * 1024,
  /**
   * Megabytes of young generation of the embedded database's thread: what a statement makes is gone with its answer. V8
   * takes up to 48, and gives back none of it for minutes.
   */
  databaseYoungMb: 6,
  /**
   * How much lower the priority of the embedded database's thread is than that of the thread that relays calls
   * (`nice`): a third of its weight.
   */
  databaseNiceness: 5,
} as const;
