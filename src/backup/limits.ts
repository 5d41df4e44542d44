/** Bounds of backups, with their reasons. Times in milliseconds, sizes in bytes. */
export const backupLimits = {
  /** `manifest.json` names each file; 100 000 of them are 20 MB. */
  manifestBytes: 32 * 1024 * 1024,
  /** Files of a backup: those of unpacked bundles are nearly all of them, up to 10 000 each. */
  backupEntries: 200_000,
  /** Files of a data folder together; unpacked bundles may be some GB. */
  backupDataBytes: 64 * 1024 * 1024 * 1024,
  /** A settings file in a backup: more than a hub takes. */
  settingsBytes: 64 * 1024 * 1024,
  /** One row as a line: the longest are vectors and calls with their payloads, some 100 kB. */
  rowBytes: 16 * 1024 * 1024,
  /** Rows that are read at once, and what is written in one statement. */
  rowsPage: 500,
  rowsStatementBytes: 4 * 1024 * 1024,
  /** Room that has to be left on the disk beside what is unpacked. */
  freeBytes: 64 * 1024 * 1024,
  /**
   * A backup reads the tables as they were in one moment; a client that takes nothing of it for so long does not hold
   * PostgreSQL up any longer.
   */
  backupIdleMs: 10 * 60_000,
  /** The wait for the database of a hub that has just started. */
  backupDatabaseMs: 30_000,
} as const;
