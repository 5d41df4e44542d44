type End = 'refused' | 'serverFailed' | 'away' | 'late' | 'hubFailed' | 'hubAway';

/** Who could not do it, by the status of the answer: only what the hub itself would not do is refused. */
export function endOf(status: number): End {
  if (status === 0) return 'hubAway';
  if (status < 500) return 'refused';
  return status === 502 ? 'serverFailed' : status === 503 ? 'away' : status === 504 ? 'late' : 'hubFailed';
}
