import type { LogEntry } from '../core/log-entry.ts';
import type { LogLevel } from '../core/logger.ts';
import type { Queryable } from '../database/database.ts';
import { foldCase } from './filter-input.ts';
import { logLimits } from './limits.ts';
import type { LogListing } from './log-filter.ts';
import { createSqlConditions } from './sql-conditions.ts';

/** An entry of a certain run of a hub: `hub` tells runs apart, whose ids may coincide. */
export interface HubEntry extends LogEntry {
  readonly hub: number;
}

/** Writes entries; ones that are there already stay as they are. */
export async function insertLogs(database: Queryable, entries: readonly HubEntry[]): Promise<void> {
  await database.query(
    `insert into toolhub.logs (id, hub, at, level, service, message, security)
     select id, hub, at, level, service, message, security
     from unnest($1::bigint[], $2::integer[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::boolean[])
       as entry (id, hub, at, level, service, message, security)
     on conflict do nothing`,
    [
      entries.map(({ id }) => String(id)),
      entries.map(({ hub }) => hub),
      entries.map(({ timestamp }) => timestamp),
      entries.map(({ level }) => level),
      entries.map(({ service }) => service.replaceAll('\0', '')),
      entries.map(({ message }) => message.replaceAll('\0', '')),
      entries.map(({ security }) => security === true),
    ],
  );
}

interface Row {
  id: string;
  at: Date;
  level: LogLevel;
  service: string;
  message: string;
}

/** Oldest first. */
export async function selectLogs(database: Queryable, listing: LogListing): Promise<LogEntry[]> {
  const { levels, service, q, readableFrom, before, after, limit = logLimits.logPage } = listing;
  const where = createSqlConditions();
  if (levels !== undefined) where.and('level = any(?::text[])', levels);
  if (service !== undefined) where.and('service = ?', service);
  if (q !== undefined) where.and('position(? in lower(message collate "C")) > 0', foldCase(q));
  if (readableFrom !== undefined) {
    const readable = (await logServices(database)).flatMap((name) => {
      const from = readableFrom(name);
      return from === undefined ? [] : [{ name, from }];
    });
    const names = where.value(readable.map(({ name }) => name));
    const ids = where.value(readable.map(({ from }) => String(from)));
    where.and(
      `(service = any(${names}::text[]) and id >= (${ids}::bigint[])[array_position(${names}::text[], service)]) = ?`,
      true,
    );
  }
  if (before !== undefined) where.and('id < ?::bigint', before);
  if (after !== undefined) where.and('id > ?::bigint', after);
  const rows = await database.query<Row>(
    `select id, at, level, service, message from toolhub.logs ${where.text()} order by id desc, hub desc limit ${where.value(limit)}::int`,
    where.values,
  );
  return rows.reverse().map(({ id, at, ...rest }) => ({ id: Number(id), timestamp: at.toISOString(), ...rest }));
}

/** The services that have entries, found by jumping through the index from one to the next. */
async function logServices(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ service: string }>(
    `with recursive found as (
       (select service from toolhub.logs order by service limit 1)
       union all
       select (select service from toolhub.logs where service > found.service order by service limit 1)
       from found where found.service is not null
     )
     select service from found where service is not null`,
  );
  return rows.map(({ service }) => service);
}
