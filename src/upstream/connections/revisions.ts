/** The session-era revisions this side speaks, newest first (the first is what `initialize` offers). */
export const upstreamRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
