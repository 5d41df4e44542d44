import { z } from 'zod';
import { parseInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { type Pagination, paginationOf } from '../../core/pagination.ts';
import { httpLimits } from '../limits.ts';

const number = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`)
    .optional();

const pageInput = z.object({ page: number(1, coreLimits.pageNumber), limit: number(1, httpLimits.pageItems) });

/**
 * The part of a list that `?page=` and `?limit=` ask for; all of it when they are absent. Throws HubError
 * `invalid_input`, whose message `attempt` begins.
 */
export function pageOf<T>(
  all: readonly T[],
  query: Readonly<Record<string, string>>,
  attempt: string,
): { items: readonly T[]; pagination?: Pagination } {
  const { page = 1, limit = httpLimits.pageItemsUsual } = parseInput(pageInput, query, attempt);
  if (query['page'] === undefined && query['limit'] === undefined) return { items: all };
  return { items: all.slice((page - 1) * limit, page * limit), pagination: paginationOf(page, limit, all.length) };
}
